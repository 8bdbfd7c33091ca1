"""mpi-comms, mpi-windows, mpi-files, mpi-handle, and handles as an argument of -comm."""

import os
from typing import Any, Dict, List

from harness import PRINTS, StoppedTest, end_program, evaluate
from mpi_queues import handle_commands, options


def tearDownModule() -> None:
    """Ends the program."""
    end_program()


class CommandsTest(StoppedTest):
    """The commands' requests."""

    program = "handles"

    def setUp(self) -> None:
        super().setUp()
        self.select("inner")
        self.fake("good")

    def handle(self, arguments: str) -> Dict[str, Any]:
        """Returns the handle that mpi-handle asks for."""
        self.command("mpi-handle " + arguments)
        handle: Dict[str, Any] = self.request()["handle"]
        return handle

    def test_tables(self) -> None:
        self.command("mpi-queues")
        expected = dict(self.request(), limit=200)
        for command, view in (("mpi-comms", "communicators"), ("mpi-windows", "windows"),
                              ("mpi-files", "files")):
            self.command(command)
            self.assertEqual(self.request(), dict(expected, view=view))
            self.command(command + " -json -all")
            self.assertEqual(self.request()["format"], "json")
            path = os.path.join(self.folder, "out")
            self.command(command + " -output " + path)
            self.assertTrue(os.path.exists(path))
            self.assertIn("Try \"help %s\"." % command, self.fails(command + " x"))
            self.assertIn("Unrecognized option", self.fails(command + " -comm x"))
            self.assertEqual(self.completed(command + " -a"), [command + " -all"])

    def test_handle(self) -> None:
        self.command("mpi-handle comm")
        params = self.request()
        self.assertEqual(params.pop("process")["inferior"], self.number)
        self.assertEqual(params, {
            "handle": {"kind": "comm", "fortran": False, "value": 10, "data": ""},
            "format": "text", "styled": False, "window": False})
        self.assertEqual(self.handle("halo . comm")["value"], 31)
        self.assertEqual(self.handle("status")["value"], evaluate("&status"))
        self.assertEqual(self.handle("untyped -type message"),
                         {"kind": "message", "fortran": False, "value": 10, "data": ""})
        self.assertEqual(self.handle("-t g integer + 9"),
                         {"kind": "group", "fortran": True, "value": 4, "data": ""})
        self.assertEqual(self.handle("-type op -json -7")["value"], 0xfffffff9)
        self.assertEqual(self.request()["format"], "json")
        path = os.path.join(self.folder, "out")
        self.assertEqual(self.handle("comm -json -output " + path)["value"], 10)
        self.assertTrue(os.path.exists(path))

    def test_errors(self) -> None:
        for arguments, expected in (
                ("", "Argument required (expression of an MPI handle)."),
                ("nowhere", "No symbol \"nowhere\" in current context."),
                ("halo", "\"halo\" has the type \"user::halo\", which is no type of MPI's: say what"
                         " it is with -type and one of comm, datatype, request,"),
                ("real -type win", "\"real\" has the type \"double\", which MPI_Win can't have."),
                ("-type x comm", "Undefined item: \"x\"."),
                ("comm -type", "Requires an argument. Valid arguments are comm, datatype"),
                ("-output", "-output requires an argument"),
                ("*(MPI_Comm *) 0", "Cannot access memory at address 0x0")):
            self.assertIn(expected, self.fails("mpi-handle " + arguments))

    def test_parsing(self) -> None:
        two = (options.Option("type", "KIND", "", ("comm", "win")), options.Option("json", "", ""),
               options.Option("output", "FILE", ""))
        for text, given, expression in (
                ("a - json", {}, "a - json"), ("a -json", {"json": True}, "a"),
                ("-j  a -b", {"json": True}, "a -b"), ("-x", {}, "-x"), ("--x", {}, "--x"),
                ("-- -json -json", {}, "-json -json"), ("a[\"b c\"]", {}, "a[\"b c\"]"),
                ("-output 'x y' a", {"output": "x y"}, "a"), ("", {}, ""),
                ("-json", {"json": True}, ""),
                (" a  -type win  -json ", {"type": "win", "json": True}, "a")):
            self.assertEqual(options.parse_expression(text, two), (given, expression), text)

    def completed(self, text: str) -> List[str]:
        """Returns what gdb completes a command line to."""
        return self.command("complete " + text).splitlines()

    def test_completion(self) -> None:
        if PRINTS:
            self.assertEqual(self.completed("mpi-handle halo.req"), ["mpi-handle halo.requests"])
        self.assertEqual(self.completed("mpi-handle -t"), ["mpi-handle -type"])
        self.assertEqual(self.completed("mpi-handle -type s"),
                         ["mpi-handle -type session", "mpi-handle -type status"])
        self.assertEqual(self.completed("mpi-handle comm -j"), ["mpi-handle comm -json"])

    def test_help(self) -> None:
        for command in ("mpi-comms", "mpi-windows", "mpi-files", "mpi-handle"):
            text = self.command("help " + command)
            self.assertIn("\nUsage: %s [OPTION]..." % command, text)
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
        for option in handle_commands._HANDLE_OPTIONS:
            self.assertIn("\n  -" + option.name, text)

    def test_communicator(self) -> None:
        """-comm takes an expression of a handle."""
        for text, value in (("comm", 10), ("halo.comm", 31), ("nowhere", None), ("info", None)):
            self.command("mpi-queues -comm " + text)
            params = self.request()
            handle = params["comm_handle"]
            self.assertEqual((params["comm"], handle and handle["value"], params["comm_inferior"]),
                             (text, value, self.number))
