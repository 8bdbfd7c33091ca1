"""Who holds the locks of files, by the files of a real kernel."""

import fcntl
import os
import struct
import subprocess
import tempfile
import unittest
from typing import List, Optional

from mpi_queues import file_locks

FCNTL, FLOCK = 72, 73
SETLKW, OFD_SETLK, OFD_SETLKW = 7, 37, 38


def lock(kind: int, start: int = 0, length: int = 0, whence: int = os.SEEK_SET) -> bytes:
    """Returns a struct flock."""
    return struct.pack("<hh4xqqi4x", kind, whence, start, length, 0)


def has_inode() -> bool:
    """Says whether the kernel names the inode of a descriptor, as Linux does from 5.14 on."""
    with open("/proc/self/fdinfo/0", encoding="ascii") as file:
        return "\nino:" in file.read()


@unittest.skipUnless(has_inode(), "the kernel does not name inodes")
class HoldersTest(unittest.TestCase):
    """A process with a file open, which would wait for a lock that others have."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a file")
        self.descriptor = self.open(self.path)
        self.pid = self.share(self.descriptor)
        self.file = self.open(self.path)

    def open(self, path: str) -> int:
        """Opens a file for the test."""
        number = os.open(path, os.O_RDWR | os.O_CREAT)
        self.addCleanup(self.close, number)
        return number

    @staticmethod
    def close(number: int) -> None:
        """Closes a descriptor that may be closed already."""
        try:
            os.close(number)
        except OSError:
            pass

    def share(self, descriptor: int) -> int:
        """Starts a process that shares an open file, as its descriptor of the same number."""
        child = subprocess.Popen(["sleep", "600"], pass_fds=[descriptor])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child.pid

    def holders(self, arguments: List[int], wanted: Optional[bytes] = None) -> List[int]:
        """Returns who holds what the process would wait for: by flock if no lock is wanted."""
        number = FLOCK if wanted is None else FCNTL
        found = file_locks.holders(self.pid, number, [self.descriptor] + arguments,
                                   lambda address, length: (wanted or b"")[:length])
        for holder in found:
            self.assertEqual(holder["name"] == "", holder["pid"] == 0)
        return [holder["pid"] for holder in found]

    def test_posix(self) -> None:
        fcntl.lockf(self.file, fcntl.LOCK_EX, 4, 8)
        for start, length, whence, expected in (
                (0, 0, os.SEEK_SET, True), (8, 4, os.SEEK_SET, True), (11, 1, os.SEEK_SET, True),
                (12, 4, os.SEEK_SET, False), (0, 8, os.SEEK_SET, False),
                (12, -1, os.SEEK_SET, True), (12, -1, os.SEEK_CUR, True),
                (12, 0, os.SEEK_CUR, False), (0, 0, os.SEEK_END, False)):
            wanted = lock(fcntl.F_WRLCK, start, length, whence)
            self.assertEqual(self.holders([SETLKW, 0], wanted), [os.getpid()] * expected,
                             (start, length, whence))
        self.assertEqual(self.holders([SETLKW, 0], lock(fcntl.F_UNLCK)), [])
        self.assertEqual(self.holders([SETLKW - 1, 0], lock(fcntl.F_WRLCK)), [])  # does not wait
        self.assertEqual(self.holders([fcntl.LOCK_EX]), [])  # flock and fcntl do not conflict

    def test_readers(self) -> None:
        fcntl.lockf(self.file, fcntl.LOCK_SH)
        self.assertEqual(self.holders([SETLKW, 0], lock(fcntl.F_RDLCK)), [])
        self.assertEqual(self.holders([SETLKW, 0], lock(fcntl.F_WRLCK)), [os.getpid()])
        other = self.open(self.path)
        reader = self.share(other)
        fcntl.fcntl(other, OFD_SETLK, lock(fcntl.F_RDLCK))
        os.close(other)  # which drops the lock of this process (fcntl(2), POSIX), not the reader's
        self.assertEqual(self.holders([OFD_SETLKW, 0], lock(fcntl.F_WRLCK)), [reader])
        fcntl.lockf(self.file, fcntl.LOCK_SH)
        self.assertEqual(self.holders([OFD_SETLKW, 0], lock(fcntl.F_WRLCK)),
                         sorted([os.getpid(), reader]))

    def test_flock(self) -> None:
        holder = self.share(self.file)
        fcntl.flock(self.file, fcntl.LOCK_SH)
        self.assertEqual(self.holders([fcntl.LOCK_SH]), [])
        self.assertEqual(self.holders([fcntl.LOCK_UN]), [])
        self.assertEqual(self.holders([fcntl.LOCK_EX]), sorted([os.getpid(), holder]))
        # /proc/locks still names this process, which took the lock, but no longer has the file.
        os.close(self.file)
        self.assertEqual(self.holders([fcntl.LOCK_EX]), [holder])

    def test_own(self) -> None:
        """A process may convert the lock of its open file, unless others have it too."""
        self.descriptor, self.pid = self.file, self.share(self.file)
        fcntl.flock(self.file, fcntl.LOCK_SH)
        self.assertEqual(self.holders([fcntl.LOCK_EX]), [])
        fcntl.flock(self.open(self.path), fcntl.LOCK_SH)
        self.assertEqual(self.holders([fcntl.LOCK_EX]), [os.getpid()])

    def test_unknown(self) -> None:
        os.link(self.path, self.path + "2")
        fcntl.flock(self.open(self.path + "2"), fcntl.LOCK_EX)
        self.assertEqual(self.holders([fcntl.LOCK_EX]), [0])

    def test_gone(self) -> None:
        fcntl.flock(self.file, fcntl.LOCK_EX)
        self.descriptor += 100
        self.assertEqual(self.holders([fcntl.LOCK_EX]), [])
