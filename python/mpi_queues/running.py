"""Resumes the ranks of a job together, and steps over what only starting them brings."""

import contextlib
import os
import signal
import threading
import time
from typing import Any, Dict, Iterator, List, Optional

import gdb

from . import current_threads, interrupts, procfs
from .errors import Failure, one_line
from .selection import c_language, inferior_selected, notifications_suppressed, \
    select_inferior, selected_thread, setting, unattended, unwinding
from .stops import WAKE, exit_of_process, know_end
from .targets import kind_of
from .terminal import silenced


def is_non_stop() -> bool:
    """Says whether threads stop one by one."""
    return bool(gdb.parameter("non-stop"))


def live_inferiors() -> List[gdb.Inferior]:
    """Returns the inferiors that can run, in the order of their numbers."""
    return sorted((inferior for inferior in gdb.inferiors()
                   if inferior.pid and inferior.threads() and kind_of(inferior) != "core"),
                  key=lambda inferior: inferior.num)


def settle(number: int, pid: int, in_background: bool = False) -> None:
    """Has an inferior, which has just been attached before the first instruction of its program,
    take the signals that have stopped it there, and that one which ends the stop.

    Without the first they would be reported as if the user had sent them; without the second each
    new thread of the process would stop at its beginning. In non-stop mode, while other inferiors
    run, or if the process is being attached to in the background, it takes them when it goes on.
    Until then gdb must be told not to stop for them.
    """
    select_inferior(number)
    if in_background or is_non_stop() and any(
            thread.is_running() for inferior in gdb.inferiors() for thread in inferior.threads()):
        os.kill(pid, signal.SIGCONT)  # gdb 13.1 fails in `stepi': "Selected thread is running."
        return
    with unwinding(), unattended(), silenced(), contextlib.ExitStack() as signals, \
            setting("schedule-multiple", "off"):
        # The supervisor sends stops.WAKE again.
        for name in "SIGSTOP", "SIGCONT", WAKE:
            signals.enter_context(handled(name, "nostop noprint nopass"))
        os.kill(pid, signal.SIGCONT)
        gdb.execute("stepi", to_string=True)


@contextlib.contextmanager
def handled(name: str, handling: str) -> Iterator[None]:
    """Has gdb handle a signal inside the block as gdb's command `handle' is told, for instance by
    "nostop noprint pass"."""
    row = gdb.execute("info signals " + name, to_string=True).splitlines()[-1].split()
    before = [word if answer == "Yes" else "no" + word
              for word, answer in zip(("stop", "print", "pass"), row[1:4])]
    try:
        gdb.execute("handle %s %s" % (name, handling), to_string=True)
        yield
    finally:
        gdb.execute("handle %s %s" % (name, " ".join(before)), to_string=True)


class _Stops:
    """Whether gdb has told of a stop since the inferiors were resumed."""

    def __init__(self) -> None:
        self.has_come = False

    def __enter__(self) -> "_Stops":
        gdb.events.stop.connect(self._on_stop)
        return self

    def __exit__(self, *_: Any) -> None:
        gdb.events.stop.disconnect(self._on_stop)

    def _on_stop(self, event: Any) -> None:
        self.has_come = True


def proceed(command: str = "continue") -> bool:
    """Lets all inferiors go on, in the all-stop mode, until one stops; says whether one has.

    The command is that for the selected thread; the others just go on. gdb stops all of them when
    one ends, too. They go on then, until none is left.
    """
    while True:
        live = without_ended(live_inferiors())
        if not live:
            return False
        pids = [inferior.pid for inferior in live if kind_of(inferior) == "live"]
        if selected_thread() is None:
            thread_of(live[0]).switch()
        # Launchers send SIGCONT before they end a job's ranks, of which some may stand still.
        with unwinding(), _Stops() as stops, setting("schedule-multiple", "on"), \
                handled("SIGCONT", "nostop noprint pass"):
            try:
                gdb.execute(command)
            except gdb.error:
                if not any(_has_ended(inferior) for inferior in live):
                    raise
        if stops.has_come:
            return True
        if any(_was_killed(pid) for pid in pids):
            _await_end_of_job(pids)
        command = "continue"


# How long, in seconds, is waited for a launcher to end a job that has lost a rank: Open MPI's sends
# SIGKILL a second after SIGTERM.
_SECONDS_OF_LOSS = 3.0


