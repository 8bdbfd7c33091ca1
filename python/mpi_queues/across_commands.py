"""The commands that put ranks side by side: `mpi-print' and `mpi-stacks'."""

import math
import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import gdb

from . import current_threads, interrupts, jobs, options, parameters, protocol, rank_commands, \
    ranks, requests
from .commands import JSON, OUTPUT
from .errors import Failure, one_line, printable, reported
from .options import Option
from .output import Buffer
from .process import process_of
from .selection import c_language, selection_kept, set_language, whole_backtrace

_PRINT_OPTIONS = (JSON, OUTPUT)
_STACKS_OPTIONS = (
    Option("threads", "", "Show all threads, and not the first one of each rank alone."),
    Option("internal", "", "Show the frames inside calls of MPI and of the C library too."),
    JSON,
    OUTPUT,
)


class Print(gdb.Command):
    __doc__ = """Print what an expression is in each rank of an MPI job.
Usage: mpi-print [OPTION]... [/FMT] EXPRESSION [OPTION]...

%s

Ranks with the same value share a line, the most frequent value comes first, and
a last line has the minimum, the maximum and the mean of numbers. FMT is as in
gdb's own command print, whose settings count. Each rank evaluates the expression
in its innermost frame of the function that is selected; an expression without
local variables, in any frame. Without FMT the addresses of strings and symbols
are left out, since they differ from rank to rank. Options that stand after the
expression are written in full; `--' before it ends them.""" % options.usage(_PRINT_OPTIONS)

    def __init__(self) -> None:
        super().__init__("mpi-print", gdb.COMMAND_DATA)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Prints the values."""
        given, expression, form = _parsed(argument or "")
        show_values(expression, form, given, from_tty)

    def complete(self, text: str, word: Optional[str]) -> Any:
        """Completes options and, where nothing else stands before it, the expression."""
        if text.strip() and not text.startswith(("-", "/")) and " -" not in text:
            return gdb.COMPLETE_EXPRESSION
        return options.complete(text, word, _PRINT_OPTIONS)


class Stacks(gdb.Command):
    __doc__ = """Show the stacks of the ranks of an MPI job as one tree.
Usage: mpi-stacks [OPTION]... [RANKS]

%s

Ranks are together as far as their stacks are the same. Below the line that names
them are their frames, from the outermost to the call of MPI or of the C library
that they are in, and below these the branches in which they differ, that of the
most threads first.

