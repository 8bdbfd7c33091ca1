"""Breakpoints of the user's for a program that ranks execute later, as a script has them do."""

import contextlib
from typing import Dict, Iterator

import gdb

_KINDS = tuple(getattr(gdb, name) for name in ("BP_BREAKPOINT", "BP_HARDWARE_BREAKPOINT")
               if hasattr(gdb, name))

# The breakpoints that wait for a program that has their places, by their numbers.
_waiting: Dict[int, gdb.Breakpoint] = {}


@contextlib.contextmanager
def breakpoints() -> Iterator[None]:
    """Keeps breakpoints inside the block, where inferiors lose their programs for others.

    gdb disables those for good that have no place in another program. Disabled before, they just
    lose their places. They are enabled again when a program is there that has them.
    """
    kept = [breakpoint for breakpoint in gdb.breakpoints()
            if breakpoint.enabled and breakpoint.type in _KINDS and not breakpoint.pending]
    for breakpoint in kept:
        breakpoint.enabled = False
    try:
        yield
    finally:
        for breakpoint in kept:
            if breakpoint.is_valid():
                _waiting[breakpoint.number] = breakpoint
                _look(breakpoint)


def _look(breakpoint: gdb.Breakpoint) -> None:
    """Enables a breakpoint that waits if it has a place now, or if its user has."""
    if _waiting.get(breakpoint.number) is not breakpoint \
            or breakpoint.pending and not breakpoint.enabled:
        return
    del _waiting[breakpoint.number]
    breakpoint.enabled = True


def _on_modified(breakpoint: gdb.Breakpoint) -> None:
    """Serves gdb's event for a breakpoint that has got places, or that the user has changed."""
    try:
        _look(breakpoint)
    except (Exception, KeyboardInterrupt):
        pass  # gdb would show it amid what the user is doing


def _on_deleted(breakpoint: gdb.Breakpoint) -> None:
    """Serves gdb's event for a breakpoint that is being deleted."""
    _waiting.pop(breakpoint.number, None)


gdb.events.breakpoint_modified.connect(_on_modified)
gdb.events.breakpoint_deleted.connect(_on_deleted)
