"""The command `mpi-attach'."""

import time
from typing import Any, Dict, List, Optional, Set, Tuple

import gdb

from . import inferiors, interrupts, jobs, options, parameters, procfs, protocol, summary
from .errors import Cancelled, Failure, one_line, reported
from .link import LINK, serve_nothing
from .process import kind_of
from .progress import Progress
from .selection import inferior_selected, select_inferior, unattended

_MAX_RANKS = 1 << 20
_MAX_INT = (1 << 31) - 1


class Attach(gdb.Command):
    """Attach to all ranks of an MPI job that run on this machine.
Usage: mpi-attach [PROCESS-ID]

The process is the job's launcher (mpirun, mpiexec, srun), or any rank of the job.
Without one it is the current inferior's.

Each rank becomes an inferior, in the order of the ranks, and is stopped. The
current inferior is taken for the first if it has neither a process nor a program;
ranks that are inferiors already stay as they are. Afterwards that rank is
selected that the process is, else the first one.

When this is interrupted, the ranks that are attached by then stay so.
`mpi-detach' lets go of all of them."""

    def __init__(self) -> None:
        super().__init__("mpi-attach", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Attaches to the ranks of a job."""
        self.dont_repeat()
        pid = _process_id(argument or "")
        if gdb.parameter("non-stop"):
            # There gdb does not wait for the stop of all threads, and a process that is detached
            # before it stays stopped.
            raise Failure("mpi-attach is for the all-stop mode: `set non-stop off' without any"
                          " process, and try again.")
        found: protocol.RanksResult = LINK.request(
            protocol.METHOD_RANKS, {"pid": pid}, protocol.RanksResult, serve_nothing,
            parameters.helper_name(), parameters.is_debugging())
        attaching = Attaching(checked(found["ranks"] or []))
        with interrupts.held(), unattended():
            attaching.run()
            attaching.select(found["self"])
        text = attaching.told(found)
        if not attaching.attached and not attaching.kept and not attaching.is_interrupted:
            raise Failure(text)
        gdb.write(text + "\n")
        if attaching.is_interrupted:
            raise Cancelled()


class Attaching:
    """One run of `mpi-attach'. Its ranks are in order."""

    def __init__(self, ranks: List[protocol.Rank]) -> None:
        self.ranks = ranks
        self.attached: List[summary.Member] = []
        self.kept: List[summary.Member] = []
        self.is_interrupted = False
        self._failed: Dict[str, List[protocol.Rank]] = {}
        for rank in ranks:
            if rank["obstacle"]:
                self._failed.setdefault(rank["obstacle"] + ".", []).append(rank)
        self._left: List[protocol.Rank] = []
        self._before = gdb.selected_inferior().num
        self._vacant: Optional[Tuple[int, bool]] = None

    def run(self) -> None:
        """Attaches to the ranks that are not inferiors yet."""
        progress = Progress()
        wanted = [rank for rank in self.ranks if jobs.is_here(rank)]
        known = _live_inferiors({rank["pid"] for rank in wanted})
        try:
            for index, rank in enumerate(wanted):
                self._left = wanted[index:]
                progress.show("attaching to process %d of %d" % (index + 1, len(wanted)))
                # Not while gdb attaches, when it may pass a Ctrl-C on to the process.
                interrupts.allow(lambda: None)
                if rank["pid"] in known:
                    self.kept.append((known[rank["pid"]], rank["rank"], rank["pid"]))
                else:
                    self._attach(rank)
            self._left = []
        except KeyboardInterrupt:
            self.is_interrupted = True
        finally:
            progress.erase()
            jobs.remember(jobs.Job(self.ranks))

    def select(self, wanted: int) -> None:
        """Selects the rank with a process id, else the first one, else what was selected before."""
        members = sorted(self.attached + self.kept, key=lambda m: (m[2] != wanted, _order(m[1])))
        select_inferior(members[0][0] if members else self._before)
        if self._vacant and self._vacant[1]:
            inferiors.remove(self._vacant[0])

    def told(self, found: protocol.RanksResult) -> str:
        """Returns the sentences on what was attached."""
        launcher = found["launcher"]
        name = one_line(found["name"], 100) or "the launcher"
        whose = " of %s (process %d)" % (name, launcher) if launcher > 0 else ""
        lines = []
        if self.attached:
            lines.append("Attached %s%s: %s." % (summary.count(len(self.attached), "rank"), whose,
                                                 summary.pairs(self.attached)))
        if self.kept:
            lines.append("%s%s %s attached before: %s." % (
                summary.count(len(self.kept), "rank"), "" if self.attached else whose,
                "was" if len(self.kept) == 1 else "were", summary.pairs(self.kept)))
        if not lines and not self._failed and not self.is_interrupted:
            lines.append("No rank%s runs on this machine." % whose)
        for reason in list(self._failed)[:summary.MOST]:
            lines.append("%s could not be attached: %s"
                         % (summary.capital(summary.ranks(self._failed[reason])), reason))
        if len(self._failed) > summary.MOST:
            lines.append("So it is with %d more." % (len(self._failed) - summary.MOST))
        if any("ptrace" in reason for reason in self._failed):  # the system call, as gdb names it
            lines.extend(_told_of_scope(procfs.trace_scope()))
        if self.is_interrupted:
            lines.append("%s not attached, since that was interrupted: the same command goes on,"
                         " `mpi-detach' lets go."
                         % summary.capital(summary.ranks(self._left, "is", "are")))
        return "\n".join(lines + _told_of_others(self.ranks, found) + _told_of_end(found))

    def vacant(self, pid: int) -> Tuple[int, bool]:
        """Returns an inferior for a rank's process, and whether it was added."""
        return inferiors.vacant()

    def _attach(self, rank: protocol.Rank) -> None:
        """Attaches to one rank."""
        reason = inferiors.obstacle(rank["pid"])
        if not reason:
            if self._vacant is None:
                self._vacant = self.vacant(rank["pid"])
            number, is_added = self._vacant
            since = time.monotonic()
            reason = inferiors.attach(number, rank["pid"])
        if reason:
            self._failed.setdefault(reason, []).append(rank)
            return
        self._vacant = None
        self.attached.append((number, rank["rank"], rank["pid"]))
        jobs.add(jobs.Attached(number, rank["pid"], inferiors.program(), is_added, since),
                 self._before)