def _await_end_of_job(pids: List[int]) -> None:
    """Waits, for some seconds, until processes have ended, which stand still, since one of a job
    was killed, as its launcher knows: then that ends the others.

    gdb 16.3 may fail (an internal error) if it lets go on what is killed in the same moment.
    """
    limit = time.monotonic() + _SECONDS_OF_LOSS
    while time.monotonic() < limit and not all(procfs.has_ended(pid) for pid in pids):
        time.sleep(0.02)


def _was_killed(pid: int) -> bool:
    """Says whether gdb knows that a signal has ended the process of an inferior."""
    end = exit_of_process(pid)
    return end is not None and bool(end.signal)


def without_ended(inferiors: List[gdb.Inferior]) -> List[gdb.Inferior]:
    """Returns those of some inferiors whose processes have not ended, as far as gdb can know.

    When one process ends, gdb stops the others; of those that end in the same moment it then can't
    read the registers, and so can't let any of them go on. It is made to notice that they are gone.
    """
    live = inferiors
    while True:
        ended = [inferior for inferior in live
                 if _has_ended(inferior) and not _is_awaited(inferior)]
        live = [inferior for inferior in live if inferior not in ended]
        pids = [inferior.pid for inferior in ended]
        for inferior in ended:
            _notice_end(inferior)
        if not any(_was_killed(pid) for pid in pids) or is_non_stop():
            break
        # The kernel tells the launcher of an end only when the debugger has taken it.
        _await_end_of_job([inferior.pid for inferior in live if kind_of(inferior) == "live"])
    if len(live) < len(inferiors) and live and selected_thread() is None:
        thread_of(live[0]).switch()
    return live


# When processes were first seen to be gone for which gdb waits still, by process id.
_gone: Dict[int, float] = {}

# How long, in seconds, gdb has for that.
_SECONDS_OF_NOTICE = 1.0


def _is_awaited(inferior: gdb.Inferior) -> bool:
    """Says whether gdb hears of the end of an inferior's process by itself: in non-stop mode, where
    it waits for threads that run.

    It may miss one (16.3: an error of libthread_db's, as it lets a thread go on that is killed).
    """
    pid = inferior.pid
    if not is_non_stop() or not any(thread.is_running() for thread in inferior.threads()):
        return False
    if procfs.stat(pid):
        return True
    for other in set(_gone) - {other.pid for other in gdb.inferiors()}:
        del _gone[other]  # gdb has heard of it: its number can become another's
    now = time.monotonic()
    return now - _gone.setdefault(pid, now) < _SECONDS_OF_NOTICE


def _notice_end(inferior: gdb.Inferior) -> None:
    """Has gdb take the end of an inferior's process, and say how that has ended."""
    pid = inferior.pid
    status = _status(pid)
    if status is not None:
        know_end(pid, status)
    _do("kill inferiors %d" % inferior.num)
    if not inferior.pid:
        gdb.write("[Inferior %d (process %d) %s]\n" % (inferior.num, pid, _words(status)))


def _do(command: str) -> None:
    """Executes a command where one is selected of those that have ended: gdb looks for its frame
    afterwards, and fails."""
    with contextlib.suppress(gdb.error):
        gdb.execute(command, to_string=True)


def _has_ended(inferior: gdb.Inferior) -> bool:
    """Says whether the process of an inferior has ended, which gdb may not have noticed."""
    if not inferior.pid:
        return False
    return kind_of(inferior) == "live" and procfs.has_ended(inferior.pid)


def _status(pid: int) -> Optional[int]:
    """Returns how a process has ended, as waitpid(2) says it, as far as the kernel tells."""
    fields = procfs.stat(pid)
    return int(fields[procfs.EXIT_CODE]) if len(fields) > procfs.EXIT_CODE else None


def _words(status: Optional[int]) -> str:
    """Says how a process has ended, in the words of gdb."""
    if status is None:
        return "ended"
    if os.WIFSIGNALED(status):
        return "was killed by signal %d" % os.WTERMSIG(status)
    code = os.WEXITSTATUS(status)
    return "exited with code %02o" % code if code else "exited normally"


def proceed_alone(inferior: gdb.Inferior, command: str) -> None:
    """Lets one inferior go on, in the all-stop mode, while all others stand."""
    thread_of(inferior).switch()
    with unwinding(), setting("schedule-multiple", "off"), _awake():
        gdb.execute(command)


# How often gdb is woken, in seconds: at first, and when it has been for some time.
_WAKES = (0.01, 0.5)


