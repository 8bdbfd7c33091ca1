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
    try:
        return [inferior.read_memory(start, end - start)]
    except gdb.MemoryError:
        pass
    parts: List[Any] = []
    while True:  # something in [start, end) can't be read
        first, last = start // _PAGE + 1, (end - 1) // _PAGE
        if first > last:
            return parts
        middle = (first + last) // 2 * _PAGE
        try:
            parts.append(inferior.read_memory(start, middle - start))
            start = middle
        except gdb.MemoryError:
            end = middle
