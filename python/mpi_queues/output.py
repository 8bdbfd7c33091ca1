"""Where the answer goes: gdb's own output, files, or to the extension itself."""

import codecs
import errno
import os
import stat
import tempfile
from typing import IO, List, Optional

import gdb

from . import interrupts
from .errors import Failure


# True while gdb shows a piece of text, and may wait in its pager.
_is_showing = False


def is_showing() -> bool:
    """Reports whether gdb is in the middle of showing a piece of the answer."""
    return _is_showing


class Display:
    """gdb's output, with its paging, styling and logging."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, data: bytes) -> None:
        """Shows a piece of text. Raises KeyboardInterrupt when its reader quits the pager."""
        self._show(self._decoder.decode(data))

    def commit(self) -> None:
        """Ends the text."""
        self._show(self._decoder.decode(b"", True))

    def abandon(self) -> None:
        """Ends the text of a request that failed."""

    def _show(self, text: str) -> None:
        """Writes to gdb, which does not take the character NUL."""
        global _is_showing
        if text:
            _is_showing = True
            try:
                interrupts.allow(gdb.write, text.replace("\0", "\ufffd"))
            finally:
                _is_showing = False


class Buffer:
    """Keeps the answer for the extension itself."""

    def __init__(self) -> None:
        self._pieces: List[bytes] = []

    def write(self, data: bytes) -> None:
        """Adds a piece."""
        self._pieces.append(data)

    def commit(self) -> None:
        """Ends it."""

    def abandon(self) -> None:
        """Ends it for a request that failed."""

    def content(self) -> bytes:
        """Returns what there is."""
        return b"".join(self._pieces)


class File:
    """A file that is there as a whole or not at all, unless it is a device or a pipe."""

    def __init__(self, name: str) -> None:
        """Opens the file, to see early whether it can be written."""
        self.path = os.path.expanduser(name)
        self._temporary = ""
        try:
            self.path = _follow(self.path)
            self._file = self._open()
        except OSError as error:
            raise self._failure(error)

    def write(self, data: bytes) -> None:
        """Adds to the file."""
        try:
            interrupts.allow(self._file.write, data)
        except OSError as error:
            raise self._failure(error)

    def commit(self) -> None:
        """Ends the file; only now it takes its name."""
        try:
            self._file.close()
            if self._temporary:
                os.replace(self._temporary, self.path)
                self._temporary = ""
        except OSError as error:
            raise self._failure(error)

    def abandon(self) -> None:
        """Leaves what was there before."""
        try:
            self._file.close()
        except OSError:
            pass
        if self._temporary:
            try:
                os.unlink(self._temporary)
            except OSError:
                pass

    def _open(self) -> IO[bytes]:
        """Opens a temporary file beside a regular file, and anything else itself."""
        mode = _mode(self.path)
        if mode is not None and not stat.S_ISREG(mode):
            gdb.flush()
            return open(self.path, "wb", buffering=0)
        if mode is not None and not os.access(self.path, os.W_OK):
            raise PermissionError(13, os.strerror(13))
        folder, base = os.path.split(self.path)
        try:
            fd, self._temporary = tempfile.mkstemp(prefix="." + base[:100] + ".", dir=folder)
        except PermissionError:
            if mode is None:
                raise
            return open(self.path, "wb")
        os.fchmod(fd, 0o666 & ~_umask() if mode is None else stat.S_IMODE(mode))
        return os.fdopen(fd, "wb")

    def _failure(self, error: OSError) -> Failure:
        """Returns the sentence for an error."""
        return Failure("%s can't be written (%s): name another file, or see to its folder."
                       % (self.path, error.strerror))


# How many links a path may lead through, as in the kernel.
_MAX_LINKS = 40


def _follow(path: str) -> str:
    """Resolves a path if its last element is a symbolic link. Raises OSError.

    In a world-writable folder with the sticky bit, such as /tmp, the link must belong to the user
    or to the folder's owner. This is the kernel's rule (fs.protected_symlinks), which has to be
    applied here because the kernel never sees links that were already resolved. The command line's
    package atomicfile has the same rule.
    """
    for _ in range(_MAX_LINKS):
        folder, name = os.path.split(path)
        folder = os.path.realpath(folder)
        path = os.path.join(folder, name)
        if not os.path.islink(path):
            return path
        owner, above = os.lstat(path).st_uid, os.lstat(folder)
        if (above.st_mode & stat.S_ISVTX and above.st_mode & stat.S_IWOTH
                and owner not in (os.geteuid(), above.st_uid)):
            raise OSError(errno.EACCES, "%s is a symbolic link owned by user %d in a "
                          "world-writable folder" % (path, owner))
        path = os.path.join(folder, os.readlink(path))
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _mode(path: str) -> Optional[int]:
    """Returns the mode of a file, or None if there is none."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _umask() -> int:
    """Returns which permissions new files are not to have."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
