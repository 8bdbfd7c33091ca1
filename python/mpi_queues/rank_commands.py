"""The commands for ranks: `mpi-ranks', `mpi-rank', `mpi-apply'."""

from typing import Any, Dict, List, NamedTuple, Optional

import gdb

from . import current_threads, interrupts, jobs, options, parameters, protocol, ranks, requests, \
    stops
from .commands import JSON, OUTPUT
from .errors import Cancelled, Failure, one_line, reported
from .options import Option
from .output import Buffer
from .process import NOTHING, process_of
from .selection import c_language, selection_kept

_OPTIONS = (JSON, OUTPUT)
_FLAGS = (
    Option("q", "", "Leave out the line that names the rank."),
    Option("c", "", "Show an error of COMMAND and go on with the next rank."),
    Option("s", "", "Show nothing of a rank where COMMAND fails or prints nothing."),
)


class Ranks(gdb.Command):
    __doc__ = """Show the ranks of an MPI job: what they are in gdb, and where they are.
Usage: mpi-ranks [OPTION]...

%s

Of each rank the inferior, the process, the state and the place in the program
are shown, and the MPI call that it is in. They are those of the thread that was
selected last there or has stopped since, else of the first one. Ranks on other
hosts and ranks that have ended are among them. The current one has a star.""" \
        % options.usage(_OPTIONS)

    def __init__(self) -> None:
        super().__init__("mpi-ranks", gdb.COMMAND_STATUS)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Shows the table."""
        show_ranks(options.parse(argument or "", _OPTIONS, "mpi-ranks"), from_tty)

    def complete(self, text: str, word: Optional[str]) -> Any:
        """Completes options and their arguments."""
        return options.complete(text, word, _OPTIONS)


class Rank(gdb.Command):
    """Select a rank of an MPI job, or show which one is selected.
Usage: mpi-rank [RANK]

Its inferior becomes the current one, and of its threads the one that was
selected last there or has stopped since, else the first one."""

    def __init__(self) -> None:
        super().__init__("mpi-rank", gdb.COMMAND_STATUS, gdb.COMPLETE_NONE)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Selects a rank."""
        current_threads.remember()
        wanted = ranks.parse(argument or "", "mpi-rank")
        if wanted == []:
            _say_selected()
            return
        if wanted is None or len(wanted) > 1 or wanted[0][0] != wanted[0][1]:
            raise gdb.GdbError("Invalid rank: %s" % one_line(argument, 40))
        select(ranks.one(wanted[0][0]), from_tty)


class Apply(gdb.Command):
    __doc__ = """Apply a command to ranks of an MPI job.
Usage: mpi-apply RANKS [OPTION]... COMMAND

%s

%s

The command is applied to the thread of each that was selected last there or has
stopped since, else to the first one. An error ends the whole, but where the rank
just runs. What was selected before is selected afterwards.""" \
        % (options.usage(_FLAGS), ranks.HELP)

    def __init__(self) -> None:
        super().__init__("mpi-apply", gdb.COMMAND_STATUS)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Applies the command."""
        wanted, rest = ranks.take(argument or "")
        if wanted == []:
            raise gdb.GdbError("Invalid rank: %s" % one_line(rest.split()[0], 40) if rest else
                               "Please specify a list of ranks")
        given, command = _flags(rest)
        if not command:
            raise gdb.GdbError("Please specify a command following the list of ranks")
        if "c" in given and "s" in given:
            raise gdb.GdbError("mpi-apply: -c and -s are mutually exclusive")
        chosen = ranks.chosen(wanted)
        with interrupts.held(), selection_kept():
            before = stops.interruptions()
            for member in chosen:
                _apply(member, command, given, from_tty)
                if stops.interruptions() > before:  # a Ctrl-C that a process has got
                    raise Cancelled()

    def complete(self, text: str, word: Optional[str]) -> Any:
        """Completes the list, the options, and the command as gdb would."""
        try:
            wanted, rest = ranks.take(text)
        except gdb.GdbError:
            return []
        if wanted == [] or not rest and not text.endswith(" "):
            return ranks.complete(text, word)
        while rest.startswith("-") and " " in rest:
            rest = rest.partition(" ")[2].lstrip()
        if rest.startswith("-"):
            return options.complete(rest, word, _FLAGS)
        return _complete_command(rest, word or "")


def show_ranks(given: Dict[str, Any], from_tty: bool, buffer: Optional[Buffer] = None) -> None:
    """Shows the ranks with options as options.parse returns them, or keeps what there is to show
    in a buffer."""
    rows, processes = _rows()
    if not rows:
        raise Failure(NOTHING)
    to_json = "json" in given
    output: Optional[str] = given.get("output")
    params: protocol.PlacesParams = {
        "places": rows,
        "processes": processes,
        "format": "json" if to_json else "text",
        "styled": not to_json and output is None and requests.is_styled(from_tty),
        "window": False,
    }
    requests.show(protocol.METHOD_PLACES, processes, params, {"display": output}, buffer)


class _Rows(NamedTuple):
    """The rows of the table, and the processes of those that can be read."""

    places: List[protocol.Place]
    processes: List[protocol.Process]


def _rows() -> _Rows:
    """Returns what the table is made of."""
    rows = _Rows([], [])
    selected = gdb.selected_inferior().num
    with c_language():
        for member in ranks.members():
            _add_member(rows, member)
    for gone in ended():
        rows.places.append(gone)
    for rank in jobs.absent():
        if not stops.exit_of_rank(rank):
            rows.places.append(_place(rank["rank"], pid=rank["pid"], host=rank["host"],
                                      state="exited" if rank["exited"] else "not attached",
                                      reason=one_line(rank["obstacle"])))
    for place in rows.places:
        place["selected"] = place["inferior"] == selected
    rows.places.sort(key=lambda place: (place["rank"] is None, place["rank"] or 0,
                                        place["inferior"]))
    return rows


def ended() -> List[protocol.Place]:
    """Returns the ranks that inferiors without a process had, and that have ended."""
    places = []
    for inferior in gdb.inferiors():
        gone = stops.exit_of(inferior)
        if gone and gone.rank is not None:
            places.append(_place(gone.rank, inferior=inferior.num, pid=gone.pid, state="exited",
                                 host=gone.host or "", reason=gone.signal, exit_code=gone.code))
    return places


def _place(rank: Optional[int], inferior: int = 0, pid: int = 0, host: str = "", state: str = "",
           reason: str = "", exit_code: Optional[int] = None) -> protocol.Place:
    """Returns a row that has no place in the program."""
    return {"rank": rank, "inferior": inferior, "pid": pid, "host": host, "state": state,
            "reason": reason, "exit_code": exit_code, "thread": 0, "selected": False,
            "unplaced": ""}


def _add_member(rows: _Rows, member: ranks.Member) -> None:
    """Adds the row of an inferior's process and, if that can be read, the process."""
    place = _place(member.rank, member.inferior.num, member.inferior.pid, state="running",
                   host=jobs.host_of(member.inferior))
    rows.places.append(place)
    if member.is_gone:
        place["state"] = "exited"
        return
    stopped = current_threads.stopped(member.inferior)
    if not stopped:
        return
    thread = stopped[0]
    told = next((t for t in stopped if stops.reason(t)), thread)
    place["state"], place["reason"] = "stopped", stops.reason(told)
    if told.num != thread.num:
        place["reason"] += " in thread %d" % told.num
    place["thread"] = thread.num
    try:
        process = process_of(thread)
    except (Failure, gdb.error) as error:
        place["unplaced"] = one_line(str(error))
        return
    if process["kind"] == "core":
        place["pid"] = process["pid"]
        place["state"] = "core"
        with c_language(), selection_kept():
            thread.switch()
            place["reason"] = stops.core_signal()
    rows.processes.append(process)


