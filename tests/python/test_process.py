"""The description of the process."""

import json
import os
import subprocess
from typing import Any

import gdb
from harness import GDBINIT, HelperTest, PROGRAMS, end_program, run_program
from mpi_queues import process, targets


def setUpModule() -> None:
    """Starts the program that the commands are for."""
    run_program("plain")


def tearDownModule() -> None:
    """Ends it."""
    end_program()


class ProcessTest(HelperTest):
    """What the helper is told of the process."""

    def test_live(self) -> None:
        self.fake("good")
        self.command("mpi-queues")
        described = self.request()["processes"][0]
        inferior = gdb.selected_inferior()
        libraries = described.pop("libraries")
        signal = described.pop("signal")
        thread = gdb.selected_thread()
        assert thread is not None
        # The program traps, and nothing in it handles that.
        self.assertIn(signal.pop("code"), range(1, 9))
        self.assertEqual(signal, {"name": "SIGILL", "own": None, "handled": False,
                                  "thread": thread.num})
        self.assertEqual(os.path.realpath(described.pop("executable")),
                         os.path.realpath(os.path.join(PROGRAMS, "plain")))
        self.assertEqual(described, {
            "inferior": inferior.num, "pid": inferior.pid, "kind": "live", "rank": None,
            "state": "", "architecture": "i386:x86-64", "pointer_size": 8,
            "big_endian": False})
        names = [os.path.basename(path) for path in libraries]
        self.assertIn("libplain.so", names)
        self.assertEqual([n for n in names if n.startswith("libc.so")], ["libc.so.6"])
        for path in libraries:
            self.assertTrue(os.path.isfile(path), path)
        self.assertNotIn("plain", names)

    def test_core(self) -> None:
        core = os.path.join(self.folder, "core")
        # Not by the gdb under test: cuda-gdb 11.8 crashes in that now and then.
        subprocess.run(["gdb", "-nx", "-batch", "-ex", "run", "-ex", "generate-core-file " + core,
                        os.path.join(PROGRAMS, "plain")], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        script = os.path.join(self.folder, "script")
        with open(script, "w") as file:
            file.write("core-file %s\npython import json; from mpi_queues import process; "
                       "print('JSON' + json.dumps(process.current_process()))\n" % core)
        output = subprocess.run(
            [os.environ["TEST_GDB"], "-nx", "-batch", "-x", GDBINIT, "-x", script,
             os.path.join(PROGRAMS, "plain")], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        lines = [line for line in output.splitlines() if line.startswith("JSON")]
        self.assertTrue(lines, output)
        described = json.loads(lines[0][4:])
        self.assertEqual(described["kind"], "core")
        self.assertGreater(described["pid"], 1)
        self.assertEqual(described["signal"]["name"], "SIGILL")
        self.assertTrue(any("libplain" in path for path in described["libraries"]))

    def test_kind_before_gdb_12(self) -> None:
        """Without Inferior.connection a table says how the process is reached."""

        class Old:
            """An inferior of an older gdb."""

            num = gdb.selected_inferior().num
            progspace = gdb.current_progspace()

        inferior: Any = Old()
        self.assertEqual(targets.kind_of(inferior), "live")
        self.assertTrue(targets.is_native(inferior))
        # What stands behind the type of a connection may be any host's name.
        execute = gdb.execute
        for row, expected in (
                ("* 1    process 7   2 (extended-remote | ssh core1 (native) 4 (core))  /a",
                 (2, "extended-remote")),
                ("  3    <null>                   /a (core)", (0, "")),
                ("  3    process 7   1 (core)     /a 5 (native)", (1, "core"))):
            setattr(gdb, "execute", lambda *_, row=row, **__: "  Num  Description\n" + row)
            try:
                self.assertEqual(targets.connection_of(inferior), expected)
                self.assertEqual(targets.is_native(inferior), False)
            finally:
                setattr(gdb, "execute", execute)

    def test_languages(self) -> None:
        expected = process.current_process()
        for language in ("fortran", "ada", "pascal", "modula-2"):
            gdb.execute("set language " + language)
            try:
                self.assertEqual(process.current_process(), expected)
            finally:
                gdb.execute("set language auto")

    def test_big_endian(self) -> None:
        self.assertFalse(process.current_process()["big_endian"])
        gdb.execute("set endian big", to_string=True)
        try:
            self.assertTrue(process.current_process()["big_endian"])
        finally:
            gdb.execute("set endian auto", to_string=True)
