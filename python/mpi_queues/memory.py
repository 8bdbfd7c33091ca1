"""The memory of the selected inferior."""

from typing import Any, List, Tuple

import gdb

from . import protocol

# The pieces in which memory can be readable or not. Larger pages consist of whole ones of these.
_PAGE = 4096
_END = 1 << 64


def read_ranges(inferior: gdb.Inferior,
                ranges: List[protocol.MemoryRange]) -> Tuple[List[int], List[Any]]:
    """Reads ranges; returns how much of each could be read, and the pieces one after another."""
    readable = []
    pieces: List[Any] = []
    for wanted in ranges:
        start = wanted["address"]
        end = min(start + wanted["length"], _END)
        parts = _read_start(inferior, start, end)
        readable.append(sum(len(part) for part in parts))
        pieces.extend(parts)
    return readable, pieces


def _read_start(inferior: gdb.Inferior, start: int, end: int) -> List[Any]:
    """Returns what can be read from start on, up to end or the last page that can be read."""
    if start == end:
        return []
    whole = _read(inferior, start, end)
    if whole is not None:
        return [whole]
    parts: List[Any] = []
    while True:  # something in [start, end) can't be read
        first, last = start // _PAGE + 1, (end - 1) // _PAGE
        if first > last:
            return parts
        middle = (first + last) // 2 * _PAGE
        part = _read(inferior, start, middle)
        if part is None:
            end = middle
        else:
            parts.append(part)
            start = middle


def _read(inferior: gdb.Inferior, start: int, end: int) -> Any:
    """Returns what is in [start, end), None if some of it can't be read. Raises gdb.error if
    nothing can be read any more."""
    try:
        return inferior.read_memory(start, end - start)
    except gdb.MemoryError:
        return None
    except gdb.error:
        # A core file lacks a file's pages, and the file is gone: gdb calls these unavailable,
        # which is no MemoryError. A connection that is lost leaves no process.
        if not inferior.pid:
            raise
        return None
