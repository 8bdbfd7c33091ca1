"""How inferiors are reached, which says whether their process ids are those of this machine."""

import re
from typing import Tuple

import gdb

from .selection import Untouchable, touch

# Where a row of `info inferiors' says the connection: "* 1  process 42  1 (native)  /program". What
# stands behind its type, as a host's name, may hold anything.
_CONNECTION = re.compile(r"\s([0-9]+) \(([\w-]+)[ )]")


def connection_of(inferior: gdb.Inferior) -> Tuple[int, str]:
    """Returns the number and the type of an inferior's connection, as gdb has them: (1, "native").
    It is (0, "") if there is none, also of a process whose connection is being closed."""
    if hasattr(inferior, "connection"):
        # Nothing is executed: gdb can't where an inferior is selected whose process has ended.
        connection = inferior.connection
        return (int(connection.num), str(connection.type)) if connection else (0, "")
    # Before gdb 12 only this table says it.
    touch()
    found = _CONNECTION.search(gdb.execute("info inferiors %d" % inferior.num, to_string=True))
    return (int(found.group(1)), found.group(2)) if found else (0, "")


def kind_of(inferior: gdb.Inferior) -> str:
    """Returns how an inferior is reached: "live", "core", "remote" or, by nothing, ""."""
    _, type_name = connection_of(inferior)
    for name, kind in (("core", "core"), ("native", "live")):
        if name in type_name:
            return kind
    return "remote" if type_name else ""


def is_native(inferior: gdb.Inferior) -> bool:
    """Says whether an inferior's process is one of this machine's. Where gdb can't say it, which is
    so before gdb 12 where it executes no command, it is taken for one."""
    try:
        return kind_of(inferior) == "live"
    except (gdb.error, Untouchable):
        return True
