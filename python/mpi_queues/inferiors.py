"""Makes, attaches, detaches and removes inferiors."""

import contextlib
import os
import time
from typing import Callable, Iterator, Tuple

import gdb

from . import interrupts, procfs, states, sysroot
from .errors import one_line
from .link import LINK
from .selection import select_inferior
from .targets import kind_of
from .terminal import silenced

# How many seconds a thread sleeps before it counts as one that can't be stopped: reading from a
# disk takes a fraction of that.
_PATIENCE = 1

# Returns the number of an inferior for a process, and whether it was added for it.
Taking = Callable[[], Tuple[int, bool]]


def vacant() -> Tuple[int, bool]:
    """Returns the number of an inferior without process and program, and whether it was added.

    The current inferior goes first.
    """
    current = gdb.selected_inferior()
    if not current.pid and not gdb.objfiles() and not program() \
            and kind_of(current) in ("", "live"):
        return current.num, False
    return added()


def added() -> Tuple[int, bool]:
    """Returns the number of an inferior that is added, as vacant() does."""
    gdb.execute("add-inferior -no-connection", to_string=True)
    return max(inferior.num for inferior in gdb.inferiors()), True


def obstacle(pid: int) -> str:
    """Says why gdb must not try to attach to a process; empty if it may."""
    if not pid:
        return "its process id is not known."
    if pid == os.getpid():
        return "it is this gdb."
    try:
        session = os.getsid(pid)
    except ProcessLookupError:
        return "its process is not there any more."
    except OSError:
        session = 0
    if session and session == LINK.pid():
        return "it belongs to mpi-queues itself."
    return _hold(pid)


def _hold(pid: int) -> str:
    """Says why a process can't be stopped; empty if it can. gdb would wait for it in the kernel,
    where nothing but SIGKILL ends it.

    The helper has checked it when the job was found; ranks may have gone to sleep since.
    """
    held = procfs.asleep(pid)
    patience = time.monotonic() + _PATIENCE
    while held and time.monotonic() < patience:
        time.sleep(0.05)
        now = procfs.asleep(pid)
        held = {thread: before for thread, before in held.items() if now.get(thread) == before}
    return "" if not held else ("it can't be stopped: thread %d has been in uninterruptible sleep"
                                " for %d second." % (min(held), _PATIENCE))


def attach(number: int, pid: int, in_background: bool = False) -> str:
    """Selects an inferior and attaches it. Returns why it failed; empty if it did not."""
    select_inferior(number)
    try:
        with silenced():
            attach_selected(pid, in_background)
        return ""
    except gdb.error as error:
        reason = one_line(str(error))
    if gdb.selected_inferior().pid:
        detach(number)
    clear(program())
    return reason


def attach_selected(pid: int, in_background: bool = False) -> None:
    """Attaches the selected inferior to a process. In the background gdb returns at once; when the
    process has stopped, gdb reads its symbols and resumes it. Raises gdb.error."""
    with states.remembered(pid), sysroot.kept(), contextlib.ExitStack() as held:
        if is_hidden(pid):
            held.enter_context(scripts_off())
            _name_program(pid)
        if not in_background:  # gdb reads the files at the stop, which comes later
            sysroot.choose(pid)
        held.enter_context(interrupts.unended())
        gdb.execute("attach %d%s" % (pid, "&" if in_background else ""), to_string=True)


def is_hidden(pid: int) -> bool:
    """Says whether the kernel's path of a process's program does not lead to the program.

    The program was deleted or built anew since the process was started, another file system was
    mounted over it, or it is in another mount namespace. To follow the path is also what makes the
    kernel see that a file was built anew on another machine, after which it says "(deleted)".
    """
    path = "/proc/%d/exe" % pid
    try:
        running = os.stat(path)
    except OSError:
        return False  # gdb will say what is wrong
    try:
        return not os.path.samestat(running, os.stat(os.readlink(path)))
    except OSError:
        return True


@contextlib.contextmanager
def scripts_off() -> Iterator[None]:
    """Keeps gdb from running a script that a program names or holds.

    gdb trusts a program by its real path, and the real path of /proc/PID/exe may be any: the
    process's user has chosen it, by a mount namespace of his own or by a link beside the program.
    """
    before = {}
    try:
        for kind in ("python-scripts", "gdb-scripts", "guile-scripts"):
            try:
                before[kind] = gdb.parameter("auto-load " + kind)
            except RuntimeError:
                continue  # this gdb was built without Guile
            gdb.execute("set auto-load %s off" % kind)
        yield
    finally:
        for kind, is_on in before.items():
            gdb.execute("set auto-load %s %s" % (kind, "on" if is_on else "off"))


def _name_program(pid: int) -> None:
    """Gives the selected inferior, before it is attached, a program that only the kernel can find.

    gdb turns the name into the real path. Where that leads to another file here, gdb is not left
    with it: it finds the program of another mount namespace itself. Raises gdb.error if the
    namespace is our own, where gdb would take the other file again.
    """
    path = "/proc/%d/exe" % pid
    try:
        gdb.execute("file " + path, to_string=True)
        if program() == path:
            return
    except gdb.error:
        pass  # it may not be read, or the other file is no program
    gdb.execute("file", to_string=True)
    try:
        other = os.path.realpath(os.readlink(path))
    except OSError:
        return  # gdb will say what is wrong
    if os.path.exists(other) and sysroot.shares_mounts(pid):
        raise gdb.error("The path of its program leads to another file, %s." % other)


def detach(number: int) -> str:
    """Detaches an inferior. Returns why it failed; empty if it did not."""
    try:
        gdb.execute("detach inferiors %d" % number, to_string=True)
    except gdb.error as error:
        return one_line(str(error))
    return ""


def program() -> str:
    """Returns the path of the selected inferior's program, empty if it has none."""
    return gdb.current_progspace().filename or ""


def clear(path: str) -> None:
    """Takes the program from the selected inferior, which has no process, if it still is path."""
    if program() == path:
        try:
            gdb.execute("file", to_string=True)
        except gdb.error:
            pass  # it keeps its program, as after gdb's own `detach'


def has_other(pid: int) -> bool:
    """Says whether the selected inferior has another program than a process."""
    path = program()
    try:
        return bool(path) and not os.path.samestat(os.stat(path), os.stat("/proc/%d/exe" % pid))
    except OSError:
        return True


def remove(number: int) -> None:
    """Removes an inferior that is neither selected nor has a process, if it is there."""
    try:
        gdb.execute("remove-inferiors %d" % number, to_string=True)
    except gdb.error:
        pass  # its user has done so
