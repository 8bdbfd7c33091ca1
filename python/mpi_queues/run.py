"""The command `mpi-run'."""

import base64
import contextlib
import functools
import os
import signal
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

import gdb

from . import acquisition, deferred, inferiors, interrupts, jobs, options, parameters, protocol, \
    running, stops, summary, supervisor
from .attaching import Attaching, checked
from .charset import lossless
from .errors import Cancelled, Failure, one_line, reported
from .options import Option
from .selection import select_inferior, selected_thread, unattended, unwinding

_OPTIONS: Tuple[Option, ...] = (
    Option("non-stop", "", "Let ranks stop one by one, and run in the background: see `help\n"
           "mpi-continue'. gdb can choose that only while no process is debugged."),
    Option("start", "", "Stop all ranks in main, as gdb's `start' does."),
)

# How long is waited for a job's ranks, and for its launcher once they have ended.
_SECONDS = 60
_SECONDS_OF_END = 10

# The command line of the last job, the job itself, and the inferiors that had its ranks.
_last = ""
_job: Optional[supervisor.Supervisor] = None
_numbers: List[int] = []
# How signals are handled as long as the job lasts.
_signals = contextlib.ExitStack()
# Whether gdb is made to notice ends, during which nothing is shown.
_is_noticing = False
# Whether it is mpi-run that has chosen the non-stop mode.
_was_all_stop = False


