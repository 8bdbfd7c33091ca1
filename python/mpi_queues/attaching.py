"""The ranks of a job become inferiors, on whichever machine they are."""

import time
from typing import Any, Dict, List, Optional, Set, Tuple

import gdb

from . import inferiors, interrupts, jobs, nodes, procfs, protocol, ranks, summary, sysroot
from .errors import Failure, one_line
from .progress import Progress
from .selection import inferior_selected, select_inferior
from .targets import kind_of

_MAX_RANKS = 1 << 20
_MAX_INT = (1 << 31) - 1


class Attaching:
    """One run of `mpi-attach'. Its ranks are in order."""

    # Whether gdb resumes each process of this machine as soon as it has attached to it, instead of
    # waiting for it to stop.
    in_background = False

    def __init__(self, ranks: List[protocol.Rank],
                 found: Optional[protocol.RanksResult] = None) -> None:
        self.ranks = ranks
        self.attached: List[summary.Member] = []
        self.kept: List[summary.Member] = []
        self.is_interrupted = False
        self._launcher = found["launcher"] if found else 0
        self._connections = nodes.Connections(found["nodes"] or [] if found else [],
                                              found["images"] or [] if found else [])
        self._far = jobs.far_processes()
        for rank in ranks:
            if (rank["host"], rank["pid"]) in self._far:
                rank["obstacle"] = ""  # it is this gdb that has it
        self._chosen = ranks
        self._failed: Dict[str, List[protocol.Rank]] = {}
        self._left: List[protocol.Rank] = []
        self._before = gdb.selected_inferior().num
        self._vacant: Optional[Tuple[int, bool]] = None
        self._has_taken = False
        # The inferiors that have been made ready for ranks, by host and process id.
        self._places: Dict[Tuple[str, int], Tuple[int, bool]] = {}

    def choose(self, wanted: Optional[List[ranks.Range]]) -> None:
        """Chooses ranks; None are all. Raises Failure if they are none, or too many."""
        if wanted is not None:
            self._chosen = [rank for rank in self.ranks if rank["rank"] is not None
                            and any(first <= rank["rank"] <= last for first, last in wanted)]
            known = sorted({rank["rank"] for rank in self._chosen if rank["rank"] is not None})
            missing = ranks.missing(wanted, known)
            if missing and not self._chosen:
                raise Failure("Unknown %s." % summary.spans(missing))
            if missing:
                gdb.write("warning: unknown %s\n" % summary.spans(missing), gdb.STDERR)
        able = [rank for rank in self._chosen if self._is_reached(rank)]
        if len(able) > nodes.MOST and any(rank["host"] for rank in able):
            raise Failure("%s would be attached, of which some are on other machines, and one gdb"
                          " takes %d of such a job: choose with -ranks, -partners or -culprits;"
                          " `-via none' attaches to those of this machine."
                          % (summary.count(len(able), "rank"), nodes.MOST))

    def run(self) -> None:
        """Attaches to the ranks that are not inferiors yet."""
        with interrupts.unended():
            self._run()

    def _run(self) -> None:
        for rank in self._chosen:
            if rank["obstacle"]:
                self._failed.setdefault(rank["obstacle"] + ".", []).append(rank)
        progress = Progress()
        wanted = [rank for rank in self._chosen if self._is_reached(rank)]
        known = _live_inferiors({rank["pid"] for rank in wanted if not rank["host"]})
        new = [rank for rank in wanted
               if (rank["host"], rank["pid"]) not in self._far
               and (rank["host"] or rank["pid"] not in known)]
        for rank in wanted:
            if rank not in new:
                number = self._far[rank["host"], rank["pid"]] if rank["host"] \
                    else known[rank["pid"]]
                self.kept.append((number, rank["rank"], rank["pid"]))
        try:
            if any(rank["host"] for rank in new):
                with nodes.connecting():
                    new = self._placed(new)
                    # Their stops gdb may miss beside processes of this machine.
                    self._attach_each(new, progress, True)
            with sysroot.kept():
                self._attach_each(new, progress, False)
        except KeyboardInterrupt:
            self.is_interrupted = True
        finally:
            progress.erase()
            self._connections.close()
            self._tidy_up()
            jobs.remember(jobs.Job(self.ranks, self._launcher))

    def _attach_each(self, new: List[protocol.Rank], progress: Progress, is_far: bool) -> None:
        """Attaches to those of some ranks that are on other machines, which come first, or to
        those of this one."""
        for index, rank in enumerate(new):
            if bool(rank["host"]) != is_far:
                continue
            self._left = new[index:]
            progress.show("attaching to process %d of %d" % (index + 1, len(new)))
            # Not while gdb attaches, when it may pass a Ctrl-C on to the process.
            interrupts.check()
            self._attach(rank)
        self._left = []

    def _placed(self, new: List[protocol.Rank]) -> List[protocol.Rank]:
        """Makes inferiors ready for ranks, in their order, and connects them. Returns the ranks
        that have one, those of other machines first."""
        unreached: Dict[str, str] = {}
        for rank in new:
            self._left = new
            interrupts.check()
            host = rank["host"]
            joined = self._connections.joined(host)
            if joined is not None:
                self._places[host, rank["pid"]] = joined, True
                continue
            self._vacant = self._vacant or self._taken()
            if host and host not in unreached:
                unreached[host] = self._connections.connect(self._vacant[0], host)
            if host and unreached[host]:
                self._failed.setdefault(unreached[host], []).append(rank)
                continue
            self._places[host, rank["pid"]] = self._vacant
            select_inferior(self._vacant[0])
            self._vacant = None
        return sorted((rank for rank in new if (rank["host"], rank["pid"]) in self._places),
                      key=lambda rank: not rank["host"])

    def _taken(self) -> Tuple[int, bool]:
        """Returns an inferior for the next rank that is made ready."""
        is_first, self._has_taken = not self._has_taken, True
        return inferiors.vacant() if is_first else inferiors.added()

    def _is_reached(self, rank: protocol.Rank) -> bool:
        """Says whether a rank is a process that can be attached to from here."""
        if rank["host"]:
            return bool(rank["pid"]) and not rank["exited"] and not rank["obstacle"] \
                and ((rank["host"], rank["pid"]) in self._far
                     or self._connections.reaches(rank["host"]))
        return jobs.is_here(rank)

    def _tidy_up(self) -> None:
        """Removes inferiors that were made ready for nothing, and forgets ranks that were lost with
        the connection of another one."""
        pids = {inferior.num: inferior.pid for inferior in gdb.inferiors()}
        lost = {place[0]: key for key, place in self._places.items()
                if key[0] and pids.get(place[0]) != key[1]}
        gone = [lost[member[0]] for member in self.attached if member[0] in lost]
        if gone:
            self.attached = [member for member in self.attached if member[0] not in lost]
            self._failed["The connection with its machine has ended."] = [
                rank for rank in self._chosen if (rank["host"], rank["pid"]) in gone]
        kept = {member[0] for member in self.attached}
        idle = [number for number, is_added in self._places.values()
                if is_added and number not in kept and not pids.get(number)]
        if self._vacant and self._vacant[1]:
            idle.append(self._vacant[0])
            self._vacant = None
        elif self._vacant:
            nodes.disconnect(self._vacant[0])
        if idle:
            for number in set(idle):
                nodes.disconnect(number)
            select_inferior(min(kept) if kept else self._before)
            for number in set(idle):
                inferiors.remove(number)
        for number, is_added in self._places.values():
            if not is_added and number not in kept:
                nodes.disconnect(number)
        nodes.end()

    def select(self, wanted: int) -> None:
        """Selects the rank with a process id, else the first one, else what was selected before."""
        far = jobs.far_processes().values()  # whose process ids are others
        members = sorted(self.attached + self.kept, key=lambda m: (
            m[2] != wanted or m[0] in far, _order(m[1])))
        select_inferior(members[0][0] if members else self._before)
        if self._vacant and self._vacant[1]:
            inferiors.remove(self._vacant[0])
            self._vacant = None

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
        numbers = {member[0] for member in self.attached}
        away = [rank for rank in self._chosen if rank["host"]
                and self._places.get((rank["host"], rank["pid"]), (0,))[0] in numbers]
        if away:
            lines.append("%s." % summary.capital(summary.elsewhere(away)))
        for host, (others, why) in self._connections.differing.items():
            what = summary.ranks(others, "executes", "execute")
            lines.append("The files that %s on %s are not known to be those of this machine (%s):"
                         " gdb reads them through the gdbserver there." % (what, host, why))
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
        lines += _told_of_others(self._unattached(), self.ranks, found)
        return "\n".join(lines + _told_of_end(found))

    def _unattached(self) -> List[protocol.Rank]:
        """Returns the ranks on other machines that were wanted, and that nobody has tried to
        attach to."""
        failed = [rank for ranks in self._failed.values() for rank in ranks]
        return [rank for rank in self._chosen if rank["host"] and rank not in failed
                and (rank["host"], rank["pid"]) not in self._places
                and (rank["host"], rank["pid"]) not in self._far and rank not in self._left]

    def vacant(self, pid: int) -> Tuple[int, bool]:
        """Returns an inferior for a rank's process, and whether it was added."""
        return inferiors.vacant()

    def _attach(self, rank: protocol.Rank) -> None:
        """Attaches to one rank."""
        place = self._places.get((rank["host"], rank["pid"]))
        since = time.monotonic()
        if rank["host"]:
            assert place is not None
            number, is_added = place
            reason = self._connections.attach(number, rank)
        else:
            reason = inferiors.obstacle(rank["pid"])
            if not reason:
                if place is None and self._vacant is None:
                    self._vacant = self.vacant(rank["pid"])
                number, is_added = place or self._vacant or inferiors.added()
                reason = inferiors.attach(number, rank["pid"], self.in_background)
        if reason:
            self._failed.setdefault(reason, []).append(rank)
            return
        self._vacant = None
        self.attached.append((number, rank["rank"], rank["pid"]))
        jobs.add(jobs.Attached(number, rank["pid"], inferiors.program(), is_added, since,
                               rank["host"], rank["rank"]), self._before)


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
            "image": rank["image"],
        }
        is_process = jobs.is_here(kept) and kept["pid"]
        checked.setdefault(("", "process", kept["pid"]) if is_process
                           else (kept["host"], "rank", number), kept)
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


def _told_of_others(away: List[protocol.Rank], all_ranks: List[protocol.Rank],
                    found: protocol.RanksResult) -> List[str]:
    """Returns sentences on the ranks that were not reached, and on other jobs."""
    lines = []
    exited = [rank for rank in all_ranks if rank["exited"]]
    if exited:
        lines.append("%s exited." % summary.capital(summary.ranks(exited, "has", "have")))
    is_elsewhere = any(rank["host"] for rank in all_ranks)
    gaps = "" if is_elsewhere else summary.gaps([rank["rank"] for rank in all_ranks],
                                                found["size"])
    unreached = [node for node in found["nodes"] or [] if node["failure"]
                 and not any(rank["host"] == node["host"] for rank in all_ranks)]
    for node in unreached:
        lines.append("The ranks on %s are not known: %s." % (
            one_line(node["host"], 100), one_line(node["failure"], 300).rstrip(".")))
    if found["not_asked"]:
        lines.append("Other machines were not asked: %s."
                     % one_line(found["not_asked"], 300).rstrip("."))
    if away or gaps:
        lines.append("%s: `mpi-attach -hosts HOSTS -via COMMAND' reaches them, as `mpi-queues"
                     " report' does." % summary.capital(summary.elsewhere(away) or gaps))
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
