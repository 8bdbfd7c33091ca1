"""The jobs that `mpi-attach' has found, and the inferiors that it has attached.

Another process may get the id of one that has ended, so the start time identifies a process, too.
"""

from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

import gdb

from . import procfs, protocol
from .targets import is_native


class Attached(NamedTuple):
    """An inferior that `mpi-attach' has attached to a process."""

    number: int
    pid: int
    program: str
    is_added: bool  # made for that process; else it was there, and vacant
    since: float  # when it was stopped for that (time.monotonic)
    host: str = ""  # where the process is; empty for this machine
    rank: Optional[int] = None


class Job:
    """A job as the helper has found it, some of whose processes are inferiors."""

    def __init__(self, ranks: List[protocol.Rank], launcher: int = 0) -> None:
        self.ranks = ranks
        self.launcher = launcher
        self._launcher_began = _beginning(launcher)
        wanted = {rank["pid"]: rank["rank"] for rank in ranks if is_here(rank)}
        self._known = {pid: (wanted[pid], _beginning(pid)) for pid in _here(wanted)}
        self._far = {(rank["host"], rank["pid"]) for rank in ranks if rank["host"]}

    def rank_of(self, pid: int) -> Optional[int]:
        """Returns the rank of a process on this machine, None if it is none of the job's."""
        rank, began = self._known.get(pid, (None, None))
        return rank if began == _beginning(pid) else None

    def rank_that_was(self, pid: int) -> Optional[int]:
        """Returns the rank of a process that was attached, and may have ended since."""
        return self._known.get(pid, (None, None))[0]

    def live_launcher(self) -> int:
        """Returns the process id of its launcher on this machine, 0 if that has ended or is not
        known."""
        began = self._launcher_began
        return self.launcher if began is not None and began == _beginning(self.launcher) else 0

    def is_attached(self) -> bool:
        """Says whether any of its processes is an inferior."""
        return bool(_here(self._known)) or not self._far.isdisjoint(far_processes())

    def has(self, attached: Attached) -> bool:
        """Says whether one of its processes was attached."""
        return (attached.host, attached.pid) in self._far if attached.host \
            else attached.pid in self._known

    def shares(self, other: "Job") -> bool:
        """Says whether another one is the same, found at another time."""
        return not self._known.keys().isdisjoint(other._known) \
            or not self._far.isdisjoint(other._far)


# Those whose processes are attached, or were when `mpi-attach' came last.
_jobs: List[Job] = []
# By the number of the inferior.
_attached: Dict[int, Attached] = {}
# The inferior that was selected before the first of these was attached.
_selected_before = 0


def is_here(rank: protocol.Rank) -> bool:
    """Says whether a rank is a process that runs on this machine."""
    return not rank["host"] and not rank["exited"] and not rank["obstacle"]


def _here(pids: Iterable[int]) -> List[int]:
    """Returns those of some process ids of this machine that are inferiors."""
    return [inferior.pid for inferior in gdb.inferiors()
            if inferior.pid in pids and is_native(inferior)]


def far_processes() -> Dict[Tuple[str, int], int]:
    """Returns the numbers of the inferiors that `mpi-attach' has attached to processes of other
    machines, by host and process id."""
    there = {inferior.num: inferior.pid for inferior in gdb.inferiors()}
    return {(attached.host, attached.pid): number for number, attached in _attached.items()
            if attached.host and there.get(number) == attached.pid}


def host_of(inferior: gdb.Inferior) -> str:
    """Returns on which other machine the process of an inferior is; empty if not known."""
    attached = _attached.get(inferior.num)
    return attached.host if attached and attached.pid == inferior.pid else ""


def remember(job: Job) -> None:
    """Keeps what is known of a job, in place of what was, and of jobs that were let go of."""
    _jobs[:] = [known for known in _jobs if known.is_attached() and not known.shares(job)] + [job]


def rank_of(inferior: gdb.Inferior, kind: str) -> Optional[int]:
    """Returns the rank of an inferior's process, which gdb reaches as kind_of says; None if no
    launcher has said it."""
    if kind == "remote" and host_of(inferior):
        return _attached[inferior.num].rank
    if kind != "live":
        return None
    return next((rank for rank in (job.rank_of(inferior.pid) for job in _jobs)
                 if rank is not None), None)


def rank_that_was(inferior: gdb.Inferior, is_elsewhere: bool) -> Optional[int]:
    """Returns the rank of a process that was attached until now, None if no launcher has said."""
    if is_elsewhere:
        return _attached[inferior.num].rank if host_of(inferior) else None
    return next((rank for rank in (job.rank_that_was(inferior.pid) for job in _jobs)
                 if rank is not None), None)


def of_inferior(inferior: gdb.Inferior) -> Optional[Job]:
    """Returns the job that an inferior was attached for, None if there is none."""
    attached = _attached.get(inferior.num)
    return next((job for job in _jobs if attached and job.has(attached)), None)


def launchers_elsewhere(numbers: List[int]) -> List[int]:
    """Returns the launchers on this machine, by process id, of those of some inferiors that
    `mpi-attach' has attached to processes of other machines."""
    found = (of_inferior(inferior) for inferior in gdb.inferiors()
             if inferior.num in numbers and host_of(inferior))
    return sorted({job.live_launcher() for job in found if job} - {0})


def absent() -> List[protocol.Rank]:
    """Returns the ranks of the attached jobs that no inferior is attached to."""
    far = far_processes()
    here = set(_here({rank["pid"] for job in _jobs for rank in job.ranks if is_here(rank)}))
    return [rank.copy() for job in _jobs if job.is_attached() for rank in job.ranks
            if ((rank["host"], rank["pid"]) not in far if rank["host"]
                else not is_here(rank) or rank["pid"] not in here)]


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