class Run(gdb.Command):
    __doc__ = """Start an MPI job whose ranks are debugged from their first instruction on.
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
        _set_non_stop("non-stop" in given)
        _job = supervisor.start()
        try:
            starting = _start(_job, command)
        except BaseException:
            _job.close()
            raise
        _signals.enter_context(running.handled(stops.WAKE, "stop print nopass"))
        if running.is_non_stop():
            # The launcher's signals would stop ranks one by one, whenever they come.
            _signals.enter_context(running.handled("SIGSTOP", "nostop noprint nopass"))
            _signals.enter_context(running.handled("SIGCONT", "nostop noprint pass"))
        # A signal that has held a rank may be seen only now (in gdb 16).
        with running.handled("SIGSTOP", "nostop noprint nopass"):
            if "start" in given or starting.is_to_main:
                # A rank that MPIR has told of may be in main already.
                if not acquisition.in_main():
                    running.stop_in_main(_job.inferiors())
            elif running.is_non_stop():
                running.proceed_in_background(_job.inferiors(), "continue")
            else:
                proceed()


def proceed(command: str = "continue") -> None:
    """Lets all ranks go on, in the all-stop mode, as running.proceed does. Processes that come
    meanwhile, as those that they spawn, become inferiors too."""
    while running.proceed(command) and stops.was_woken():
        adopt()
        command = "continue"
    finish()


def adopt() -> None:
    """Attaches to the processes of the job that came late, if there are any."""
    if _job is None:
        return
    late: protocol.LateResult = _job.request(protocol.METHOD_LATE, {}, protocol.LateResult)
    for job in late["jobs"] or []:
        starting = _Starting(_job, checked(job["ranks"] or []), is_late=True)
        with interrupts.held(), unattended():
            starting.run()
            starting.select(0)
        gdb.write(starting.told(job) + "\n")


@lossless()
def _adopt_in_background(woken: gdb.InferiorThread) -> None:
    """In non-stop mode, resumes the thread that was stopped because processes came late, and
    attaches to these, which gdb resumes too. Other threads stay as they are."""
    if _job is None:
        return
    selected = selected_thread()
    # Resume it before gdb attaches: until gdb knows where a new program is loaded, it may be unable
    # to insert breakpoints, and then it can't resume any thread.
    if woken.is_valid() and woken.is_stopped():
        with contextlib.suppress(gdb.error):
            woken.switch()
            gdb.execute("continue&", to_string=True)
    try:
        adopt()
    except (gdb.error, Failure, KeyboardInterrupt) as fault:
        gdb.write("Could not attach to the processes that came late: %s\n"
                  % one_line(str(fault), 300))
    if selected is not None and selected.is_valid():
        selected.switch()


def notice_ended() -> None:
    """Has gdb notice ranks that have ended while they stood; says how the job has, if all have."""
    global _is_noticing
    if _job is not None:
        _is_noticing = True
        try:
            with unwinding():
                running.without_ended(_job.inferiors())
        finally:
            _is_noticing = False
    finish()


def finish() -> None:
    """Says how the job that was started has ended, if none of its ranks is left."""
    if _job is None or _job.inferiors():
        return
    with _ended() as job:
        if job.has_let_go:
            return
        waited: protocol.WaitResult = job.request(
            protocol.METHOD_WAIT, {"seconds": _SECONDS_OF_END}, protocol.WaitResult)
        if waited["end"]:
            _tell_end(waited["end"], "The launcher")


@contextlib.contextmanager
def _ended() -> Iterator[supervisor.Supervisor]:
    """Yields the job, which is none that is debugged any more, and leaves it after the block."""
    global _job
    job, _job = _job, None
    assert job is not None
    _signals.close()
    try:
        yield job
    finally:
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
    """Ends the job that was started before, if its user agrees. Raises Failure."""
    notice_ended()
    if _job is None:
        return
    numbers = [inferior.num for inferior in _job.inferiors()]
    if numbers:
        if from_tty and not _query("The job being debugged has been started already.\n"
                                   "Start it from the beginning? (y or n) "):
            raise Failure("Job not restarted.")
        with unattended():
            gdb.execute("kill inferiors " + " ".join(map(str, numbers)), to_string=True)
    if _job is not None:  # the end of its ranks has not been told by itself
        with _ended():
            pass


def _set_non_stop(is_wanted: bool) -> None:
    """Sets whether ranks stop one by one, if that is to be changed. Raises Failure."""
    global _was_all_stop
    if is_wanted == running.is_non_stop() or not is_wanted and not _was_all_stop:
        return
    if any(inferior.pid for inferior in gdb.inferiors()):
        raise Failure("gdb can change between all-stop and non-stop mode only while no process is"
                      " debugged: `detach' or `kill' what is debugged.")
    gdb.execute("set non-stop %s" % ("on" if is_wanted else "off"), to_string=True)
    _was_all_stop = is_wanted


def _query(question: str) -> bool:
    """Asks the user, as gdb does: not if he wants not to be asked, or if nobody is there."""
    if not gdb.parameter("confirm"):
        return True
    if not sys.stdin.isatty():
        gdb.write(question + "(answered Y; input not from terminal)\n")
        return True
    while True:
        try:
            answer = input(question).strip().lower()
        except EOFError:
            gdb.write("EOF [assumed Y]\n")
            return True
        if answer[:1] in ("y", "n"):
            return answer[0] == "y"
        gdb.write("Please answer y or n.\n")


def _start(job: supervisor.Supervisor, command: str) -> "_Starting":
    """Starts a job and attaches to its ranks. Raises Failure if it has none."""
    params: protocol.RunParams = {
        "command": command,
        "folder": _base64(str(gdb.parameter("cwd") or os.getcwd())),
        "environment": _base64("".join(line + "\0" for line in _environment())),
        "terminal": gdb.parameter("inferior-tty") or "",
        "seconds": _SECONDS,
    }
    gdb.flush()
    result: protocol.RunResult = job.request(protocol.METHOD_RUN, params, protocol.RunResult)
    for note in result["notes"] or []:
        gdb.write(one_line(note, 300) + "\n")
    ranks = result["job"]["ranks"] or []
    if not ranks:
        if result["end"]:
            _tell_end(result["end"], "The command")
            raise Failure("The job has ended, and none of its processes has come to the"
                          " debugger. If it has run, put `mpi-queues rank --' before its program.")
        raise Failure("None of the job's processes has come to the debugger within %d seconds:"
                      " put `mpi-queues rank --' before the program." % _SECONDS)
    if all(rank["host"] for rank in ranks):
        raise Failure("No rank of the job runs on this machine, and gdb debugs only those that do:"
                      " %s." % summary.elsewhere(checked(ranks)))
    job.is_told = result["told"]
    starting = _Starting(job, checked(ranks))
    acquired = result["acquired"]
    starting.is_to_main = acquired is not None and acquired["to_main"]
    with interrupts.held(), unattended():
        starting.run()
        starting.select(0)
    if starting.is_interrupted:
        raise Cancelled()
    if acquired is not None:
        job.request(protocol.METHOD_RELEASE, {}, protocol.ReleaseResult)
    gdb.write(starting.told(result["job"]) + "\n")
    return starting


class _Starting(Attaching):
    """One run of `mpi-run'."""

    def __init__(self, job: supervisor.Supervisor, ranks: List[protocol.Rank],
                 is_late: bool = False) -> None:
        super().__init__(ranks)
        self._job = job
        self._is_late = is_late
        # While gdb shows its prompt, `attach' returns before the process has stopped. It can't be
        # resumed then (gdb 16.3: internal-error in set_thread_options), so gdb has to do both.
        self.in_background = is_late and running.is_non_stop()
        self._idle = [] if is_late else _idle()
        self._kept = contextlib.ExitStack()
        self.is_to_main = False

    def vacant(self, pid: int) -> Tuple[int, bool]:
        """Returns an inferior for the next rank: that of the last job's, if it is idle."""
        if not self._idle:
            return super().vacant(pid)
        number = self._idle.pop(0)
        select_inferior(number)
        if inferiors.has_other(pid):
            self._kept.enter_context(deferred.breakpoints())
            inferiors.clear(inferiors.program())
        return number, False

    def run(self) -> None:
        """Attaches to the ranks, and has them forget how they were held.

        A rank that gdb can't attach to goes on without it.
        """
        with self._kept:
            super().run()
        if not self._is_late:
            del _numbers[:]
        for number, _, pid in self.attached:
            self._job.watch(number, pid)
            _numbers.append(number)
        taken = {pid for _, _, pid in self.attached}
        for rank in self.ranks:
            if jobs.is_here(rank) and rank["pid"] and rank["pid"] not in taken:
                with contextlib.suppress(OSError):
                    os.kill(rank["pid"], signal.SIGCONT)
        acquisition.take(self.attached, self._job.is_told, self.in_background)


