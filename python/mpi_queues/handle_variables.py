"""The handles in the variables of the selected thread's frames."""

import itertools
from typing import Any, Iterator, List, Optional

import gdb

from . import protocol
from .handles import handle_value, meaning
from .lookup import object_path, remembered

# What is looked at, at most: what lies beyond is asked for when it is printed.
MAX_FRAMES = 64
MAX_HANDLES = 1000
_MAX_SYMBOLS = 20000
_MAX_FIELDS = 256
_MAX_ELEMENTS = 200

_RECORDS = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)


def in_frames() -> List[protocol.HandleValue]:
    """Returns the handles in the variables that the frames of the selected thread can see.

    Those are the variables of functions and files, arrays of handles as far as gdb prints them, and
    members of structs. Nothing is selected.
    """
    return list(itertools.islice(_in_frames(), MAX_HANDLES))


def _in_frames() -> Iterator[protocol.HandleValue]:
    """Yields the handles, those of the innermost frame first."""
    frame: Optional[gdb.Frame] = gdb.newest_frame()
    limit = _elements()
    seen = set()
    for _ in range(MAX_FRAMES):
        if not frame:
            return
        block = _block(frame)
        while block and not block.is_global and not block.is_static:
            for symbol in block:
                yield from _of_symbol(symbol, frame, limit)
            if block.function:
                break
            block = block.superblock
        if block:
            for outer in (block.static_block, block.global_block):
                if outer and (outer.start, outer.is_global) not in seen:
                    seen.add((outer.start, outer.is_global))
                    for symbol in _of_file(frame, outer):
                        yield from _of_symbol(symbol, frame, limit)
        frame = _older(frame)


def _elements() -> int:
    """Returns how many elements of an array gdb prints."""
    return min(int(gdb.parameter("print elements") or _MAX_ELEMENTS), _MAX_ELEMENTS)


def _block(frame: gdb.Frame) -> Optional[gdb.Block]:
    """Returns the innermost block of a frame; None if there is no debug information on it."""
    try:
        return frame.block()
    except RuntimeError:
        return None


def _older(frame: gdb.Frame) -> Optional[gdb.Frame]:
    """Returns the frame that has called another; None if it can't be unwound."""
    try:
        return frame.older()
    except gdb.error:
        return None


def _of_file(frame: gdb.Frame, block: gdb.Block) -> List[gdb.Symbol]:
    """Returns the variables of a file's block that can hold handles.

    They are remembered, since a file can have more symbols than all functions have variables.
    """
    table = frame.find_sal().symtab
    key = (object_path(table.objfile) if table else "", block.start, block.is_global)
    known = remembered("handle variables")
    if key not in known:
        known[key] = [symbol for symbol in itertools.islice(block, _MAX_SYMBOLS)
                      if symbol.is_variable and _may_hold(symbol.type)]
    found: List[gdb.Symbol] = known[key]
    return found


def _of_symbol(symbol: gdb.Symbol, frame: gdb.Frame,
               limit: int) -> Iterator[protocol.HandleValue]:
    """Yields the handles in a variable."""
    if not (symbol.is_variable or symbol.is_argument) or not _may_hold(symbol.type):
        return
    try:
        yield from _of_value(symbol.value(frame), limit, True)
    except (gdb.error, RuntimeError, TypeError, ValueError):
        pass  # whoever prints it will see why it can't be read


def _of_value(value: gdb.Value, limit: int, is_outer: bool) -> Iterator[protocol.HandleValue]:
    """Yields the handles in a value. A struct in a struct is not looked into."""
    what = meaning(value.type)
    if what:
        yield handle_value(value, what)
        return
    base = value.type.strip_typedefs()
    if base.code == gdb.TYPE_CODE_ARRAY:
        first, last = base.range()
        for index in range(first, min(last + 1, first + limit)):
            yield from _of_value(value[index], limit, is_outer)
    elif is_outer and base.code in _RECORDS:
        for field in base.fields():
            if field.name and hasattr(field, "bitpos") and _may_hold(field.type, False):
                yield from _of_value(value[field], limit, False)


def _may_hold(kind: Optional[gdb.Type], is_outer: bool = True) -> bool:
    """Says whether values of a type can have handles in them."""
    if kind is None:
        return False
    if meaning(kind):
        return True
    base: Any = kind.strip_typedefs()
    while base.code == gdb.TYPE_CODE_ARRAY:
        element = base.target()
        if meaning(element):
            return True
        base = element.strip_typedefs()
    if not is_outer or base.code not in _RECORDS:
        return False
    fields = base.fields()
    return len(fields) <= _MAX_FIELDS and any(_may_hold(field.type, False) for field in fields)
