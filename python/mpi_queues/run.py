"""The command `mpi-run'."""

import os
from typing import Dict, List, Optional, Tuple

import gdb

from . import acquisition, inferiors, interrupts, jobs, options, parameters, protocol, running, \
    summary, supervisor
from .attach import Attaching, checked
from .errors import Failure, one_line, reported
from .options import Option
from .selection import select_inferior, unattended

_OPTIONS: Tuple[Option, ...] = (
    Option("start", "", "Stop in main, as gdb's `start' does."),
)

_SECONDS = 60

# The command line of the last job, the job itself, and the inferiors that had its ranks.
_last = ""
_job: Optional[supervisor.Supervisor] = None
_numbers: List[int] = []


class Run(gdb.Command):
    __doc__ = """Start an MPI job, with its ranks under the debugger from their first instruction on.
Usage: mpi-run [OPTION]... [COMMAND...]

%s

COMMAND is the shell's command line that starts the job, as `mpirun -n 4 ./program'.
Without it the last one is started again.

Each rank becomes an inferior, in the order of the ranks, before its program runs:
breakpoints, also those in constructors, hold in all of them. The job's output goes
where gdb's own goes. Its input is empty, unless COMMAND redirects it.""" % options.usage(_OPTIONS)

    def __init__(self) -> None:
        super().__init__("mpi-run", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Starts a job."""
        global _last, _job
        self.dont_repeat()
        given, command = _parse(argument or "")
        command = command or _last
        if not command:
            raise Failure("No job was started before: name the command that starts it, as"
                          " `mpi-run mpirun -n 4 ./program'.")
        _end_last(from_tty)
        _last = command
        _job = supervisor.start()
        try:
            starting = _start(_job, command)
        except BaseException:
            _job.close()
            raise
        if starting is None:
            return
        if "start" in given or starting.is_to_main:
            if acquisition.in_main():
                return
            gdb.execute("tbreak main", to_string=True)
        finish(_job, running.proceed(_job.inferiors()))


def finish(job: supervisor.Supervisor, has_stopped: bool) -> None:
    """Says how the job has ended, if none of its ranks is left."""
    if has_stopped or job.inferiors():
        return
    waited: protocol.WaitResult = job.request(
        protocol.METHOD_WAIT, {"seconds": 10}, protocol.WaitResult)
    if waited["end"]:
        _tell_end(waited["end"], "The launcher")
    job.close()


def _tell_end(end: protocol.End, who: str) -> None:
    """Says how the launcher has ended."""
    code = end["code"]
    if code is None:
        gdb.write("[%s was killed by %s]\n" % (who, one_line(end["signal"], 20)))
        return
    gdb.set_convenience_variable("_exitcode", code)
    gdb.write("[%s %s]\n" % (who, "exited with code %02o" % code if code else "exited normally"))


def _parse(text: str) -> Tuple[Dict[str, object], str]:
    """Returns the options before a command line, and the command line."""
    given: Dict[str, object] = {}
    text = text.strip()
    while text.startswith("-"):
        word, _, rest = text.partition(" ")
        text = rest.strip()
        if word == "--":
            break
        given.update(options.parse(word, _OPTIONS, "mpi-run"))
    return given, text


def _end_last(from_tty: bool) -> None:
    """Ends the job that was started before, if its user agrees."""
    if _job is None or not _job.inferiors():
        return
    if from_tty and not _query("The job being debugged has been started already.\n"
                               "Start it from the beginning? (y or n) "):
        raise Failure("Job not restarted.")
    with unattended():
        numbers = [inferior.num for inferior in _job.inferiors()]
        gdb.execute("kill inferiors " + " ".join(map(str, numbers)), to_string=True)
    _job.close()


def _query(question: str) -> bool:
    """Asks the user, unless he wants not to be asked."""
    if not gdb.parameter("confirm"):
        return True
    return input(question).strip().lower().startswith("y")


def _start(job: supervisor.Supervisor, command: str) -> Optional["_Starting"]:
    """Starts a job and attaches to its ranks; None if it has ended before it had any."""
    params: protocol.RunParams = {
        "command": command,
        "folder": gdb.parameter("cwd") or os.getcwd(),
        "environment": _environment(),
        "terminal": gdb.parameter("inferior-tty") or "",
        "seconds": _SECONDS,
    }
    gdb.flush()
    result: protocol.RunResult = job.request(protocol.METHOD_RUN, params, protocol.RunResult)
    if result["note"]:
        gdb.write(one_line(result["note"], 300) + "\n")
    ranks = result["job"]["ranks"] or []
    if not ranks:
        if result["end"]:
            _tell_end(result["end"], "The command")
            raise Failure("The job has ended, and none of its processes has come to the"
                          " debugger: put `mpi-queues rank --' before the program.")
        raise Failure("None of the job's processes has come to the debugger within %d seconds:"
                      " put `mpi-queues rank --' before the program." % _SECONDS)
    starting = _Starting(job, checked(ranks))
    acquired = result["acquired"]
    starting.is_to_main = acquired is not None and acquired["to_main"]
    with interrupts.held(), unattended():
        starting.run()
        starting.select(0)
    if acquired is not None:
        job.request(protocol.METHOD_RELEASE, {}, protocol.ReleaseResult)
    gdb.write(starting.told(result["job"]) + "\n")
    return starting


class _Starting(Attaching):
    """One run of `mpi-run'."""

    def __init__(self, job: supervisor.Supervisor, ranks: List[protocol.Rank]) -> None:
        super().__init__(ranks)
        self._job = job
        self._idle = _idle()
        self.is_to_main = False

    def vacant(self) -> Tuple[int, bool]:
        """Returns an inferior for the next rank: that of the last job's, if it is idle."""
        if self._idle:
            return self._idle.pop(0), False
        return super().vacant()

    def run(self) -> None:
        """Attaches to the ranks, and has them forget how they were held."""
        super().run()
        del _numbers[:]
        for number, _, pid in self.attached:
            self._job.watch(number, pid)
            _numbers.append(number)
        acquisition.take(self.attached)


def _idle() -> List[int]:
    """Returns the inferiors for the first ranks: those of the last job or, if it is the first, the
    current one, whose program is that of the ranks."""
    live = {inferior.num: inferior.pid for inferior in gdb.inferiors()}
    wanted = _numbers or [gdb.selected_inferior().num]
    return [number for number in wanted if live.get(number) == 0]


def _environment() -> List[str]:
    """Returns the environment that gdb starts programs with, as `set environment' has made it."""
    lines: List[str] = []
    for line in gdb.execute("show environment", to_string=True).split("\n"):
        name, is_variable, _ = line.partition("=")
        if is_variable and name and " " not in name or not lines:
            lines.append(line)
        else:
            lines[-1] += "\n" + line  # of a value that has several
    if lines:
        lines[-1] = lines[-1].rstrip("\n")
    return [line for line in lines if "=" in line]


Run()
