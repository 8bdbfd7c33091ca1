"""The command `mpi-attach'."""

import contextlib
import json
import time
from typing import Any, Dict, List, Optional, Set, Tuple

import gdb

from . import commands, inferiors, interrupts, jobs, nodes, options, parameters, procfs, \
    protocol, ranks, summary
from .errors import Cancelled, Failure, one_line, reported
from .exchange import UnknownMethod
from .link import LINK
from .options import Option
from .output import Buffer
from .progress import Progress
from .selection import inferior_selected, select_inferior, unattended
from .targets import kind_of

_MAX_RANKS = 1 << 20
_MAX_INT = (1 << 31) - 1


_OPTIONS: Tuple[Option, ...] = (
    Option("ranks", "RANKS", "Attach to these ranks only: 0-3,17. Ranks on other machines are\n"
           "at most 64, and so are all with them."),
    Option("partners", "", "Attach to those ranks that the current inferior's has pending\n"
           "operations with."),
    Option("culprits", "", "Look at all ranks as `mpi-queues report' in a shell does, and attach\n"
           "to one of each place where ranks are."),
    Option("hosts", "HOSTS",
           "Attach to the ranks on these other machines too, with commas between\n"
           "their names. Else they are those that the job's launcher has reached."),
    Option("via", "COMMAND",
           "Reach other machines by ssh, mpirun, mpiexec, or a command in quotes\n"
           "with {host} and {command} in it; none: only this machine's ranks are\n"
           "attached to."),
)


