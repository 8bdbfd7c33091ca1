"""Symbols: where they are; and which names of symbols and types there are none of.

Looking for a name costs gdb milliseconds, whether it is there or not, since it asks every library.
What belongs to the image of a program is therefore remembered with its program space until gdb
reads or drops the symbols of any file. Names that are not there cost the most, and the ranks of a
job lack the same ones: they are remembered with the files.
"""

import os
import re
from typing import Any, Dict, FrozenSet, List, Optional, Set, Tuple

import gdb

from . import interrupts, protocol
from .selection import c_language, touch

# What a name of C has, and what one of C++ or Fortran has besides: "ns::f(int)", "V<T*, 3>",
# "integer(kind=4)". No quote and no backslash is among it, so that a name stays one between quotes.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.$@:<>,()*&\[\] ~+=!|^%/-]*\Z")

_BY_KERNEL = re.compile(r"/proc/[0-9]+/exe\Z")

_generation = 0
_absent: Dict[Tuple[str, FrozenSet[Any]], Set[str]] = {}


def remembered(kind: str) -> Dict[Any, Any]:
    """Returns what is remembered of one kind for the selected program space."""
    space = gdb.current_progspace()
    memory = getattr(space, "mpi_queues_memory", None)
    generation = files_generation()
    if not memory or memory["generation"] != generation:
        memory = {"generation": generation}
        setattr(space, "mpi_queues_memory", memory)
    known: Dict[Any, Any] = memory.setdefault(kind, {})
    return known


def files_generation() -> Tuple[int, int]:
    """Returns what changes when files are loaded into any program space or unloaded from it."""
    # Before gdb 13 no event says that a library was unloaded, but then there is one file less.
    return _generation, len(gdb.objfiles())


def _forget(_event: Any) -> None:
    """Forgets everything. Serves gdb's events for files that were loaded or unloaded."""
    global _generation
    _generation += 1


def is_name(name: str) -> bool:
    """Says whether a symbol or type of C, C++ or Fortran can have this name.

    A DLL may ask for anything: what has other characters never reaches gdb.
    """
    return len(name) <= 1000 and _NAME.match(name) is not None


def object_path(objfile: Optional[gdb.Objfile]) -> str:
    """Returns the path of the library or program that an objfile belongs to."""
    if not objfile:
        return ""
    owner = objfile.owner
    return (owner or objfile).filename or ""


def program_path() -> str:
    """Returns the path of the selected inferior's program; empty if it has none. If gdb found the
    program through the kernel, it is the path by which the program was started."""
    path = gdb.current_progspace().filename or ""
    if _BY_KERNEL.match(path):
        try:
            named = os.readlink(path)
        except OSError:
            return path  # the process has ended
        deleted = " (deleted)"
        return named[:-len(deleted)] if named.endswith(deleted) else named
    return path


def find_symbols(names: List[str]) -> List[Optional[protocol.Symbol]]:
    """Returns where the global symbols of these names are in the selected inferior."""
    # A process of its own can have them elsewhere: it may have been run anew.
    known = remembered("symbols of %d" % gdb.selected_inferior().pid)
    missing = [name for name in names if name not in known]
    if missing:
        absent = names_absent("symbol")
        with c_language():
            for name in missing:
                known[name] = _find_symbol(name, absent) if is_name(name) else None
    return [known[name] for name in names]


def names_absent(kind: str) -> Set[str]:
    """Returns the names of one kind that no file of the selected program space is known to have.

    Other program spaces with the same files share them.
    """
    files: Set[Any] = set()
    for objfile in gdb.objfiles():
        try:
            # A file of debug information has the build id of what it is for.
            files.add((objfile.build_id or _version(objfile.filename or ""), not objfile.owner))
        except OSError:  # not a file of this machine's, or none any more
            return set()
    return _absent.setdefault((kind, frozenset(files)), set())


def _version(path: str) -> Any:
    """Returns what tells a file from others that have had the same path."""
    status = os.stat(path)
    return (path, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _find_symbol(name: str, absent: Set[str]) -> Optional[protocol.Symbol]:
    """Returns where one symbol is. Adds its name to the absent ones if no file has it.

    The leading :: looks past the locals of the selected frame, also in C, and finds symbols with
    and without debug information.
    """
    if name in absent:
        return None
    try:
        address = int(interrupts.allow(gdb.parse_and_eval, "&::'%s'" % name)) & (2 ** 64 - 1)
        # No comparison with None: cuda-gdb 11.8 has one of its own.
        static = not gdb.lookup_global_symbol(name) and gdb.lookup_static_symbol(name)
        if static and object_path(static.symtab.objfile) == gdb.current_progspace().filename:
            address = _without_debug_information(name)
    except (gdb.error, LookupError) as error:
        if str(error).startswith('No symbol "'):  # not one that can't be had at this stop
            absent.add(name)
        return None
    library = gdb.solib_name(address)
    return {"address": address,
            "object": library or program_path()}


def _without_debug_information(name: str) -> int:
    """Returns the address of a library's symbol that a static one of the program's hides.

    Only this table of gdb's has it.
    """
    touch()
    table = gdb.execute("info variables ^%s$" % re.escape(name), to_string=True)
    row = re.search(r"^(0x[0-9a-f]+)\s+%s$" % re.escape(name), table, re.MULTILINE)
    if not row:
        raise LookupError(name)
    return int(row.group(1), 16)


for _event in ("new_objfile", "clear_objfiles", "free_objfile"):
    if hasattr(gdb.events, _event):
        getattr(gdb.events, _event).connect(_forget)
