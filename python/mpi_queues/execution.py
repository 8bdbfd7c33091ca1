"""The commands that let the ranks of a job run and stop: `mpi-continue', `mpi-interrupt',
`mpi-step', `mpi-next', `mpi-until'."""

from typing import List, Tuple

import gdb

from . import options, parameters, ranks, run, running
from .errors import Failure, reported
from .options import Option

_ALONE = Option("alone", "", "Let no other rank run meanwhile. In non-stop mode none does that\n"
                "stands.")


_NONE = "There is no rank that could run: `mpi-run' starts a job, `mpi-attach' attaches to one."


class Continue(gdb.Command):
    __doc__ = """Let the ranks of an MPI job go on.
Usage: mpi-continue [OPTION]... [RANKS]

%s

%s Without them all ranks go on. In all-stop mode, gdb's default,
all of them go on or, with -alone, one does: the current one, or that of RANKS. When
one stops, all do; when one ends, the others go on.
In non-stop mode they go on in the background.""" % (options.usage((_ALONE,)), ranks.HELP)

    def __init__(self) -> None:
        super().__init__("mpi-continue", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Lets ranks go on."""
        _go("mpi-continue", "continue", argument, False)


class _Stepping(gdb.Command):
    """A command that has a rank do a step of gdb's."""

    def __init__(self, name: str, command: str) -> None:
        super().__init__(name, gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)
        self._name = name
        self._command = command

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Has ranks do a step."""
        _go(self._name, self._command, argument, True)


class Step(_Stepping):
    __doc__ = """Step ranks until each has reached another source line.
Usage: mpi-step [OPTION]... [RANKS]

%s

%s Without them the current rank steps. While it does, the others
run, since MPI needs them. In all-stop mode one rank can step at a time.""" \
        % (options.usage((_ALONE,)), ranks.HELP)


class Next(_Stepping):
    __doc__ = """Step ranks over calls until each has reached another source line.
Usage: mpi-next [OPTION]... [RANKS]

%s

%s Without them the current rank steps. While it does, the others
run, since MPI needs them. In all-stop mode one rank can step at a time.""" \
        % (options.usage((_ALONE,)), ranks.HELP)


class Until(gdb.Command):
    __doc__ = """Let ranks run until they are at a location.
Usage: mpi-until [OPTION]... LOCATION [RANKS]

%s

LOCATION is as for gdb's `break', in quotes if it has blanks. %s
Without them the current rank runs there. While it does, the others run, since MPI
needs them. In all-stop mode one rank can do so at a time.""" \
        % (options.usage((_ALONE,)), ranks.HELP)

    def __init__(self) -> None:
        super().__init__("mpi-until", gdb.COMMAND_RUNNING, gdb.COMPLETE_LOCATION)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Lets ranks run to a location."""
        is_alone, words = _parse("mpi-until", argument)
        if not words:
            raise Failure("mpi-until needs a location, as `mpi-until halo.c:40'.")
        _run_ranks("mpi-until", "advance " + words[0], is_alone, " ".join(words[1:]), True)


class Interrupt(gdb.Command):
    __doc__ = """Stop ranks that run in the background.
Usage: mpi-interrupt [RANKS]

%s Without them all ranks are stopped, each with all its threads.
In all-stop mode all ranks stop, whichever are named.""" % ranks.HELP

    def __init__(self) -> None:
        super().__init__("mpi-interrupt", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Stops ranks."""
        self.dont_repeat()
        running.interrupt(_wanted((argument or "").strip(), "mpi-interrupt"))


def _parse(command: str, argument: str) -> Tuple[bool, List[str]]:
    """Returns whether the ranks are to run alone, and the words behind the options."""
    words = gdb.string_to_argv(argument or "")
    is_alone = False
    while words and words[0].startswith("-") and len(words[0]) > 1:
        word = words.pop(0)
        if word == "--":
            break
        is_alone = "alone" in options.parse(word, (_ALONE,), command)
    return is_alone, words


def _go(command: str, for_thread: str, argument: str, is_step: bool) -> None:
    """Does what a command of this module says for the ranks in its arguments."""
    is_alone, words = _parse(command, argument)
    _run_ranks(command, for_thread, is_alone, " ".join(words), is_step)


def resume(who: str, for_thread: str, is_alone: bool, is_step: bool) -> None:
    """Lets all ranks go on, the current one as a command of gdb's for a thread says; or, with
    is_alone, that one only. Raises Failure in the name of who."""
    _run_ranks(who, for_thread, is_alone, "", is_step)


def _run_ranks(command: str, for_thread: str, is_alone: bool, text: str, is_step: bool) -> None:
    """Has ranks execute a command of gdb's for a thread."""
    run.notice_ended()
    one = is_step or is_alone
    wanted = _wanted(text, command) if text or not one else [_current()]
    if not wanted:
        raise Failure(_NONE)
    if running.is_non_stop():
        if is_step and not is_alone:
            others = [inferior for inferior in running.live_inferiors()
                      if all(inferior.num != other.num for other in wanted)]
            running.proceed_in_background(others, "continue")
        running.proceed_in_background(wanted, for_thread)
        return
    if len(wanted) > 1 and (one or len(wanted) < len(running.live_inferiors())):
        raise Failure("In all-stop mode gdb lets all ranks go on, or one: `mpi-run -non-stop'"
                      " starts a job whose ranks go on and stop one by one.")
    if one or len(wanted) < len(running.live_inferiors()):
        if not one:
            raise Failure("In all-stop mode gdb lets all ranks go on, or one: `%s -alone %s'"
                          " lets this one." % (command, text))
        if is_alone:
            running.proceed_alone(wanted[0], for_thread)
            run.finish()
            return
        running.thread_of(wanted[0]).switch()
    run.proceed(for_thread)


def _wanted(text: str, command: str) -> List[gdb.Inferior]:
    """Returns the live inferiors of some ranks, of all if none is named. Raises Failure."""
    live = running.live_inferiors()
    if not text:
        return live
    numbers = {inferior.num for inferior in live}
    return [member.inferior for member in ranks.chosen(ranks.parse(text, command))
            if member.inferior.num in numbers]


def _current() -> gdb.Inferior:
    """Returns the current inferior, which can run. Raises Failure."""
    current = gdb.selected_inferior()
    if not current.pid:
        raise Failure(_NONE)
    return current


Continue()
Step("mpi-step", "step")
Next("mpi-next", "next")
Until()
Interrupt()