class Attach(gdb.Command):
    __doc__ = """Attach to all ranks of an MPI job.
Usage: mpi-attach [OPTION]... [PROCESS-ID]

%s

The process is the job's launcher (mpirun, mpiexec, srun), or any rank of the job
on this machine. Without one it is the current inferior's.

Each rank becomes an inferior, in the order of the ranks, and is stopped. The
current inferior is taken for the first if it has neither a process nor a program;
ranks that are inferiors already stay as they are. Afterwards that rank is
selected that the process is, else the first one.

Ranks on other machines are reached through a gdbserver there, which is started as
`mpi-queues report' in a shell starts its collectors.

When this is interrupted, the ranks that are attached by then stay so.
`mpi-detach' lets go of all of them.""" % options.usage(_OPTIONS)

    def __init__(self) -> None:
        super().__init__("mpi-attach", gdb.COMMAND_RUNNING)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Attaches to the ranks of a job."""
        self.dont_repeat()
        given, words = options.parse_words(argument or "", _OPTIONS)
        if sum(name in given for name in ("ranks", "partners", "culprits")) > 1:
            raise Failure("-ranks, -partners and -culprits each say which ranks: name one.")
        pid = _process_id(words)
        if gdb.parameter("non-stop"):
            # There gdb does not wait for the stop of all threads, and a process that is detached
            # before it stays stopped.
            raise Failure("mpi-attach is for the all-stop mode: `set non-stop off' without any"
                          " process, and try again.")
        partners = _partners() if "partners" in given else None
        found = _ask(pid, given)
        attaching = Attaching(checked(found["ranks"] or []), found)
        wanted = partners
        if "ranks" in given:
            wanted, rest = ranks.take(given["ranks"])
            if rest or wanted == []:
                raise gdb.GdbError("Invalid rank: %s" % one_line(given["ranks"], 40))
        elif "culprits" in given:
            wanted = [(rank, rank) for rank in found["culprits"] or []]
        attaching.choose(wanted)
        with interrupts.held(), unattended():
            attaching.run()
            attaching.select(found["self"])
        text = attaching.told(found)
        if not attaching.attached and not attaching.kept and not attaching.is_interrupted:
            raise Failure(text)
        gdb.write(text + "\n")
        if attaching.is_interrupted:
            raise Cancelled()

    def complete(self, text: str, word: Optional[str]) -> Any:
        """Completes options."""
        return options.complete(text, word, _OPTIONS)


class Attaching:
    """One run of `mpi-attach'. Its ranks are in order."""

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
        self._has_placed = False
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
        is_far = any(rank["host"] for rank in new)
        try:
            with nodes.connecting() if is_far else contextlib.nullcontext():
                if is_far:
                    new = self._placed(new)
                self._attach_each(new, progress)
        except KeyboardInterrupt:
            self.is_interrupted = True
        finally:
            progress.erase()
            self._connections.close()
            self._tidy_up()
            jobs.remember(jobs.Job(self.ranks, self._launcher))

    def _attach_each(self, new: List[protocol.Rank], progress: Progress) -> None:
        """Attaches to ranks: first to those of other machines, whose stops gdb may miss beside
        processes of this one."""
        for index, rank in enumerate(new):
            self._left = new[index:]
            progress.show("attaching to process %d of %d" % (index + 1, len(new)))
            # Not while gdb attaches, when it may pass a Ctrl-C on to the process.
            interrupts.allow(lambda: None)
            self._attach(rank)
        self._left = []

    def _placed(self, new: List[protocol.Rank]) -> List[protocol.Rank]:
        """Makes inferiors ready for ranks, in their order, and connects them. Returns the ranks
        that have one, those of other machines first."""
        unreached: Dict[str, str] = {}
        for rank in new:
            self._left = new
            interrupts.allow(lambda: None)
            host, reason = rank["host"], unreached.get(rank["host"], "")
            if host and not reason:
                number, is_added, reason = self._connections.place(host, self._take)
                if reason:
                    unreached[host] = reason
                    self._vacant = number, is_added
            elif not host:
                number, is_added = self._take()
                select_inferior(number)
            if reason:
                self._failed.setdefault(reason, []).append(rank)
            else:
                self._places[host, rank["pid"]] = number, is_added
        return sorted((rank for rank in new if (rank["host"], rank["pid"]) in self._places),
                      key=lambda rank: not rank["host"])

    def _take(self) -> Tuple[int, bool]:
        """Returns an inferior for the next rank that is made ready."""
        if self._vacant:
            taken, self._vacant = self._vacant, None
            return taken
        is_first, self._has_placed = not self._has_placed, True
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
        lost = [member for member in self.attached if pids.get(member[0]) != member[2]]
        if lost and self._places:
            self.attached = [member for member in self.attached if member not in lost]
            numbers = {member[1] for member in lost}
            self._failed["The connection with its machine has ended."] = [
                rank for rank in self._chosen if rank["rank"] in numbers]
        kept = {member[0] for member in self.attached}
        idle = [number for number, is_added in self._places.values()
                if is_added and number not in kept and not pids.get(number)]
        if self._vacant and self._vacant[1]:
            idle.append(self._vacant[0])
            self._vacant = None
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
        members = sorted(self.attached + self.kept, key=lambda m: (m[2] != wanted, _order(m[1])))
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
        for host, (others, path) in self._connections.differing.items():
            what = summary.ranks(others, "executes", "execute")
            lines.append("What %s on %s is not what is here (%s): gdb reads it through the"
                         " gdbserver there." % (what, host, path))
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
                reason = inferiors.attach(number, rank["pid"])
        if reason:
            self._failed.setdefault(reason, []).append(rank)
            return
        self._vacant = None
        self.attached.append((number, rank["rank"], rank["pid"]))
        jobs.add(jobs.Attached(number, rank["pid"], inferiors.program(), is_added, since,
                               rank["host"], rank["rank"]), self._before)


def _ask(pid: int, given: Dict[str, Any]) -> protocol.RanksResult:
    """Has the helper find the ranks of a job, with those of other machines. Raises Failure."""
    progress = Progress()

    def serve(method: str, params: Any) -> Tuple[Any, Optional[bytes]]:
        if method != protocol.METHOD_PROGRESS:
            raise UnknownMethod
        progress.show(str(params.get("message", "")))
        return None, None

    params: protocol.RanksParams = {
        "pid": pid, "far": True, "via": given.get("via", ""), "culprits": "culprits" in given,
        "hosts": [host for host in given.get("hosts", "").split(",") if host]}
    try:
        found: protocol.RanksResult = LINK.request(
            protocol.METHOD_RANKS, params, protocol.RanksResult, serve,
            parameters.helper_name(), parameters.is_debugging())
    finally:
        progress.erase()
    return found


def _partners() -> List[ranks.Range]:
    """Returns the ranks that the current inferior's has pending operations with. Raises Failure."""
    buffer = Buffer()
    commands.show_queues({"json": True}, False, buffer)
    found: Set[int] = set()
    name = "The current inferior's process"
    for process in json.loads(buffer.content())["processes"]:
        own = process["global_rank"]
        name = "Rank %d" % own if own is not None else name
        for queues in process["communicators"]:
            for queue in "pending_sends", "pending_receives", "unexpected_messages":
                for operation in queues[queue] or []:
                    for key in "desired_global_rank", "actual_global_rank":
                        peer = operation[key]
                        if isinstance(peer, int) and peer >= 0 and peer != own:
                            found.add(peer)
    if not found:
        raise Failure("%s has no pending operation with a rank that is known." % name)
    return [(rank, rank) for rank in sorted(found)]


def _process_id(words: List[str]) -> int:
    """Returns the process id that the argument is, or the current inferior's."""
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
    job = jobs.of_inferior(inferior)
    if job and job.launcher and jobs.host_of(inferior):
        return job.launcher
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


Attach()
