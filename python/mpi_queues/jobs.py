"""The jobs that `mpi-attach' has found, and the inferiors that it has attached.

Another process may get the id of one that has ended, so the start time identifies a process, too.
"""

from typing import Dict, List, NamedTuple, Optional

import gdb

from . import procfs, protocol


class Attached(NamedTuple):
    """An inferior that `mpi-attach' has attached to a process."""

    number: int
    pid: int
    program: str
    is_added: bool  # made for that process; else it was there, and vacant
    since: float  # when it was stopped for that (time.monotonic)


class Job:
    """A job as the helper has found it, some of whose processes are inferiors."""

    def __init__(self, ranks: List[protocol.Rank]) -> None:
        pids = {inferior.pid for inferior in gdb.inferiors()}
        self.ranks = ranks
        self._known = {rank["pid"]: (rank["rank"], _beginning(rank["pid"]))
                       for rank in ranks if is_here(rank) and rank["pid"] in pids}

    def rank_of(self, pid: int) -> Optional[int]:
        """Returns the rank of a process on this machine, None if it is none of the job's."""
        rank, began = self._known.get(pid, (None, None))
        return rank if began == _beginning(pid) else None

    def rank_that_was(self, pid: int) -> Optional[int]:
        """Returns the rank of a process that was attached, and may have ended since."""
        return self._known.get(pid, (None, None))[0]

    def is_attached(self) -> bool:
        """Says whether any of its processes is an inferior."""
        return any(inferior.pid in self._known for inferior in gdb.inferiors())

    def shares(self, other: "Job") -> bool:
        """Says whether another one is the same, found at another time."""
        return not self._known.keys().isdisjoint(other._known)


# Those whose processes are attached, or were when `mpi-attach' came last.
_jobs: List[Job] = []
# By the number of the inferior.
_attached: Dict[int, Attached] = {}
# The inferior that was selected before the first of these was attached.
_selected_before = 0


def is_here(rank: protocol.Rank) -> bool:
    """Says whether a rank is a process that runs on this machine."""
    return not rank["host"] and not rank["exited"] and not rank["obstacle"]


def remember(job: Job) -> None:
    """Keeps what is known of a job, in place of what was, and of jobs that were let go of."""
    _jobs[:] = [known for known in _jobs if known.is_attached() and not known.shares(job)] + [job]


def rank_of(pid: int) -> Optional[int]:
    """Returns the rank of a live process, None if no launcher has said it."""
    return next((rank for rank in (job.rank_of(pid) for job in _jobs) if rank is not None), None)


def rank_that_was(pid: int) -> Optional[int]:
    """Returns the rank of a process that was attached until now, None if no launcher has said."""
    return next((rank for rank in (job.rank_that_was(pid) for job in _jobs) if rank is not None),
                None)


def absent() -> List[protocol.Rank]:
    """Returns the ranks of the attached jobs that no inferior is attached to."""
    pids = {inferior.pid for inferior in gdb.inferiors()}
    return [rank.copy() for job in _jobs if job.is_attached() for rank in job.ranks
            if not is_here(rank) or rank["pid"] not in pids]


def add(attached: Attached, selected_before: int) -> None:
    """Remembers that an inferior was attached, to detach it."""
    global _selected_before
    if not _attached:
        _selected_before = selected_before
    _attached[attached.number] = attached


def attached_inferiors() -> List[Attached]:
    """Returns what was attached, by the numbers of inferiors, whatever has become of it."""
    return [_attached[number] for number in sorted(_attached)]


def forget(number: int) -> None:
    """Forgets that an inferior was attached."""
    _attached.pop(number, None)


def selected_before() -> int:
    """Returns the inferior that was selected before the first of those was attached."""
    return _selected_before


def _beginning(pid: int) -> Optional[bytes]:
    """Returns when a process of this machine began, in words that no other one has."""
    fields = procfs.stat(pid)
    return fields[procfs.START_TIME] if len(fields) > procfs.START_TIME else None