def _idle() -> List[int]:
    """Returns the inferiors for the first ranks: those of the last job or, if it is the first, the
    current one, whose program is that of the ranks."""
    live = {inferior.num: inferior.pid for inferior in gdb.inferiors()}
    wanted = _numbers or [gdb.selected_inferior().num]
    return [number for number in wanted if live.get(number) == 0]


def _base64(text: str) -> str:
    """Returns the bytes of a text that the system uses, which need not be UTF-8."""
    return base64.b64encode(os.fsencode(text)).decode("ascii")


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


def _on_stop(event: Any) -> None:
    """Attaches to late processes in non-stop mode, where no prompt need follow a stop."""
    woken = stops.thread_of(event)
    if woken is not None and stops.is_wake(event) and running.is_non_stop():
        gdb.post_event(functools.partial(_adopt_in_background, woken))


@lossless()
def _on_gone() -> None:
    """Tells the end of the job in non-stop mode, where no command waits for it."""
    if running.is_non_stop() and not _is_noticing:
        finish()


@lossless()
def _before_prompt(_: object = None) -> None:
    """Tells the end of the job before gdb asks for the next command, whatever has let it go on."""
    try:
        if stops.was_woken() and not running.is_non_stop():
            adopt()
        notice_ended()
    except (Exception, KeyboardInterrupt):
        pass  # nobody has asked


gdb.events.stop.connect(_on_stop)
gdb.events.before_prompt.connect(_before_prompt)
supervisor.listeners.append(_on_gone)
Run()
