"""The symbols of a process's files are read before gdb attaches to the process."""

import contextlib
import os
import subprocess
import tempfile
import unittest
from typing import Iterator, Set

import gdb
from harness import takes_several
from mpi_queues import inferiors, link_map, read_ahead


class NamesTest(unittest.TestCase):
    """By which names the loader has opened libraries."""

    def test_names(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(os.path.realpath(folder), "libown.so.1.2")
            source = "int own;"
            subprocess.run(["gcc", "-shared", "-x", "c", "-o", library, "-"], input=source,
                           text=True, check=True)
            link = os.path.join(os.path.dirname(library), "libown.so")
            other = os.path.join(os.path.dirname(library), "libother.so")
            os.symlink("libown.so.1.2", link)
            os.symlink("libown.so.1.2", other)
            with started(link) as pid:
                self.assertIn(link, link_map.names(pid))
                self.assertEqual(list(read_ahead.names(pid, [library, other, "/no/libx.so"])),
                                 [link, link, "/no/libx.so"])

    def test_nobody(self) -> None:
        self.assertEqual(link_map.names(1 << 30), [])
        self.assertEqual(list(read_ahead.names(1 << 30, ["/lib/x.so"])), ["/lib/x.so"])


class ReadTest(unittest.TestCase):
    """gdb has a process's files before it attaches to it."""

    def test_read(self) -> None:
        if not takes_several():
            self.skipTest("cuda-gdb 11.8 crashes of several programs, with or without mpi-queues")
        before = gdb.selected_inferior().num
        added = []
        with started("") as pid:
            try:
                for _ in range(2):
                    gdb.execute("add-inferior", to_string=True)
                    added.append(max(inferior.num for inferior in gdb.inferiors()))
                gdb.execute("inferior %d" % added[0], to_string=True)
                read_ahead.read(pid)
                ahead = files()
                self.assertEqual(gdb.current_progspace().filename,
                                 os.readlink("/proc/%d/exe" % pid))
                self.assertEqual(inferiors.attach(added[1], pid), "")
                libraries = {name for name in files() if os.path.basename(name).startswith("libc.")}
                self.assertEqual(len(libraries), 1)
                self.assertLessEqual(libraries, ahead)
                inferiors.detach(added[1])
            finally:
                gdb.execute("inferior %d" % before, to_string=True)
                for number in added:
                    inferiors.remove(number)

    def test_nobody(self) -> None:
        before = files()
        read_ahead.read(1 << 30)
        self.assertEqual(files(), before)

    def test_names_that_are_no_arguments(self) -> None:
        for path in ("/lib/x y.so", "/lib/'x'.so", "/lib/x\\y.so", "lib/x.so", "/lib/x.so\n",
                     "/x;y"):
            self.assertIsNone(read_ahead.NAME.match(path), path)
        self.assertTrue(read_ahead.NAME.match("/usr/lib64/libstdc++.so.6"))


@contextlib.contextmanager
def started(library: str) -> Iterator[int]:
    """Runs a program that has loaded its libraries, one more among them, and yields its PID."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=dict(os.environ, LD_PRELOAD=library)) as child:
        try:
            assert child.stdin and child.stdout
            os.write(child.stdin.fileno(), b"x")
            if os.read(child.stdout.fileno(), 1) != b"x":
                raise RuntimeError("cat has ended")
            yield child.pid
        finally:
            child.kill()


def files() -> Set[str]:
    """Returns the names of the selected inferior's files."""
    return {objfile.filename or "" for objfile in gdb.objfiles()}