@contextlib.contextmanager
def _awake() -> Iterator[None]:
    """Has gdb look again for the event of one inferior that it lets go on inside the block.

    An inferior may have come to a breakpoint while another one's was told. If it goes on alone,
    gdb asks some inferior for an event (do_target_wait in gdb/infrun.c). If that is another one, it
    hears that nothing runs, and waits for ever. It looks again after a signal of a child's.
    """
    if len(live_inferiors()) < 2:
        yield
        return
    main = threading.main_thread().ident
    has_stopped = threading.Event()

    def wake() -> None:
        wait = _WAKES[0]
        while main is not None and not has_stopped.wait(wait):
            signal.pthread_kill(main, signal.SIGCHLD)
            wait = min(wait * 1.1, _WAKES[1])

    # Python waits at its end for threads that are no daemons, and gdb may end inside the block.
    waker = threading.Thread(target=wake, daemon=True)
    waker.start()
    try:
        yield
    finally:
        has_stopped.set()
        waker.join()


def stop_in_main(inferiors: List[gdb.Inferior]) -> None:
    """Lets inferiors, whose programs have not begun, run into main, or to what stops them before.

    No rank waits for another there, so it is done for each in turn, and the first is selected then.
    Where a program has no main, that of the program is meant that it executes. Until one rank is
    there all of them run: others wait for it if it starts its program otherwise. Raises Failure.
    """
    are_later = [inferior.num for inferior in inferiors if not _has_main(inferior)]
    if are_later and is_non_stop():
        raise Failure("The program %s has no symbol main: its ranks stand at their first"
                      " instruction. With `break main' they stop in the program that it executes;"
                      " `mpi-continue' lets them go on." % _program(are_later[0]))
    with interrupts.held(), silenced(2):  # it would say that there is none yet
        breakpoint = gdb.Breakpoint("main", internal=True)
    there = 0
    try:
        if are_later:
            with notifications_suppressed():
                if not proceed():
                    raise Failure("No rank has come to main: a script that starts a program has to"
                                  " execute it in its own place, as `exec ./program' does.")
            there = gdb.selected_inferior().num
        for inferior in inferiors:
            if inferior.pid and inferior.num != there:
                with notifications_suppressed():
                    proceed_alone(inferior, "continue")
    finally:
        breakpoint.delete()
    live = [inferior for inferior in inferiors if inferior.is_valid() and inferior.pid]
    if live:
        thread_of(live[0]).switch()
        gdb.execute("frame")


def _has_main(inferior: gdb.Inferior) -> bool:
    """Says whether the program of an inferior has a symbol main."""
    with inferior_selected(inferior.num), c_language():
        try:
            gdb.parse_and_eval("&main")
        except gdb.error:
            return False
    return True


def _program(number: int) -> str:
    """Returns the path of an inferior's program."""
    return next(one_line(inferior.progspace.filename or "?", 300) for inferior in gdb.inferiors()
                if inferior.num == number)


def proceed_in_background(inferiors: List[gdb.Inferior], command: str) -> None:
    """Lets inferiors go on in the non-stop mode: the one thread of each that a command is for does
    what it says, all others go on.

    Of an inferior none of whose threads has stopped nothing is asked.
    """
    before = selected_thread()
    for inferior in inferiors:
        stopped = [thread for thread in inferior.threads() if not thread.is_running()]
        if not stopped:
            continue
        first = thread_of(inferior)
        if first.is_running():
            first = stopped[0]
        for thread in stopped:
            if thread.num != first.num:
                _execute(thread, "continue&")
        _execute(first, command + "&")
    if before is not None and before.is_valid():
        before.switch()


def interrupt(inferiors: List[gdb.Inferior]) -> None:
    """Stops inferiors: in the non-stop mode all threads of each, else all there are."""
    if not is_non_stop():
        gdb.execute("interrupt")
        return
    before = selected_thread()
    for inferior in inferiors:
        for thread in inferior.threads():
            if thread.is_running():
                current_threads.interrupted(thread)
                _execute(thread, "interrupt")
    if before is not None and before.is_valid():
        before.switch()


def _execute(thread: gdb.InferiorThread, command: str) -> None:
    """Executes a command for a thread."""
    thread.switch()
    gdb.execute(command, to_string=True)


def thread_of(inferior: gdb.Inferior) -> gdb.InferiorThread:
    """Returns the current thread of an inferior. Raises Failure."""
    thread = current_threads.of(inferior)
    if thread is None:
        raise Failure("Inferior %d has no thread." % inferior.num)
    return thread
