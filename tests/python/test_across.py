"""`mpi-print' and `mpi-stacks'."""

import os
from typing import Any, Dict, List, Optional

import gdb
import test_inferiors
from harness import HelperTest, end_program
from mpi_queues import across_commands, functions


def tearDownModule() -> None:
    """Ends the program."""
    end_program()


class FormatTest(HelperTest):
    """What mpi-print takes, and what it makes of a value."""

    def test_parsed(self) -> None:
        for text, expected in (
                ("x", ({}, "x", {})), ("/x y + 1", ({}, "y + 1", {"format": "x"})),
                ("-json /x y", ({"json": True}, "y", {"format": "x"})),
                ("/x -json y", ({"json": True}, "y", {"format": "x"})),
                ("/rx y -json", ({"json": True}, "y", {"format": "x", "raw": True})),
                ("-5 + x", ({}, "-5 + x", {})), ("-j -- -json", ({"json": True}, "-json", {}))):
            self.assertEqual(across_commands._parsed(text), expected, text)

    def test_wrong(self) -> None:
        for text, expected in (
                ("", "Argument required (expression to compute)."), ("/x", "Argument required"),
                ("/2x y", "Item count other than 1 is meaningless in \"mpi-print\" command."),
                ("/xb y", "Size letters are meaningless in \"mpi-print\" command."),
                ("/i y", "Format letter \"i\" is meaningless in \"mpi-print\" command."),
                ("/q y", "Undefined output format \"q\"."),
                ("/xd y", "Undefined output format \"xd\".")):
            with self.assertRaises(gdb.GdbError) as caught:
                across_commands._parsed(text)
            self.assertIn(expected, str(caught.exception))

    def test_addresses(self) -> None:
        """Those before a string or a symbol go, and nothing that looks so in a string does."""
        for text, expected in (
                ("0x55 \"west\"", "\"west\""), ("0x55", "0x55"), ("{a = 0x5 <f>}", "{a = <f>}"),
                ("{int (void)} 0x5 <f+4>", "{int (void)} <f+4>"), ("0x5 L\"x\"", "L\"x\""),
                ("\"0x5 \", \"a 0x6 \\\"q\\\" 0x7 <f>\"", "\"0x5 \", \"a 0x6 \\\"q\\\" 0x7 <f>\""),
                ("34 '\"', 0x55 \"x\"", "34 '\"', \"x\""),
                ("0x8 <error: Cannot access memory>", "0x8 <error: Cannot access memory>")):
            self.assertEqual(across_commands._without_addresses(text), expected)


