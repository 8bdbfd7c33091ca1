"""The symbols of a process's files are read before gdb attaches to the process."""

import os
import subprocess
import tempfile
import unittest
from typing import Set

import gdb
from mpi_queues import inferiors, read_ahead


class NamesTest(unittest.TestCase):
    """By which names the loader has opened libraries."""

    def test_names(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            folder = os.path.realpath(folder)

            def place(*parts: str) -> str:
                return os.path.join(folder, *parts)

            for name in ("std/libc.so.6", "own/libmpi.so.40.30.2", "own/libpmix.so.2.1",
                         "own/mca_pml.so", "own/libx-1.so.7.0"):
                os.makedirs(os.path.dirname(place(name)), exist_ok=True)
                with open(place(name), "w"):
                    pass
            os.symlink("libmpi.so.40.30.2", place("own/libmpi.so.40"))
            os.symlink("../own/libpmix.so.2.1", place("std/libpmix.so.2"))
            os.symlink("libmpi.so.40.30.2", place("own/libx-1.so.7"))  # another file
            for real, name in (("std/libc.so.6", "std/libc.so.6"),
                               ("own/libmpi.so.40.30.2", "own/libmpi.so.40"),
                               ("own/libpmix.so.2.1", "std/libpmix.so.2"),
                               ("own/mca_pml.so", "own/mca_pml.so"),
                               ("own/libx-1.so.7.0", "own/libx-1.so.7.0")):
                self.assertEqual(list(read_ahead.names([place("std/libc.so.6"), place(real)]))[1],
                                 place(name))


class ReadTest(unittest.TestCase):
    """gdb has a process's files before it attaches to it."""

    def test_read(self) -> None:
        before = gdb.selected_inferior().num
        added = []
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            try:
                assert child.stdin and child.stdout
                os.write(child.stdin.fileno(), b"x")
                self.assertEqual(os.read(child.stdout.fileno(), 1), b"x")  # its libraries are there
                for _ in range(2):
                    gdb.execute("add-inferior", to_string=True)
                    added.append(max(inferior.num for inferior in gdb.inferiors()))
                gdb.execute("inferior %d" % added[0], to_string=True)
                read_ahead.read(child.pid)
                ahead = files()
                self.assertEqual(gdb.current_progspace().filename,
                                 os.readlink("/proc/%d/exe" % child.pid))
                self.assertEqual(inferiors.attach(added[1], child.pid), "")
                libraries = {name for name in files() if os.path.basename(name).startswith("libc.")}
                self.assertEqual(len(libraries), 1)
                self.assertLessEqual(libraries, ahead)
                inferiors.detach(added[1])
            finally:
                child.kill()
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


def files() -> Set[str]:
    """Returns the names of the selected inferior's files."""
    return {objfile.filename or "" for objfile in gdb.objfiles()}
