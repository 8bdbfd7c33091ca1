"""What goes wrong, as sentences: no Python traceback reaches a user who has not asked for one."""

import functools
import traceback
from typing import Any, Callable, List, TypeVar, cast

import gdb

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
                return function(*args, **kwargs)
            except KeyboardInterrupt:
                message = str(Cancelled())
            except gdb.GdbError:
                raise
            except (Failure, gdb.error) as error:
                message = str(error)
                if debug():
                    gdb.write(traceback.format_exc(), gdb.STDERR)
            except Exception as error:  # a fault of this extension, whatever it is
                message = ("mpi-queues failed in itself (%s: %s): `set mpi-queues debug on' and"
                           " the same command again show where; please report it."
                           % (type(error).__name__, one_line(str(error))))
                if debug():
                    gdb.write(traceback.format_exc(), gdb.STDERR)
            raise gdb.GdbError(message)

        return cast(Function, guarded)

    return decorate
