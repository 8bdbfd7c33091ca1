"""Words for many ranks and inferiors, which do not grow with their number."""

from typing import Dict, Iterable, List, Optional, Tuple

from . import protocol

# How many items of a list are shown.
MOST = 20

# An inferior, its rank if that is known, and its process id.
Member = Tuple[int, Optional[int], int]


def ranges(numbers: Iterable[int]) -> str:
    """Returns numbers as "0-3, 7"."""
    runs: List[List[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return listed([_span(first, last) for first, last in runs])


def noun(numbers: List[int], name: str) -> str:
    """Returns numbers with what they are of: "rank 3" or "ranks 0-3"."""
    return "%s%s %s" % (name, "" if len(set(numbers)) == 1 else "s", ranges(numbers))


def count(number: int, name: str, one: str = "", many: str = "") -> str:
    """Returns how many there are of something, with a verb if one is given: "3 ranks are"."""
    plural = name + ("es" if name.endswith("s") else "s")
    return ("%d %s %s" % ((number, name, one) if number == 1 else (number, plural, many))).rstrip()


def listed(items: List[str]) -> str:
    """Returns the first of items, and how many more there are."""
    more = len(items) - MOST
    return ", ".join(items[:MOST]) + (" and %d more" % more if more > 0 else "")


def capital(text: str) -> str:
    """Returns text as the start of a sentence."""
    return text[:1].upper() + text[1:]


def pairs(members: List[Member]) -> str:
    """Says which inferiors are which ranks; those that go up together are one item."""
    runs: List[List[Member]] = []
    for member in sorted(members):
        if runs and _follows(runs[-1][-1], member):
            runs[-1].append(member)
        else:
            runs.append([member])
    return listed([_pair(run[0], run[-1]) for run in runs])


def ranks(which: List[protocol.Rank], one: str = "", many: str = "") -> str:
    """Returns ranks, with a verb if one is given: "ranks 0-3 are"."""
    numbers = [rank["rank"] for rank in which if rank["rank"] is not None]
    if len(which) == 1:
        rank = which[0]
        pid = "process %d" % rank["pid"] if rank["pid"] else "a process"
        text = "rank %d (%s)" % (numbers[0], pid) if numbers and not rank["host"] else \
            "rank %d" % numbers[0] if numbers else pid
    else:
        text = noun(numbers, "rank") if len(numbers) == len(which) else count(len(which), "rank")
    return ("%s %s" % (text, one if len(which) == 1 else many)).rstrip()


def elsewhere(which: List[protocol.Rank]) -> str:
    """Says which ranks are on which other hosts."""
    by_host: Dict[str, List[protocol.Rank]] = {}
    for rank in which:
        by_host.setdefault(rank["host"], []).append(rank)
    return listed(["%s on %s" % (ranks(by_host[host], "is", "are"), host)
                   for host in by_host])


def spans(which: List[Tuple[int, int]]) -> str:
    """Returns ranks by the first and the last of consecutive ones: "rank 3" or "ranks 0-3, 7"."""
    is_one = len(which) == 1 and which[0][0] == which[0][1]
    return "rank%s %s" % ("" if is_one else "s",
                          listed([_span(first, last) for first, last in which]))


def gaps(numbers: List[Optional[int]], size: Optional[int]) -> str:
    """Says which ranks of a job of a size are not among those that are known."""
    known = sorted({number for number in numbers if number is not None and number < (size or 0)})
    if size is None or len(known) < len(numbers):
        return ""
    edges = zip([-1] + known, known + [size])
    missing = [(before + 1, after - 1) for before, after in edges if after - before > 1]
    if not missing:
        return ""
    is_one = len(missing) == 1 and missing[0][0] == missing[0][1]
    return "%s of %d %s not on this machine" % (spans(missing), size, "is" if is_one else "are")


def _span(first: int, last: int) -> str:
    """Returns a run of numbers."""
    return str(first) if first == last else "%d-%d" % (first, last)


def _follows(before: Member, after: Member) -> bool:
    """Says whether the next inferior is the next rank."""
    return (before[1] is not None and after[1] == before[1] + 1 and after[0] == before[0] + 1)


def _pair(first: Member, last: Member) -> str:
    """Says which ranks the inferiors of a run are."""
    if first[1] is None or last[1] is None:
        return "inferior %d is process %d" % (first[0], first[2])
    if first == last:
        return "inferior %d is rank %d" % (first[0], first[1])
    return "inferiors %d-%d are ranks %d-%d" % (first[0], last[0], first[1], last[1])