%s Without RANKS the tree is
that of all.""" \
        % (options.usage(_STACKS_OPTIONS), ranks.HELP)

    def __init__(self) -> None:
        super().__init__("mpi-stacks", gdb.COMMAND_STACK)

    @reported(parameters.is_debugging)
    def invoke(self, argument: str, from_tty: bool) -> None:
        """Shows the tree."""
        given, text = options.parse_expression(argument or "", _STACKS_OPTIONS)
        show_stacks(ranks.parse(text, "mpi-stacks") or None, given, from_tty)

    def complete(self, text: str, word: Optional[str]) -> Any:
        """Completes options, their arguments, and the list of ranks."""
        return options.complete(text, word, _STACKS_OPTIONS) + ranks.complete(text, word)


def show_values(expression: str, form: Dict[str, Any], given: Dict[str, Any], from_tty: bool,
                buffer: Optional[Buffer] = None) -> None:
    """Shows what an expression is in all ranks, formatted as arguments of gdb.Value.format_string
    say, with options as options.parse returns them."""
    to_json = "json" in given
    output: Optional[str] = given.get("output")
    function, evaluations = _evaluated(expression, form)
    params: protocol.ValuesParams = {
        "expression": expression,
        "function": function,
        "evaluations": evaluations,
        "format": "json" if to_json else "text",
        "styled": not to_json and output is None and requests.is_styled(from_tty),
        "window": False,
    }
    requests.show(protocol.METHOD_VALUES, [], params, {"display": output}, buffer)


def show_stacks(wanted: Optional[List[ranks.Range]], given: Dict[str, Any], from_tty: bool,
                buffer: Optional[Buffer] = None) -> None:
    """Shows the stacks of ranks, None for all, with options as options.parse returns them."""
    to_json = "json" in given
    output: Optional[str] = given.get("output")
    processes: List[protocol.Process] = []
    unread: List[protocol.Obstacle] = []
    with c_language():
        for member in ranks.chosen(wanted):
            try:
                process = process_of(_thread_with_stack(member, "threads" in given))
                process["rank"] = member.rank
                processes.append(process)
            except (Failure, gdb.error) as error:
                unread.append(_unread(member.rank, member.inferior.num, str(error)))
    if wanted is None:
        unread += _without_process()
    params: protocol.StacksParams = {
        "processes": processes,
        "unread": unread,
        "threads": "threads" in given,
        "internal": "internal" in given,
        "format": "json" if to_json else "text",
        "styled": not to_json and output is None and requests.is_styled(from_tty),
        "window": False,
    }
    requests.show(protocol.METHOD_STACKS, processes, params, {"display": output}, buffer)


def _thread_with_stack(member: ranks.Member, any_of_them: bool) -> gdb.InferiorThread:
    """Returns a stopped thread of a process: its first one, or any. Raises Failure."""
    if member.is_gone:
        raise Failure("exited")
    threads = sorted(member.inferior.threads(), key=lambda thread: thread.num)
    for thread in threads if any_of_them else threads[:1]:
        if thread.is_stopped():
            return thread
    raise Failure("running" if threads else "it has no threads")


def _unread(rank: Optional[int], inferior: int, reason: str) -> protocol.Obstacle:
    """Returns what the helper is told of a process without a stack."""
    return {"inferior": inferior, "pid": 0, "executable": "", "rank": rank,
            "reason": one_line(reason)}


def _without_process() -> List[protocol.Obstacle]:
    """Returns the ranks that no inferior has, or has any more."""
    found = [_unread(place["rank"], 0, _ending(place)) for place in rank_commands.ended()]
    known = {obstacle["rank"] for obstacle in found}
    for rank in jobs.absent():
        if rank["rank"] is not None and rank["rank"] not in known:
            reason = rank["obstacle"] or ("exited" if rank["exited"] else "not attached")
            found.append(_unread(rank["rank"], 0, "on " + rank["host"] if rank["host"] else reason))
    return found


def _ending(place: protocol.Place) -> str:
    """Says how a rank has ended."""
    if place["exit_code"] is not None:
        return "exited with code %d" % place["exit_code"]
    return "killed by " + place["reason"] if place["reason"] else "exited"


def _parsed(argument: str) -> Tuple[Dict[str, Any], str, Dict[str, Any]]:
    """Returns the options of mpi-print, the expression, and the arguments of format_string that
    its format stands for. Raises gdb.GdbError."""
    given, text = options.parse_expression(argument, _PRINT_OPTIONS)
    form: Dict[str, Any] = {}
    found = _FORMAT.match(text)
    if found:
        form = _form(found.group(1))
        more, text = options.parse_expression(text[found.end():], _PRINT_OPTIONS)
        given.update(more)
    if not text:
        raise gdb.GdbError("Argument required (expression to compute).")
    return given, text, form


_FORMAT = re.compile(r"/(\S*)\s*")
_LETTERS = "xduotacfsz"
_SIZES = "bhwg"


def _form(letters: str) -> Dict[str, Any]:
    """Returns the arguments of format_string for a format. Raises gdb.GdbError."""
    form: Dict[str, Any] = {}
    for letter in letters:
        if letter.isdigit():
            raise gdb.GdbError("Item count other than 1 is meaningless in \"mpi-print\" command.")
        if letter in _SIZES:
            raise gdb.GdbError("Size letters are meaningless in \"mpi-print\" command.")
        if letter == "i":
            raise gdb.GdbError("Format letter \"i\" is meaningless in \"mpi-print\" command.")
        if letter == "r":
            form["raw"] = True
        elif letter in _LETTERS and "format" not in form:
            form["format"] = letter
        else:
            raise gdb.GdbError("Undefined output format \"%s\"." % printable(letters))
    return form


def _evaluated(expression: str, form: Dict[str, Any]) -> Tuple[str, List[protocol.Evaluation]]:
    """Returns what an expression is in all ranks, and the name of the function in whose frames
    that was asked, empty for any."""
    found = ranks.chosen(None)
    language = str(gdb.parameter("language"))
    evaluations: List[protocol.Evaluation] = []
    with interrupts.held():
        try:
            with selection_kept(), whole_backtrace():
                scope = _scope(expression)
                for member in found:
                    evaluations.append(interrupts.allow(
                        _evaluation, member, scope, expression, form))
        finally:
            # That of a frame without one of its own was that of the frame selected last.
            if language in ("auto", "local"):
                set_language(language)
    return scope.name, evaluations


class _Scope(NamedTuple):
    """The frames that an expression is evaluated in."""

    inferior: int
    frame: Optional[gdb.Frame]  # of that inferior, the selected one
    function: str  # what tells the function of the others' frames, empty for any
    name: str  # what the function is called if the expression has no value elsewhere, else empty


def _scope(expression: str) -> _Scope:
    """Returns the frames for an expression: those of the selected function."""
    number = gdb.selected_inferior().num
    try:
        frame = gdb.selected_frame()
        if not frame.find_sal().symtab:  # it has no variables
            return _Scope(number, frame, "", "")
        name = (frame.name() or "") if _has_locals(expression, frame) else ""
        return _Scope(number, frame, _identity(frame), name)
    except gdb.error:
        return _Scope(number, None, "", "")


def _identity(frame: gdb.Frame) -> str:
    """Returns what tells the function of a frame from others, empty if nothing does."""
    function = frame.function()
    return str(function.linkage_name if function else frame.name() or "")


def _has_locals(expression: str, frame: gdb.Frame) -> bool:
    """Says whether an expression has names that mean something else in each frame: those of local
    variables, of members of `this', and of registers."""
    names = set(_NAME.findall(_MEMBER.sub("", expression)))
    registers = {"$" + register.name for register in frame.architecture().registers()}
    if names & (registers | _REGISTERS):
        return True
    try:
        block = frame.block()
    except (gdb.error, RuntimeError):
        return False
    for name in names:
        try:
            symbol, is_member = gdb.lookup_symbol(name, block)
        except gdb.error:
            continue  # it is none
        if is_member or symbol and symbol.needs_frame:
            return True
    return False


# The name of a member, or of what is in a namespace, is none of a local variable.
_MEMBER = re.compile(r"(?:\.|->|::)\s*[A-Za-z_]\w*")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
# gdb's own names, which every architecture has.
_REGISTERS = {"$pc", "$sp", "$fp", "$ps"}


def _evaluation(member: ranks.Member, scope: _Scope, expression: str, form: Dict[str, Any]) \
        -> protocol.Evaluation:
    """Returns what an expression is in one process."""
    result: protocol.Evaluation = {"rank": member.rank, "inferior": member.inferior.num,
                                   "text": "", "number": "", "failure": ""}
    try:
        if member.is_gone or not member.inferior.pid:
            result["failure"] = "exited"
        elif not current_threads.stopped(member.inferior):
            result["failure"] = "running"
        elif not _select(member, scope):
            result["failure"] = "not in %s()" % one_line(scope.name)
        else:
            value = gdb.parse_and_eval(expression)
            if value.type.strip_typedefs().code in _REFERENCES:
                value = value.referenced_value()
            text = printable(value.format_string(**form))
            result["text"] = text if form else _without_addresses(text)
            result["number"] = _number(value)
    except (gdb.error, UnicodeError) as error:
        result["failure"] = one_line(str(error)) or "no value"
    return result


def _without_addresses(text: str) -> str:
    """Returns a value without the addresses of strings and symbols, which differ from process to
    process where these do not."""
    return _ADDRESS.sub(lambda found: found.group(1) or "", text)


# A string, or an address before one or before the symbol for it.
_ADDRESS = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
                      r"""|\b0x[0-9a-f]+ (?=[LuU8]*"|<(?!error))""")


def _select(member: ranks.Member, scope: _Scope) -> bool:
    """Selects the frame in which a process evaluates an expression; says whether there is one."""
    if member.inferior.num == scope.inferior and scope.frame is not None:
        thread = current_threads.of(member.inferior)
        if thread and scope.frame.is_valid():
            thread.switch()
            scope.frame.select()
            return True
    stopped = current_threads.stopped(member.inferior)
    for thread in stopped if scope.function else ():
        thread.switch()
        frame: Optional[gdb.Frame] = gdb.newest_frame()
        while frame and _identity(frame) != scope.function:
            frame = frame.older()
        if frame:
            frame.select()
            return True
    if scope.name:
        return False
    stopped[0].switch()
    return True


_REFERENCES = (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)


def _number(value: gdb.Value) -> str:
    """Returns a number in decimal, empty for what is none or can't be read."""
    try:
        code = value.type.strip_typedefs().code
        if code == gdb.TYPE_CODE_INT:
            return str(int(value))
        if code == gdb.TYPE_CODE_FLT:
            number = float(value)
            return "nan" if math.isnan(number) else repr(number)
    except (gdb.error, OverflowError, ValueError):
        pass
    return ""


Print()
Stacks()
