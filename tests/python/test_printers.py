"""What variables are printed as."""

import os
from typing import Any, Dict, List, Tuple

import gdb
from harness import FAKE, PRINTS, StoppedTest, end_program, running_helper, steps
from mpi_queues import handle_texts, link, printers, process, protocol, selection, targets
from mpi_queues.handle_texts import TEXTS

# A communicator's handle without a printer.
RAW = "(MPI_Comm) 0xa"


def setUpModule() -> None:
    """Has a print wait as long as a busy machine takes."""
    setattr(handle_texts, "SECONDS", 600.0)


def tearDownModule() -> None:
    """Ends the program."""
    end_program()


def settings() -> List[Any]:
    """Returns what a user has selected and set."""
    thread = gdb.selected_thread()
    return [gdb.selected_inferior().num, thread and thread.num, gdb.selected_frame(),
            [gdb.parameter(name) for name in ("language", "confirm", "pagination",
                                              "may-call-functions")]]


class PrintersTest(StoppedTest):
    """The printers at a stop at which the helper was started."""

    program = "handles"

    def setUp(self) -> None:
        super().setUp()
        if not PRINTS:
            self.skipTest("this gdb prints nothing")
        self.select("inner")
        self.prepared("handles")

    def prepared(self, scenario: str, **arguments: Any) -> None:
        """Starts the helper as a stop does, which asks for the handles in sight."""
        self.fake(scenario, **arguments)
        TEXTS.forget()
        TEXTS._prepared.clear()
        TEXTS._slow.clear()
        TEXTS.prepare()

    def asked(self) -> List[List[int]]:
        """Returns the values of the handles of each request."""
        return [[handle["value"] for handle in m["params"]["handles"]]
                for m in self.received() if m.get("method") == "handles"]

    def printed(self, expression: str) -> str:
        """Returns what gdb prints."""
        return self.command("output " + expression)

    def test_print(self) -> None:
        parts = " = {handle = %s, local rank = 2, kind = intra}"
        for expression, summary, raw in (
                ("comm", "comm 10", "0xa"), ("reference", "comm 10", "0xa"),
                ("file", "file 21", "0x15"), ("of_file", "win 4294967295", "0xffffffff"),
                ("requests[0]", "request 0", "0x0")):
            text = self.printed(expression)
            self.assertRegex(text, summary)
            self.assertTrue(text.endswith(parts % raw), text)
        self.assertRegex(self.printed("status"), "status [0-9]+.* = {local rank = 2, kind = intra}")
        self.assertIn("comm = comm 31", self.printed("halo"))
        self.assertEqual(self.printed("/r comm"), RAW)

    def test_recording(self) -> None:
        self.fake("good")
        self.command("mpi-queues -record " + os.path.join(self.folder, "recording"))
        of_process, = self.request()["handles"]
        self.assertEqual(of_process["inferior"], gdb.selected_inferior().num)
        self.assertLessEqual({10, 21}, {handle["value"] for handle in of_process["handles"]})

    def test_others(self) -> None:
        self.assertEqual(self.printed("integer"), str(int(gdb.parse_and_eval("integer"))))
        self.assertEqual(self.printed("unknown"), "(MPI_Comm) 0xdead")

    def test_fortran(self) -> None:
        self.select("of_fortran")
        self.assertRegex(self.printed("comm"), r"comm 4294967293.* = \{handle = -3, local")
        self.assertRegex(self.printed("comms"), r"^\(comm 41.*, comm 42.*\)$")

    def test_one_request(self) -> None:
        """All variables of all frames come with the first."""
        self.assertEqual(len(self.asked()), 1)
        locals_of_inner = self.command("info locals")
        self.assertEqual(locals_of_inner.count("local rank"), 13)
        self.assertIn("comm 11", self.printed("of_all"))
        self.command("bt full")
        self.assertEqual(len(self.asked()), 1)
        self.assertIn("comm 77", self.printed("(MPI_Comm) 77"))
        self.assertIn("comm 77", self.printed("(MPI_Comm) 77"))
        self.assertEqual(self.asked()[1:], [[77]])

    def test_first_miss(self) -> None:
        """After the first stop of a process it is the first variable that asks for all."""
        TEXTS.forget()
        self.assertEqual(len(self.asked()), 1)
        self.command("info locals")
        self.assertEqual(len(self.asked()), 2)
        gdb.execute("set var integer = integer")  # the program's memory may be another now
        self.command("info locals")
        self.assertEqual(len(self.asked()), 3)
        printers._on_stop(None)
        self.command("info locals")
        self.assertEqual(len(self.asked()), 3)

    def test_nothing_is_touched(self) -> None:
        """The helper's call-backs during a print select and set nothing, and execute nothing."""
        calls = [["symbols/find", {"inferior": self.number, "names": ["of_all", "new_name"]}],
                 ["types/find", {"inferior": self.number,
                                 "types": [{"name": "ompi_status_public_t",
                                            "fields": ["MPI_TAG"]}]}],
                 ["memory/read", {"inferior": self.number,
                                  "ranges": [{"address": 0, "length": 1}]}]]
        self.prepared("good", handles={"handles": []})
        self.fake("handles", calls=calls)
        link.LINK.start(FAKE, False)
        TEXTS.forget()
        before, execute = settings(), gdb.execute
        executed: List[str] = []

        def noted(command: str, *arguments: Any, **named: Any) -> Any:
            executed.append(command)
            return execute(command, *arguments, **named)

        setattr(gdb, "execute", noted)
        try:
            value = gdb.parse_and_eval("comm")
            text = value.format_string()
        finally:
            setattr(gdb, "execute", execute)
        if hasattr(gdb.Architecture, "integer_type"):  # since gdb 12
            self.assertIn("comm 10", text)
            self.assertNotIn("error", str([m for m in self.received() if "result" in m]))
        self.assertEqual((settings(), executed), (before, []))

    def test_what_would_touch(self) -> None:
        """A frame of Fortran's, where symbols can't be looked for, has its values printed raw; at
        the prompt they are asked for."""
        self.select("of_fortran")
        call = ["symbols/find", {"inferior": self.number, "names": ["called"]}]
        self.prepared("good", handles={"handles": []})
        self.fake("handles", calls=[call])
        link.LINK.start(FAKE, False)
        TEXTS.forget()
        for name in gdb.current_progspace().mpi_queues_memory:  # type: ignore[attr-defined]
            if str(name).startswith("symbols"):
                getattr(gdb.current_progspace(), "mpi_queues_memory")[name].clear()
        self.assertEqual(self.printed("comm"), "( mpi_val = -3 )")
        self.assertEqual(self.printed("comm"), "( mpi_val = -3 )")
        self.assertEqual(len(self.asked()), 1)
        printers._on_prompt()
        self.assertIn("comm 4294967293", self.printed("comm"))
        self.assertEqual(len(self.asked()), 2)

    def test_old_gdb(self) -> None:
        """A gdb whose commands alone describe a process is asked at the stop."""
        def touching(inferior: gdb.Inferior) -> str:
            selection.touch()
            return kind_of(inferior)

        kind_of = targets.kind_of
        setattr(process, "kind_of", touching)
        try:
            TEXTS.forget()
            self.assertIn("comm 10", self.printed("comm"))
            TEXTS.forget()
            TEXTS._described.clear()
            self.assertEqual(self.printed("comm"), RAW)
        finally:
            setattr(process, "kind_of", kind_of)

    def test_no_helper(self) -> None:
        """A printer starts none."""
        link.LINK.close()
        TEXTS.forget()
        self.assertEqual(self.printed("comm"), RAW)
        self.assertEqual(link.LINK.pid(), 0)

    def test_failures(self) -> None:
        cases: List[Tuple[str, Dict[str, Any]]] = [
            ("error", {"code": 1, "message": "Nothing."}), ("crash", {}),
            ("good", {"handles": {"handles": []}}), ("good", {"handles": {"handles": 5}})]
        for scenario, arguments in cases:
            self.prepared(scenario, **arguments)
            TEXTS.forget()
            text = self.command("info locals")
            self.assertNotIn("rror", text)
            self.assertEqual(self.printed("comm"), RAW, scenario)
            self.assertLessEqual(len(self.asked()), 2)

    def test_slow(self) -> None:
        """A helper that takes too long is given up, and this process's handles with it."""
        before = handle_texts.SECONDS
        setattr(handle_texts, "SECONDS", 0.2)
        try:
            self.prepared("silent")
            TEXTS.forget()
            self.assertEqual(self.printed("comm"), RAW)
            self.assertEqual(len(self.asked()), 1)
        finally:
            setattr(handle_texts, "SECONDS", before)
            TEXTS._slow.clear()

    def test_setting(self) -> None:
        gdb.execute("set mpi-queues pretty-printers off")
        try:
            self.assertEqual(self.printed("comm"), RAW)
            TEXTS._prepared.clear()
            TEXTS.prepare()
            self.assertEqual(TEXTS._prepared, {})
        finally:
            gdb.execute("set mpi-queues pretty-printers on")
        self.assertIn("comm 10", self.printed("comm"))

    def test_helper_setting(self) -> None:
        """The first print after `set mpi-queues helper' shows what that helper says, also in a
        script, where no event comes between the two."""
        self.assertIn("comm 10", self.printed("comm"))
        before = running_helper().pid
        other = os.path.join(self.folder, "other")
        os.symlink(FAKE, other)
        try:
            for name, expected in (("/nowhere", RAW), (other, "comm 10"), ("/nowhere", RAW)):
                gdb.execute("set mpi-queues helper " + name)
                self.assertIn(expected, self.printed("comm"), name)
            self.assertNotEqual(running_helper().pid, before)
            self.assertEqual(running_helper().path, other)
        finally:
            gdb.execute("set mpi-queues helper " + FAKE)
        self.assertIn("comm 10", self.printed("comm"))
        self.assertEqual(running_helper().path, FAKE)

    def test_other_settings(self) -> None:
        """A setting that needs another helper, or one at all, has it before the next print."""
        gdb.execute("set mpi-queues pretty-printers off")
        link.LINK.close()
        TEXTS.forget()
        TEXTS._prepared.clear()
        gdb.execute("set mpi-queues pretty-printers on")
        self.assertIn("comm 10", self.printed("comm"))
        for value in ("on", "off"):
            self.command("set mpi-queues debug " + value)
            TEXTS.forget()
            self.assertIn("comm 10", self.printed("comm"), value)

    def test_unreadable(self) -> None:
        self.assertIn("Cannot access memory at address 0x0", self.fails("output *(MPI_Comm *) 0"))

    def test_start(self) -> None:
        """A stop starts the helper once for a process."""
        pid = running_helper().pid
        printers._on_stop(None)
        printers._on_prompt()
        self.assertEqual((running_helper().pid, len(self.asked())), (pid, 1))

    def test_charset(self) -> None:
        """A name that gdb's character set has no letters for is no error."""
        before = gdb.parameter("host-charset")
        gdb.execute("set host-charset ASCII")
        try:
            self.assertRegex(self.printed("comm"), r"^comm 10\? = \{")
        finally:
            gdb.execute("set host-charset " + str(before).split(";")[0])

    def test_cost_of_others(self) -> None:
        """What is no handle costs a few lines."""
        lookup = printers.HandlePrinters()
        for expression in ("integer", "real", "requests", "main"):
            value = gdb.parse_and_eval(expression)
            self.assertLess(steps(lambda: lookup(value)), 12, expression)


class StartTest(StoppedTest):
    """Starting the helper where gdb reads files in the midst of a request."""

    def test_busy(self) -> None:
        self.fake("good")
        pids: List[int] = []

        def serve(method: str, params: Any) -> Any:
            link.LINK.start(FAKE, True)  # with another setting it would be another helper
            pids.append(link.LINK.pid())
            return None, None

        self.fake("calls", calls=[["memory/read", {}]])
        link.LINK.request("describe", {}, protocol.Result, serve, FAKE, False)
        self.assertEqual(pids, [link.LINK.pid()])


class WithoutMPITest(StoppedTest):
    """A program that does not use MPI."""

    program = "plain"

    def test_nothing_is_started(self) -> None:
        self.fake("good")
        TEXTS._prepared.clear()
        TEXTS.prepare()
        self.assertEqual(link.LINK.pid(), 0)
        self.assertFalse(os.path.exists(self.log_path))
