"""From values to handles, by their types."""

import base64
from typing import Any, Optional, Tuple

import gdb
from harness import StoppedTest, end_program, evaluate, steps
from mpi_queues import handles


def tearDownModule() -> None:
    """Ends the program."""
    end_program()


class HandlesTest(StoppedTest):
    """A frame with variables of many types."""

    program = "handles"
    function = "inner"

    def setUp(self) -> None:
        super().setUp()
        self.select(self.function)

    def told(self, expression: str) -> Optional[Tuple[str, bool]]:
        """Returns what the type of an expression says."""
        what = handles.meaning(gdb.parse_and_eval(expression).type)
        return what and (what.kind, what.fortran)

    def handle(self, expression: str, kind: str = "") -> Tuple[str, bool, int]:
        """Returns the handle that an expression is."""
        value = gdb.parse_and_eval(expression)
        what = handles.meaning_as(kind, value.type) if kind else handles.meaning(value.type)
        assert what, expression
        found = handles.handle_value(value, what)
        return found["kind"], found["fortran"], found["value"]


class TypesTest(HandlesTest):
    """Those of C and C++."""

    def test_types(self) -> None:
        for expression, kind in (
                ("comm", "comm"), ("reference", "comm"), ("fixed", "comm"), ("*pointer", "comm"),
                ("bare", "comm"), ("requests[1]", "request"), ("of_file", "win"),
                ("file", "file"), ("info", "info"), ("status", "status"), ("halo.comm", "comm")):
            self.assertEqual(self.told(expression), (kind, False), expression)

    def test_others(self) -> None:
        for expression in ("pointer", "requests", "halo", "halo_pointer", "other", "untyped",
                           "number", "integer", "real", "stop", "1", "\"text\"", "$pc"):
            self.assertIsNone(self.told(expression), expression)

    def test_values(self) -> None:
        for expression, expected in (
                ("comm", ("comm", False, 10)), ("reference", ("comm", False, 10)),
                ("fixed", ("comm", False, 10)), ("of_file", ("win", False, 0xffffffff)),
                ("(MPI_Comm) -1", ("comm", False, 0xffffffffffffffff)),
                ("file", ("file", False, 21)), ("info", ("info", False, 22)),
                ("status", ("status", False, evaluate("&status")))):
            self.assertEqual(self.handle(expression), expected)

    def test_types_that_are_said(self) -> None:
        for expression, kind, expected in (
                ("untyped", "comm", ("comm", False, 10)), ("number", "comm", ("comm", False, 12)),
                ("integer", "win", ("win", True, 0xfffffffb)), ("3", "comm", ("comm", True, 3)),
                ("0x7fff12345678", "comm", ("comm", False, 0x7fff12345678)),
                ("comm", "message", ("message", False, 10))):
            self.assertEqual(self.handle(expression, kind), expected)
        for expression, kind in (("real", "comm"), ("halo", "comm"), ("integer", "status")):
            self.assertIsNone(handles.meaning_as(kind, gdb.parse_and_eval(expression).type))

    def test_status(self) -> None:
        value = gdb.parse_and_eval("status")
        found = handles.handle_value(value, handles.Meaning("status", False))
        data = base64.b64decode(found["data"] or "")
        self.assertEqual(data, b"\1\0\0\0\2\0\0\0\3\0\0\0" + bytes(12))

    def test_unreadable(self) -> None:
        value = gdb.parse_and_eval("*(MPI_Comm *) 0")
        with self.assertRaises(gdb.MemoryError):
            handles.handle_value(value, handles.Meaning("comm", False))

    def test_cost_of_others(self) -> None:
        """Every value that gdb prints is asked for."""
        for expression in ("integer", "real", "requests", "main"):
            kind: Any = gdb.parse_and_eval(expression).type
            self.assertLess(steps(lambda: handles.meaning(kind)), 8, expression)

    def test_communicators(self) -> None:
        for text in ("comm", "halo.comm", "*pointer", "comm == 0 ? comm : halo.comm"):
            found = handles.communicator(text)
            assert found, text
            self.assertIn(found["value"], (10, 31))
        for text in ("call()", "of_all = comm", "MPI_COMM_WORLD", "halo exchange", "file", "0x10",
                     "integer", "comm++", "", "a b c", "*(MPI_Comm *) 0"):
            self.assertIsNone(handles.communicator(text), text)
        self.assertEqual((evaluate("called"), evaluate("of_all"), evaluate("comm")), (0, 11, 10))
        self.assertTrue(gdb.parameter("may-call-functions"))


class FortranTest(HandlesTest):
    """Those of Fortran."""

    function = "of_fortran"

    def test_types(self) -> None:
        for expression, expected in (
                ("comm", ("comm", True, 0xfffffffd)), ("comms(2)", ("comm", True, 42)),
                ("status", ("status", True, evaluate("&status")))):
            self.assertEqual(self.handle(expression), expected)
        for expression in ("old", "long", "comms", "old_status"):
            self.assertIsNone(self.told(expression))

    def test_types_that_are_said(self) -> None:
        for expression, kind, expected in (
                ("old", "group", ("group", True, 5)), ("long", "group", ("group", True, 6)),
                ("old_status", "status", ("status", True, evaluate("&old_status")))):
            self.assertEqual(self.handle(expression, kind), expected)
