"""Reads the symbols of a process's files before gdb attaches to the process."""

import os
import re
from typing import Dict, Iterator, List, Optional, Tuple

import gdb

from . import inferiors, link_map, sysroot

# A name that no command of gdb's takes for anything else.
NAME = re.compile(r"/[\w/.,:=@+-]+\Z")


def read(pid: int) -> None:
    """Reads the symbols of a process's files into the selected inferior, which has none.

    The process runs meanwhile. gdb keeps what it has read of a file as long as an inferior has the
    file, with the name that it was opened by, and reads nothing again when it attaches another
    inferior to the process. What can't be read here is left to that.
    """
    if inferiors.is_hidden(pid) or sysroot.needs_root(pid):
        return
    try:
        program = os.readlink("/proc/%d/exe" % pid)
        libraries = [path for path in _mapped(pid) if path != program]
    except OSError:
        return  # gdb will say what is wrong
    # gdb reads the symbols of a program in another way than those of a library.
    _execute("file ", program)
    for path in names(pid, libraries):
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


def names(pid: int, paths: List[str]) -> Iterator[str]:
    """Yields the names by which a process's loader has opened libraries, whose real paths are
    known; the real path where the name can't be told."""
    opened: Dict[Tuple[int, int], str] = {}
    for name in link_map.names(pid):
        file = _file(name)
        if file:
            opened.setdefault(file, name)
    for path in paths:
        file = _file(path)
        yield opened.get(file, path) if file else path


def _file(path: str) -> Optional[Tuple[int, int]]:
    """Returns what tells a file from all others; None if it can't be told."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
