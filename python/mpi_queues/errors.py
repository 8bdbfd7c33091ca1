"""What goes wrong, as sentences: no Python traceback reaches a user who has not asked for one."""

import functools
import traceback
import unicodedata
from typing import Any, Callable, List, TypeVar, cast

import gdb

from .charset import lossless

Function = TypeVar("Function", bound=Callable[..., Any])


class Failure(Exception):
    """Ends a command with a sentence for its user."""


class Cancelled(Failure):
    """Ends a command that its user has given up, as gdb ends its own."""

    def __init__(self) -> None:
        super().__init__("Quit")


class BrokenHelper(Failure):
    """Ends a command, and the helper with it, because the helper does not keep to the protocol."""


class Ended(BrokenHelper):
    """The helper has closed its end."""


def one_line(text: str, limit: int = 300) -> str:
    """Makes text from elsewhere fit to be part of a sentence."""
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return words if len(words) <= limit else words[:limit] + "..."


def printable(text: str) -> str:
    """Makes text that is not ours fit to be shown; its line breaks and tabs stay.

    The rule is that of the helper's package mqs/printable: controls, format characters (those
    that turn text about among them) and what is no character become U+FFFD.
    """
    return "".join(c if c in "\n\t" or c not in "\ufffe\uffff"
                   and unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
                   else "\ufffd" for c in text)


def trace(text: str) -> None:
    """Shows what `set mpi-queues debug on' asks for, tracebacks and the helper's log."""
    gdb.write(printable(text), gdb.STDERR)


def last_lines(text: str, count: int = 5) -> List[str]:
    """Returns the last few lines of a log that have something in them."""
    return [one_line(line) for line in text.splitlines() if line.strip()][-count:]


def reported(debug: Callable[[], bool]) -> Callable[[Function], Function]:
    """Makes a command end in gdb's own kind of error, whatever is raised in it.

    While debug() is true the traceback is shown first.
    """

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            try:
                with lossless():
                    return function(*args, **kwargs)
            except KeyboardInterrupt:
                message = str(Cancelled())
            except gdb.GdbError:
                raise
            except (Failure, gdb.error) as error:
                message = str(error)
                if debug():
                    trace(traceback.format_exc())
            except Exception as error:  # a fault of this extension, whatever it is
                message = ("mpi-queues failed in itself (%s: %s): `set mpi-queues debug on' and"
                           " the same command again show where; please report it."
                           % (type(error).__name__, one_line(str(error))))
                if debug():
                    trace(traceback.format_exc())
            raise gdb.GdbError(printable(message))

        return cast(Function, guarded)

    return decorate
