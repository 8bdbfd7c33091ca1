"""The names by which the loader of a running process has opened libraries, read from its memory."""

import os
import struct
from typing import Dict, Iterator, List, Tuple

# Numbers of <elf.h>.
AT_PHDR, AT_PHENT, AT_PHNUM = 3, 4, 5
PT_DYNAMIC, PT_PHDR = 2, 6
DT_DEBUG = 21

PAIR = struct.Struct("=QQ")  # Elf64_auxv_t: a_type, a_val; Elf64_Dyn: d_tag, d_un
HEADER = struct.Struct("=IIQQQQQQ")  # Elf64_Phdr: p_type first, p_vaddr fourth, p_memsz seventh
R_DEBUG = struct.Struct("=iiQ")  # struct r_debug of <link.h>: r_version, padding, r_map
LINK_MAP = struct.Struct("=QQQQ")  # struct link_map: l_addr, l_name, l_ld, l_next

MAX_HEADERS = 64
MAX_DYNAMIC = 512  # entries
MAX_LIBRARIES = 4096
MAX_NAME = 4096  # bytes (PATH_MAX)


def names(pid: int) -> List[str]:
    """Returns the absolute names of a 64-bit process's libraries as its loader has them, in its
    order. It returns none if they can't be read, and fewer where the list is not in order."""
    found = []
    try:
        with open("/proc/%d/exe" % pid, "rb") as program:
            if program.read(5) != b"\x7fELF\x02":
                return []
        memory = os.open("/proc/%d/mem" % pid, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        for name in _names(memory, _headers(pid)):
            found.append(os.fsdecode(name))
    except (OSError, OverflowError, struct.error):
        pass  # it has ended, or its memory is damaged
    finally:
        os.close(memory)
    return found


def _headers(pid: int) -> Tuple[int, int]:
    """Returns where the program's headers are, and how many. Raises OSError."""
    with open("/proc/%d/auxv" % pid, "rb") as file:
        values = _pairs(file.read(1 << 16))
    if values.get(AT_PHENT) != HEADER.size:
        return 0, 0
    return values.get(AT_PHDR, 0), min(values.get(AT_PHNUM, 0), MAX_HEADERS)


def _names(memory: int, headers: Tuple[int, int]) -> Iterator[bytes]:
    """Yields the libraries' names. Raises OSError, OverflowError or struct.error."""
    at, number = headers
    table = list(HEADER.iter_unpack(os.pread(memory, number * HEADER.size, at)))
    places = {header[0]: header[3] for header in table}
    if PT_PHDR not in places or PT_DYNAMIC not in places:
        return  # it is linked statically
    size = min(next(header[6] for header in table if header[0] == PT_DYNAMIC),
               MAX_DYNAMIC * PAIR.size)
    dynamic = _pairs(os.pread(memory, size, at - places[PT_PHDR] + places[PT_DYNAMIC]))
    if not dynamic.get(DT_DEBUG):
        return  # its loader has not begun
    _, _, entry = R_DEBUG.unpack(os.pread(memory, R_DEBUG.size, dynamic[DT_DEBUG]))
    for _ in range(MAX_LIBRARIES):
        if not entry:
            return
        _, name, _, entry = LINK_MAP.unpack(os.pread(memory, LINK_MAP.size, entry))
        if name:
            text, end, _ = os.pread(memory, MAX_NAME, name).partition(b"\0")
            if end and text.startswith(b"/"):
                yield text


def _pairs(text: bytes) -> Dict[int, int]:
    """Returns the whole pairs of a text: each first number with its second."""
    return {first: second for first, second
            in PAIR.iter_unpack(text[:len(text) // PAIR.size * PAIR.size])}