def _process_id(argument: str) -> int:
    """Returns the process id that the argument names, or the current inferior's."""
    words = gdb.string_to_argv(argument)
    if len(words) > 1:
        raise options.junk(words[1], "mpi-attach")
    if words:
        try:
            number = int(words[0], 0)
        except ValueError:
            number = 0
        if not 0 < number <= _MAX_INT:
            raise Failure("Illegal process-id: %s." % one_line(words[0], 40))
        return number
    inferior = gdb.selected_inferior()
    if not inferior.pid:
        raise Failure("The current inferior has no process: name the process id of the job's"
                      " launcher, or of one of its ranks.")
    if kind_of(inferior) != "live":
        raise Failure("The current inferior is no live process of this machine: name the process"
                      " id of the job's launcher, or of one of its ranks.")
    return int(inferior.pid)


def checked(ranks: List[protocol.Rank]) -> List[protocol.Rank]:
    """Returns the ranks in order, each process once. Raises Failure for impossible ones."""
    if len(ranks) > _MAX_RANKS:
        raise Failure("The helper says that the job has %d ranks, which can't be." % len(ranks))
    checked: Dict[Any, protocol.Rank] = {}
    for rank in ranks:
        number = rank["rank"]
        kept: protocol.Rank = {
            "rank": number if number is not None and 0 <= number <= _MAX_INT else None,
            "pid": rank["pid"] if 0 < rank["pid"] <= _MAX_INT else 0,
            "host": one_line(rank["host"], 100),
            "executable": rank["executable"],
            "exited": rank["exited"],
            "exit_code": None,
            "signal": "",
            "obstacle": one_line(rank["obstacle"], 300),
        }
        is_process = jobs.is_here(kept) and kept["pid"]
        checked.setdefault(("process", kept["pid"]) if is_process else (kept["host"], number), kept)
    return sorted(checked.values(), key=lambda rank: (_order(rank["rank"]), rank["pid"]))


def _order(rank: Optional[int]) -> int:
    """Returns the key by which ranks are ordered: unknown ranks come last."""
    return _MAX_INT + 1 if rank is None else rank


def _live_inferiors(pids: Set[int]) -> Dict[int, int]:
    """Returns the numbers of the inferiors that are processes of this machine, by process id."""
    known: Dict[int, int] = {}
    for inferior in gdb.inferiors():
        if inferior.pid in pids:
            with inferior_selected(inferior.num):
                if kind_of(inferior) == "live":
                    known[inferior.pid] = inferior.num
    return known


def _told_of_scope(scope: str) -> List[str]:
    """Returns the ways out where the kernel lets nobody trace what he has not started."""
    if not scope:
        return []
    ways = ["use sudo",
            "allow it until the next boot with `sudo sysctl kernel.yama.ptrace_scope=0'"]
    if scope == "1":
        ways += ["start the job with `mpi-run'", "put `mpi-queues rank --' before its program"]
    if scope == "3":
        ways = ["it stays so until the next boot"]
    return ["/proc/sys/kernel/yama/ptrace_scope is %s: %s." % (scope, ", or ".join(
        [", ".join(ways[:-1]), ways[-1]] if ways[1:] else ways))]


def _told_of_others(ranks: List[protocol.Rank], found: protocol.RanksResult) -> List[str]:
    """Returns sentences on the ranks that are not on this machine, and on other jobs."""
    lines = []
    exited = [rank for rank in ranks if rank["exited"]]
    if exited:
        lines.append("%s exited." % summary.capital(summary.ranks(exited, "has", "have")))
    away = [rank for rank in ranks if rank["host"]]
    gaps = "" if away else summary.gaps([rank["rank"] for rank in ranks], found["size"])
    if away or gaps:
        lines.append("%s: attach there, or write files with `mpi-queues dump --json"
                     " --internal' there and merge them with `mpi-queues report'."
                     % summary.capital(summary.elsewhere(away) or gaps))
    others = sorted(pid for pid in found["others"] or [] if 0 < pid <= _MAX_INT)
    if others:
        lines.append("The launcher has started %s besides (%s), as MPI_Comm_spawn does:"
                     " `mpi-attach %d' attaches to that job."
                     % (summary.count(len(set(others)), "process"), summary.ranges(others),
                        others[0]))
    return lines


def _told_of_end(found: protocol.RanksResult) -> List[str]:
    """Returns what the launcher says of a job that is being aborted."""
    reason = found["aborting"]
    if reason is None:
        return []
    because = ": " + one_line(reason, 1000) if reason else ", and does not say why"
    return ["The launcher says that the job is being aborted%s." % because.rstrip(".")]


Attach()
