"""The call-back that asks where the threads are."""

import os
import re
import signal
import struct
from typing import Any, List, Optional, cast

import gdb
from harness import StoppedTest, end_program, evaluate
from mpi_queues import threads


def tearDownModule() -> None:
    """Ends the program."""
    end_program()


class ThreadTest(StoppedTest):
    """threads/list."""

    def list(self, depth: int, *variables: str) -> Any:
        """Returns the answer."""
        return self.results(["threads/list", {"inferior": self.number, "depth": depth,
                                              "variables": variables}])[0]

    def test_frames(self) -> None:
        if not self.gdb_unwinds:
            self.skipTest("this gdb has no frames")
        gdb.execute("frame 1", to_string=True)
        before = gdb.selected_frame()
        thread, other = self.list(10)["threads"]
        self.assertEqual((thread["number"], other["number"]), (1, 2))
        self.assertIn("wait_forever", [f["function"] for f in other["frames"]])
        self.assertIn(other["frames"][0]["stack_pointer"], other["registers"])
        self.assertEqual([f["function"] for f in thread["frames"]][:2], ["stop", "main"])
        pointers = [f["stack_pointer"] for f in thread["frames"]]
        self.assertEqual(pointers, sorted(pointers))
        self.assertEqual(gdb.selected_frame(), before)
        gdb.execute("frame 0", to_string=True)
        self.assertEqual(pointers[0], evaluate("$sp"))
        self.assertIn(evaluate("$sp"), thread["registers"])

    def test_stop_reason(self) -> None:
        """Ctrl-C waits while gdb is asked why a stack ends, and gdb is asked of outermost frames
        alone: gdb 18.1 loses the request where Ctrl-C meets that."""
        if not self.gdb_unwinds:
            self.skipTest("this gdb has no frames")
        stop_reason = threads._stop_reason
        older: List[Optional[gdb.Frame]] = []
        blocked = []

        class Frame:
            def unwind_stop_reason(self) -> int:
                blocked.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
                return 0

        def ask(frame: gdb.Frame) -> int:
            older.append(frame.older())
            stop_reason(cast(gdb.Frame, Frame()))
            return stop_reason(frame)

        setattr(threads, "_stop_reason", ask)
        try:
            found = self.list(10)["threads"]
        finally:
            setattr(threads, "_stop_reason", stop_reason)
        self.assertEqual(older, [None] * len(found))
        for signals in blocked:
            self.assertLessEqual({signal.SIGINT, signal.SIGTERM}, signals)

    def test_depth(self) -> None:
        self.assertLessEqual(len(self.list(1)["threads"][0]["frames"]), 1)
        calls = [["threads/list", {"inferior": self.number, "depth": depth, "variables": []}]
                 for depth in (0, -1, 1001, "1")]
        for answer in self.answers(*calls):
            self.assertEqual(answer["error"]["code"], -32602)

    def test_places(self) -> None:
        if not self.gdb_unwinds:
            self.skipTest("this gdb has no frames")
        thread, other = self.list(10)["threads"]
        shown = self.command("backtrace")
        for frame in thread["frames"][:2]:
            self.assertRegex(shown, r"%s \(.*\) at %s:%d\n" % (
                frame["function"], frame["file"], frame["line"]))
            self.assertEqual(frame["object"], "")
        self.assertEqual(os.path.basename(thread["frames"][0]["file"]), "program.c")
        outer = next(f for f in other["frames"] if f["function"] == "wait_forever")
        self.assertEqual(os.path.basename(outer["file"]), "program.c")
        self.assertIn("libc.so", other["frames"][0]["object"])

    def test_variables(self) -> None:
        if not self.gdb_unwinds:
            self.skipTest("this gdb has no frames")
        names = ("colour", "pointer", "flag", "number", "small", "big", "structure", "real",
                 "pq_communicators", "pq_counter", "absent", "")
        thread, other = self.list(10, *names)["threads"]
        frame = next(f for f in other["frames"] if f["function"] == "hold")
        self.assertEqual(frame["variables"], {
            "colour": 7, "pointer": -16, "flag": 1, "number": (1 << 32) - 1, "small": -2,
            "big": -3})
        # Arguments only: no locals, and none of the caller's.
        self.assertEqual([list(f["variables"]) for f in thread["frames"][:2]],
                         [["pq_communicators"], []])
        for answered in self.list(10)["threads"]:
            self.assertFalse(any(f["variables"] for f in answered["frames"]))

    def test_variables_that_can_not_be_read(self) -> None:
        if not self.gdb_unwinds:
            self.skipTest("this gdb has no frames")
        scalar = threads._scalar

        def failing(_: gdb.Value) -> int:
            raise gdb.MemoryError("Cannot access memory at address 0x0")

        setattr(threads, "_scalar", failing)
        try:
            frame = self.list(10, "pq_communicators")["threads"][0]["frames"][0]
        finally:
            setattr(threads, "_scalar", scalar)
        self.assertEqual((frame["function"], frame["variables"]), ("stop", {}))

    def test_caller_that_is_no_address(self) -> None:
        if not self.gdb_unwinds or "x86-64" not in self.command("show architecture"):
            self.skipTest("this gdb has no frames, or another machine's")
        # In a note of a library there is neither a function nor what an unwinder needs, so that
        # gdb follows the frame pointer.
        note = re.search(r"(0x\w+) - 0x\w+ is \.note\S* in \S*libc\.so", self.command("info files"))
        assert note
        kept = [(name, evaluate(name)) for name in ("$sp", "$rbp", "$pc")]
        where = kept[0][1] - 256
        words = gdb.selected_inferior().read_memory(where, 16)
        for caller in (0, 1, 5, (1 << 64) - 1):
            gdb.selected_inferior().write_memory(where, struct.pack("<QQ", 0, caller))
            try:
                for name, value in (("$sp", where - 64), ("$rbp", where),
                                    ("$pc", int(note.group(1), 16))):
                    gdb.execute("set var %s = %d" % (name, value))
                thread = self.list(10)["threads"][0]
            finally:
                for name, value in kept:
                    gdb.execute("set var %s = %d" % (name, value))
            self.assertEqual(thread["frames"][0]["function"], "")
            self.assertIn("libc.so", thread["frames"][0]["object"])
        gdb.selected_inferior().write_memory(where, words)
