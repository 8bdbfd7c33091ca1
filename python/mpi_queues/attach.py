"""The command `mpi-attach'."""

import json
from typing import Any, Dict, List, Optional, Set, Tuple

import gdb

from . import commands, interrupts, jobs, options, parameters, protocol, ranks
from .attaching import Attaching, checked
from .errors import Cancelled, Failure, one_line, reported
from .exchange import UnknownMethod
from .link import LINK
from .options import Option
from .output import Buffer
from .progress import Progress
from .selection import unattended
from .targets import kind_of

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


Attach()
