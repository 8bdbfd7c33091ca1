"""Pretty-printers: what a handle stands for, wherever gdb shows the value of a variable.

gdb calls a printer in the midst of its own work. So a printer asks for memory, symbols and types
alone, of a helper that runs already; it selects nothing and executes no command. Where that is not
enough, or something fails, values are printed as without printers.
"""

import locale
import traceback
from typing import Any, Callable, Iterator, Optional, Tuple, Union

import gdb

from . import parameters, protocol
from .charset import lossless
from .errors import trace
from .handle_texts import TEXTS, is_library
from .handles import Meaning, handle_value, meaning
from .link import LINK


class HandlePrinter:
    """Prints one handle: a line and its parts."""

    def __init__(self, raw: Union[int, str, None], text: protocol.HandleText) -> None:
        self._raw = raw
        self._text = text

    def to_string(self) -> str:
        """Returns the line."""
        return _in_host_charset(self._text["summary"])

    def children(self) -> Iterator[Tuple[str, Union[int, str]]]:
        """Yields the parts, the value as it is in the program first."""
        if self._raw is not None:
            yield "handle", self._raw
        for part in self._text["parts"] or ():
            yield _in_host_charset(part["name"]), _child(part["text"])


class HandlePrinters:
    """Finds the printer of a value, as gdb's list of printers has it."""

    name = "mpi-queues"
    enabled = True

    def __call__(self, value: gdb.Value) -> Optional[HandlePrinter]:
        """Returns the printer of a value; None if it is no handle or nothing is known of it."""
        try:
            what = meaning(value.type)
            if what is None or value.is_optimized_out or not parameters.has_pretty_printers():
                return None
            handle = handle_value(value, what)
            text = TEXTS.find(handle)
            if text is None or not text["summary"]:
                return None
            return HandlePrinter(_raw(handle, what), text)
        except (Exception, KeyboardInterrupt):  # gdb would show it amid the values
            if parameters.is_debugging():
                trace(traceback.format_exc())
            return None


def _raw(handle: protocol.HandleValue, what: Meaning) -> Union[int, str, None]:
    """Returns what the program has in its variable; None of a status, whose parts are all of it."""
    if what.kind == "status":
        return None
    value = handle["value"]
    return _signed(value) if what.fortran else hex(value)


def _signed(value: int) -> int:
    """Returns an INTEGER of Fortran's from its bits."""
    return value - (1 << 32) if value >> 31 == 1 else value


def _child(text: str) -> Union[int, str]:
    """Returns a part's value: a number where it is one, which editors show without quotes."""
    digits = text[1:] if text.startswith("-") else text
    if digits.isdecimal() and digits.isascii() and len(digits) < 10:
        return int(text)
    return _in_host_charset(text)


def _in_host_charset(text: str) -> str:
    """Returns a text of such characters as gdb can print: it has an error for others."""
    charset = str(gdb.parameter("host-charset"))
    if charset.startswith("auto"):
        charset = locale.nl_langinfo(locale.CODESET)
    try:
        return text.encode(charset, "replace").decode(charset)
    except (LookupError, UnicodeError):
        return text.encode("ascii", "replace").decode("ascii")


def _quietly(work: Callable[[], None]) -> None:
    """Does what nobody has asked for: an error of it is no error of the user's."""
    try:
        with lossless():
            work()
    except (Exception, KeyboardInterrupt):
        if parameters.is_debugging():
            trace(traceback.format_exc())


def _on_stop(_event: Any) -> None:
    """Serves gdb's event for a stop, before or after which it has shown the frame."""
    TEXTS.try_again()
    _quietly(TEXTS.prepare)


def _on_prompt(*_event: Any) -> None:
    """Serves gdb's event before its prompt: an inferior may have been selected, a core opened."""
    _quietly(TEXTS.prepare)


def _on_set() -> None:
    """Serves a setting of ours that has been set: a script may print before any event comes."""
    _quietly(TEXTS.begin)


@lossless()
def _on_new_file(event: gdb.NewObjFileEvent) -> None:
    """Serves gdb's event for a file that was loaded.

    A core file that a script opens has no other event before the script prints its variables. To
    start the helper is all that can be done before the process is there.
    """
    TEXTS.forget()
    if is_library(event.new_objfile) and parameters.has_pretty_printers() and not LINK.is_given():
        _quietly(lambda: LINK.start(parameters.helper_name(), parameters.is_debugging()))


gdb.pretty_printers.append(HandlePrinters())
gdb.events.stop.connect(_on_stop)
gdb.events.before_prompt.connect(_on_prompt)
gdb.events.new_objfile.connect(_on_new_file)
for _event in ("cont", "memory_changed", "inferior_call", "exited", "clear_objfiles"):
    getattr(gdb.events, _event).connect(TEXTS.forget)
parameters.when_set.append(_on_set)
_quietly(TEXTS.begin)
