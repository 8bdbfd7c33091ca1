"""Reads the symbols of a process's files before gdb attaches to the process."""

import os
import re
from typing import Iterator, List

import gdb

from . import inferiors

# A name that no command of gdb's takes for anything else.
NAME = re.compile(r"/[\w/.,:=@+-]+\Z")


def read(pid: int) -> None:
    """Reads the symbols of a process's files into the selected inferior, which has none.

    The process runs meanwhile. gdb keeps what it has read of a file as long as an inferior has the
    file, with the name that it was opened by, and reads nothing again when it attaches another
    inferior to the process. What can't be read here is left to that.
    """
    if inferiors.is_hidden(pid):
        return
    try:
        program = os.readlink("/proc/%d/exe" % pid)
        libraries = [path for path in _mapped(pid) if path != program]
    except OSError:
        return  # gdb will say what is wrong
    # gdb reads the symbols of a program in another way than those of a library.
    _execute("file ", program)
    for path in names(libraries):
        _execute("add-symbol-file target:", path)  # without the prefix it opens the real path


def _execute(command: str, path: str) -> None:
    """Executes a command that reads a file, if it can."""
    if NAME.match(path):
        try:
            gdb.execute(command + path, to_string=True)
        except gdb.error:
            pass


def _mapped(pid: int) -> List[str]:
    """Returns the real paths of the files that a process executes code of. Raises OSError."""
    paths = {}
    with open("/proc/%d/maps" % pid, encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and "x" in fields[1] and fields[5].startswith("/"):
                paths[fields[5]] = True
    return list(paths)


def names(paths: List[str]) -> Iterator[str]:
    """Yields the names by which the loader has most likely opened libraries, whose real paths are
    known: that of its version, in the folder of the C library or in its own."""
    standard = next((os.path.dirname(path) for path in paths
                     if os.path.basename(path).startswith("libc.")), "")
    for path in paths:
        folder, name = os.path.split(path)
        stem, dot, version = name.partition(".so.")
        # One without a version is a plugin, which is loaded by its path.
        tried = [os.path.join(place, "%s.so.%s" % (stem, version.partition(".")[0]))
                 for place in _places(standard, folder)] if dot else []
        yield next((other for other in tried if _is_same(other, path)), path)


def _places(*folders: str) -> Iterator[str]:
    """Yields the names of folders. Those below /usr have two since / and /usr have become one, and
    the loader looks at the shorter ones first."""
    for folder in folders:
        if folder.startswith("/usr/"):
            yield folder[len("/usr"):]
        if folder:
            yield folder


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False