class PrintTest(test_inferiors.InferiorsTest):
    """Two inferiors, the ranks 1 and 0, that stand in stop()."""

    def setUp(self) -> None:
        super().setUp()
        if not self.gdb_unwinds:
            self.skipTest("this gdb can't unwind")
        functions._places.clear()
        for rank, number in enumerate((self.second, self.first)):
            functions._places[number] = (self.inferior(number).pid, functions._Place(rank, 2))
        self.fake("good")

    def evaluations(self, arguments: str) -> List[Any]:
        """Returns what mpi-print finds, which leaves no trace in what is selected."""
        before = test_inferiors.selected()
        self.assertEqual(self.command("mpi-print " + arguments), "")
        self.assertEqual(test_inferiors.selected(), before)
        return [(e["text"], e["number"], e["failure"]) for e in self.request()["evaluations"]]

    def values(self, arguments: str) -> List[Any]:
        """Returns the values that mpi-print finds, all of which are some."""
        found = self.evaluations(arguments)
        self.assertEqual([failure for _, _, failure in found], ["", ""])
        return [(text, number) for text, number, _ in found]

    def in_frame(self, name: str) -> None:
        """Selects the frame of a function; gdb 13.1 crashes at `frame function'."""
        frame: Optional[gdb.Frame] = gdb.newest_frame()
        while frame and frame.name() != name:
            frame = frame.older()
        assert frame
        frame.select()

    def test_function(self) -> None:
        self.assertEqual(self.values("pq_counter"), [("5", "5")] * 2)
        self.assertEqual(self.request()["function"], "stop")
        self.in_frame("main")
        self.assertEqual(self.evaluations("nothing"),
                         [("", "", "No symbol \"nothing\" in current context.")] * 2)
        self.assertEqual(self.values("sizeof(started) > 0"), [("1", "1")] * 2)
        self.assertEqual(self.request()["function"], "main")

    def test_each_has_its_own(self) -> None:
        gdb.execute("inferior %d" % self.second, to_string=True)
        gdb.execute("set var pq_counter = 9")
        gdb.execute("inferior %d" % self.first, to_string=True)
        self.assertEqual(self.values("pq_counter"), [("9", "9"), ("5", "5")])
        self.assertEqual(self.values("/x pq_counter + 1"), [("0xa", "10"), ("0x6", "6")])
        self.assertEqual([text for text, _ in self.values("$_inferior")],
                         [str(self.second), str(self.first)])
        self.assertEqual(self.values("pq_counter * 0.5"), [("4.5", "4.5"), ("2.5", "2.5")])
        self.assertEqual([number for _, number in self.values("pq_counter / 0.0 * 0")],
                         ["nan", "nan"])

    def test_another_thread(self) -> None:
        """The frame can be another thread's than the one that was selected last."""
        gdb.execute("thread 2", to_string=True)
        self.in_frame("hold")
        self.assertEqual(self.values("small"), [("-2 '\\376'", "-2")] * 2)

    def test_not_in_function(self) -> None:
        gdb.execute("inferior %d" % self.second, to_string=True)
        gdb.execute("kill", to_string=True)
        gdb.execute("inferior %d" % self.first, to_string=True)
        third = self.add_third()
        functions._places[third] = self.inferior(third).pid, functions._Place(7, 8)
        self.assertEqual([f for _, _, f in self.evaluations("pq_counter")],
                         ["", "not in stop()"])
        # What is the same everywhere has a value everywhere.
        self.assertEqual(self.values("1 + 1"), [("2", "2")] * 2)
        self.assertEqual(self.request()["function"], "")

    def test_locals(self) -> None:
        """Which expressions mean something else in each frame."""
        frame = gdb.selected_frame()
        for expression, expected in (
                ("own.x", False), ("own . pq_counter", False), ("comm->pq_counter", False),
                ("::pq_counter", False), ("$_inferior + $nothing", False),
                ("own.x + pq_counter", True), ("-pq_communicators", True), ("$sp", True),
                ("$rip", True)):
            self.assertEqual(across_commands._has_locals(expression, frame), expected, expression)

    def test_structs_and_strings(self) -> None:
        self.assertEqual(self.values("own"), [("{x = 0}", "")] * 2)
        self.assertEqual(self.command("with print pretty on -- mpi-print own"), "")
        self.assertEqual(self.request()["evaluations"][0]["text"], "{\n  x = 0\n}")
        self.assertEqual([text for text, _ in self.values("$_gdb_setting_str(\"width\")")][0],
                         [text for text, _ in self.values("$_gdb_setting_str(\"width\")")][1])
        self.assertEqual([text for text, _ in self.values("main")],
                         ["{int (void)} <main>"] * 2)

    def test_functions_of_the_process(self) -> None:
        self.assertEqual(self.values("((void *(*) (void)) pq_get)() != 0"), [("1", "1")] * 2)
        gdb.execute("set may-call-functions off")
        try:
            self.assertEqual(
                [failure for _, _, failure in self.evaluations("((int (*) (int)) pq_function)(1)")],
                ["Cannot call functions in the program: may-call-functions is off."] * 2)
        finally:
            gdb.execute("set may-call-functions on")

    def test_history(self) -> None:
        """gdb's value history stays as it is."""
        gdb.execute("print 4711", to_string=True)
        self.values("pq_counter")
        self.assertEqual(self.command("output $"), "4711")

    def test_stacks(self) -> None:
        before = self.look()
        self.assertEqual(self.command("mpi-stacks -threads -internal 1,0 -json"), "")
        self.assertEqual(test_inferiors.selected(), before)
        params: Dict[str, Any] = self.request()
        self.assertEqual([(p["inferior"], p["rank"]) for p in params["processes"]],
                         [(self.second, 0), (self.first, 1)])
        self.assertEqual((params["threads"], params["internal"], params["format"],
                          params["unread"]), (True, True, "json", []))
        path = os.path.join(self.folder, "out")
        self.command("mpi-stacks 1 -output " + path)
        params = self.request()
        self.assertEqual([p["rank"] for p in params["processes"]], [1])
        self.assertEqual((params["threads"], params["internal"], params["format"]),
                         (False, False, "text"))
        self.assertTrue(os.path.exists(path))