def _say_selected() -> None:
    """Says which rank is selected."""
    inferior = gdb.selected_inferior()
    gone = stops.exit_of(inferior)
    if gone and gone.rank is not None:
        gdb.write("[Current rank is %d, which has exited (inferior %d)]\n"
                  % (gone.rank, inferior.num))
        return
    if not inferior.pid:
        raise Failure(NOTHING)
    member = ranks.member(inferior)
    name = "inferior %d [process %d] (%s)" % (
        inferior.num, inferior.pid, inferior.progspace.filename or "<noexec>")
    if member.rank is None:
        gdb.write("[The rank of the current inferior is not known (%s)]\n" % name)
    else:
        gdb.write("[Current rank is %d (%s)]\n" % (member.rank, name))


def select(member: ranks.Member, from_tty: bool) -> None:
    """Selects a rank, and shows what gdb shows then. Raises Failure for one that has ended."""
    if member.is_gone:
        raise Failure("Rank %d has exited, which gdb has not seen yet." % (member.rank or 0))
    thread = current_threads.of(member.inferior)
    if thread:
        thread.switch()  # the command leaves the thread if it is of this inferior
    gdb.execute("inferior %d" % member.inferior.num, from_tty)


def _flags(text: str) -> Any:
    """Returns the options that stand before a command, and the command. Raises gdb.GdbError."""
    given: Dict[str, Any] = {}
    while text.startswith("-"):
        word, _, rest = text.partition(" ")
        if word == "--":
            return given, rest.strip()
        given.update(options.parse(word, _FLAGS, "mpi-apply"))
        text = rest.strip()
    return given, text


def _apply(member: ranks.Member, command: str, given: Dict[str, Any], from_tty: bool) -> None:
    """Applies a command to one process. Raises gdb.error if that ends the whole."""
    thread = current_threads.of(member.inferior)
    if thread is None or not thread.is_valid():
        return  # it has ended meanwhile, as one of gdb's threads can
    header = "" if "q" in given else "\n%s (inferior %d, process %d):\n" % (
        member.name.capitalize(), member.inferior.num, member.inferior.pid)
    if "s" not in given:
        gdb.write(header)
    thread.switch()
    try:
        if "s" not in given:
            interrupts.allow(gdb.execute, command, from_tty)
            return
        text = interrupts.allow(gdb.execute, command, from_tty, True)
        if text:
            gdb.write(header + text)
    except gdb.error as error:
        # That it runs or is gone is no reason to leave out the others.
        is_out_of_reach = member.is_gone or thread.is_valid() and thread.is_running()
        if "s" not in given and ("c" in given or is_out_of_reach):
            gdb.write("%s\n" % error)
        elif "s" not in given:
            raise


def _complete_command(text: str, word: str) -> List[str]:
    """Returns what gdb would complete a command with: lines from which the word is to be cut."""
    lines = gdb.execute("complete " + text, to_string=True).splitlines()
    return [line[len(text) - len(word):] for line in lines if line.startswith(text)]


Ranks()
Rank()
Apply()
