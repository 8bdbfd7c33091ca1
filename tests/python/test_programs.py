"""Programs to which only the kernel leads: what gdb reads of them, and what it must not run."""

import os
import shutil
import subprocess
from typing import Any, List

import gdb
from harness import HelperTest, PROGRAMS, end_program
from mpi_queues import inferiors

SCRIPTS = ("python-scripts", "gdb-scripts")

# What mounts a file, its first argument, over another one and becomes that.
MOUNT = ["sh", "-c", "mount --bind \"$1\" \"$2\" && exec \"$2\"", "sh"]


def symbols() -> List[str]:
    """Returns names of the two programs' own that gdb knows."""
    return [name for name in ("of_scripted", "bulk") if gdb.lookup_global_symbol(name)]


def unshare() -> List[str]:
    """Returns the command that makes a mount namespace, by what the user may do here."""
    for options in (["-m"], ["-Urm"], ["-m", "--propagation", "unchanged"]):  # the last in a chroot
        command = ["unshare"] + options
        if not subprocess.call(command + ["true"], stderr=subprocess.DEVNULL):
            return command
    raise AssertionError("no mount namespace can be made here")


class ProgramsTest(HelperTest):
    """A gdb that trusts all scripts."""

    def setUp(self) -> None:
        super().setUp()
        end_program()
        gdb.execute("file", to_string=True)
        gdb.execute("set $script_has_run = 0")
        gdb.execute("set auto-load safe-path /")
        self.scripted = self.copy("scripted")

    def tearDown(self) -> None:
        super().tearDown()
        if gdb.selected_inferior().pid:
            gdb.execute("detach", to_string=True)
        gdb.execute("file", to_string=True)
        # What keeps a script from being run is over.
        self.assertEqual([gdb.parameter("auto-load " + name) for name in SCRIPTS], [True, True])

    def copy(self, name: str) -> str:
        """Makes a copy of a program, which can be removed."""
        return str(shutil.copy(os.path.join(PROGRAMS, name), self.folder))

    def start(self, command: List[str]) -> int:
        """Starts the program with the script; returns its process id when it is in main."""
        process: Any = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.read(1), b"\n")
        return int(process.pid)

    def assert_read(self, pid: int) -> None:
        """Checks that gdb, attached, has the process's program and has not run its script."""
        inferiors.attach_selected(pid)
        self.assertEqual(gdb.selected_inferior().pid, pid)
        self.assertEqual(symbols(), ["of_scripted"])
        self.assertEqual(int(gdb.parse_and_eval("$script_has_run")), 0)

    def test_script(self) -> None:
        """gdb would run the script of this program, whose path it trusts."""
        gdb.execute("file " + self.scripted, to_string=True)
        self.assertEqual(int(gdb.parse_and_eval("$script_has_run")), 1)

    def test_removed(self) -> None:
        pid = self.start([self.scripted])
        os.unlink(self.scripted)
        self.assert_read(pid)

    def test_link_beside_it(self) -> None:
        """Its user has made a link of the name that the kernel has for what was removed."""
        other = self.copy("debug")
        pid = self.start([self.scripted])
        os.rename(other, self.scripted)
        os.symlink(self.scripted, self.scripted + " (deleted)")
        with self.assertRaises(gdb.error) as caught:
            inferiors.attach_selected(pid)
        self.assertEqual(str(caught.exception), "The path of its program leads to another file, "
                         + os.path.realpath(self.scripted) + ".")
        self.assertEqual((gdb.selected_inferior().pid, inferiors.program(), symbols()),
                         (0, "", []))
        self.assertEqual(int(gdb.parse_and_eval("$script_has_run")), 0)

    def test_other_mount_namespace(self) -> None:
        """Its path leads to another program here."""
        other = self.copy("debug")
        self.assert_read(self.start(unshare() + MOUNT + [self.scripted, other]))
