"""How inferiors are reached, which says whether their process ids are those of this machine."""

import gdb

from .selection import touch


def kind_of(inferior: gdb.Inferior) -> str:
    """Returns how an inferior is reached: "live", "core", "remote" or, by nothing, ""."""
    connection = getattr(inferior, "connection", None)
    if connection:
        # Nothing is executed: gdb can't where an inferior is selected whose process has ended.
        names = str(connection.type)
    else:
        # Before gdb 12 only this table says it: "* 1  process 42  1 (native)  /path/program".
        touch()
        row = gdb.execute("info inferiors %d" % inferior.num, to_string=True)
        names = row.replace(inferior.progspace.filename or "\0", "")
        names = names[names.rfind("("):names.rfind(")")]
    for name, kind in (("core", "core"), ("native", "live")):
        if name in names:
            return kind
    return "remote" if names else ""


def is_far(inferior: gdb.Inferior) -> bool:
    """Says whether an inferior's process is known to be another machine's, with nothing executed
    in gdb: before gdb 12 of none."""
    return "remote" in str(getattr(getattr(inferior, "connection", None), "type", ""))
