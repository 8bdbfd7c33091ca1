"""The processes of gdb's inferiors by their ranks, and lists of ranks as commands take them.

RANKS in a command is "0-3,7", "0 2 5-7" or "all"; `$name' stands for a number as in gdb's own lists
of threads.
"""

import re
from typing import List, NamedTuple, Optional, Tuple

import gdb

from . import current_threads, functions, jobs, procfs, stops, summary
from .errors import Failure, one_line
from .process import NOTHING
from .selection import c_language, inferior_selected
from .targets import kind_of

# The first and the last of consecutive ranks.
Range = Tuple[int, int]

# What a command's help says of RANKS.
HELP = """RANKS is a list as 0-3,7 or 0 2 5-7; "all" are all processes, those whose rank is
not known last."""


class Member(NamedTuple):
    """A process of an inferior."""

    inferior: gdb.Inferior
    rank: Optional[int]
    is_gone: bool  # the process has ended, and gdb has not seen it yet

    @property
    def name(self) -> str:
        """What it is called: "rank 3", or "inferior 5" if its rank is not known."""
        return "inferior %d" % self.inferior.num if self.rank is None else "rank %d" % self.rank


def members() -> List[Member]:
    """Returns the processes of all inferiors by their ranks, those of unknown ranks last."""
    current_threads.remember()
    with c_language():  # once, and not for each
        found = [member(inferior) for inferior in gdb.inferiors() if inferior.pid]
    return sorted(found, key=lambda m: (m.rank is None, m.rank or 0, m.inferior.num))


def member(inferior: gdb.Inferior) -> Member:
    """Returns an inferior's process, with the rank that the job says or, where none does, that of
    $mpi_rank(): None if it is not known, or not known yet since the process runs."""
    # With the thread of a process that is gone selected, gdb executes no command.
    kind = kind_of(inferior)
    is_gone = kind == "live" and procfs.has_ended(inferior.pid)
    rank = jobs.rank_of(inferior, kind)
    if rank is None and not is_gone:
        with inferior_selected(inferior.num):
            try:
                rank = functions.place().rank
            except (Failure, gdb.error):
                pass
    stops.know_rank(inferior, rank)
    return Member(inferior, rank, is_gone)


def take(text: str) -> Tuple[Optional[List[Range]], str]:
    """Takes a list of ranks from the start of a command's arguments. Returns the ranges, None for
    all, and the rest; an empty list if there is none. Raises gdb.GdbError for a list that is
    wrong."""
    text = text.strip()
    found = _ALL.match(text)
    if found:
        return None, text[found.end():].lstrip()
    ranges: List[Range] = []
    while text:
        item = _ITEM.match(text)
        if not item:
            if _NEGATIVE.match(text):
                raise gdb.GdbError("negative value")
            if _LIKE_ITEM.match(text):
                raise gdb.GdbError("Invalid rank: %s" % one_line(text.split()[0], 40))
            break
        first = _number(item.group(1))
        last = _number(item.group(2)) if item.group(2) else first
        if last < first:
            raise gdb.GdbError("inverted range")
        ranges.append((first, last))
        text = text[item.end():].lstrip(" \t,")
    return ranges, text


_ALL = re.compile(r"(?:all|\*)(?=\s|\Z)")
_ITEM = re.compile(r"(\$\w+|\d+)(?:-(\$\w+|\d+))?(?=[\s,]|\Z)")
_NEGATIVE = re.compile(r"-\d")
_LIKE_ITEM = re.compile(r"[\d$,]")


def _number(word: str) -> int:
    """Returns the number that a word of a list is. Raises gdb.GdbError."""
    if not word.startswith("$"):
        return int(word)
    value = gdb.convenience_variable(word[1:])
    # cuda-gdb 11.8 has a None of its own, which is not Python's.
    if not isinstance(value, gdb.Value) \
            or value.type.strip_typedefs().code != gdb.TYPE_CODE_INT:
        raise gdb.GdbError("Convenience variable %s must have an integer value." % word)
    if int(value) < 0:
        raise gdb.GdbError("negative value")
    return int(value)


def parse(text: str, command: str) -> Optional[List[Range]]:
    """Returns the ranges of a list of ranks that is all of a command's arguments, None for all.
    Raises gdb.GdbError."""
    ranges, rest = take(text)
    if rest:
        raise gdb.GdbError("Invalid rank: %s" % one_line(rest.split()[0], 40) if ranges == [] else
                           "Junk at end of arguments: \"%s\".  Try \"help %s\"."
                           % (one_line(rest, 40), command))
    return ranges


def chosen(ranges: Optional[List[Range]]) -> List[Member]:
    """Returns the processes that a list of ranks names, in the order of the ranks; None names all.
    Warns of ranks that no inferior is. Raises Failure if there is no other."""
    found = members()
    if ranges is not None:
        known = sorted({m.rank for m in found if m.rank is not None})
        found = [m for m in found if m.rank is not None
                 and any(first <= m.rank <= last for first, last in ranges)]
        said = _said_of(missing(ranges, known))
        if said and not found:
            raise Failure(summary.capital(said) + ".")
        if said:
            gdb.write("warning: %s\n" % said, gdb.STDERR)
    if not found:
        raise Failure(NOTHING)
    return found


def one(number: int) -> Member:
    """Returns the process of a rank. Raises Failure if there is none, or several."""
    found = chosen([(number, number)])
    if len(found) > 1:
        raise Failure("Several processes are rank %d, those of inferiors %s: `inferior %d' selects"
                      " one." % (number, summary.ranges(m.inferior.num for m in found),
                                 found[0].inferior.num))
    return found[0]


def missing(ranges: List[Range], known: List[int]) -> List[Range]:
    """Returns the parts of ranges in which there is no rank that is known."""
    missing: List[Range] = []
    for first, last in sorted(ranges):
        inside = [rank for rank in known if first <= rank <= last]
        edges = zip([first - 1] + inside, inside + [last + 1])
        missing += [(before + 1, after - 1) for before, after in edges if after - before > 1]
    return sorted(set(missing))


def _said_of(missing: List[Range]) -> str:
    """Returns what to say of ranks that no inferior is, empty if there are none."""
    away = {rank["rank"] for rank in jobs.absent()
            if any(first <= (rank["rank"] if rank["rank"] is not None else -1) <= last
                   for first, last in missing)}
    text = summary.spans(missing)
    if not missing:
        return ""
    if sum(last - first + 1 for first, last in missing) == len(away):
        return "%s %s not attached" % (text, "is" if len(away) == 1 else "are")
    return "unknown " + text


def complete(text: str, word: Optional[str]) -> List[str]:
    """Completes a list of ranks, as gdb completes lists of threads: there is "all"."""
    return ["all"] if text.strip() == (word or "") and "all".startswith(word or "") else []
