"""The threads of all processes in one session of an editor.

gdb's own request `threads' lists the threads of the selected inferior alone, though each thread of
any inferior has a number of its own in the protocol. And gdb takes such a number for that which its
command `thread' has: one within the selected inferior, so that a request for another process's
thread fails or, in gdb 16, is answered for the thread that is selected.

Here the list has the threads of all inferiors, in the order of the ranks, and their names begin
with the rank; and a number is that of the protocol. gdb does not document the part of its Python
package that this changes: where it is not as expected, gdb's own way stays.
"""

import sys
from typing import Any, Dict, List, Optional, Tuple

import gdb
from gdb.dap import state
from gdb.dap.server import _commands, send_gdb_with_response

from . import current_threads, jobs, rank_commands, ranks, stops
from .errors import Failure, one_line
from .selection import selected_thread
from .targets import kind_of


def extend() -> None:
    """Makes gdb's own requests those for all processes."""
    _replace_list()
    _replace_selection()


def _replace_list() -> None:
    """Adds to what `threads' answers."""
    if "threads" not in _commands:
        return
    own = _commands["threads"]

    def threads(**arguments: object) -> Any:
        """Runs on the thread that serves the protocol. gdb's own answer comes first, since gdb
        knows when it can't answer."""
        body = own(**arguments)
        listed = send_gdb_with_response(_listed)
        return body if listed is None else {"threads": listed}

    _commands["threads"] = threads


def _replace_selection() -> None:
    """Has gdb's requests take the protocol's number of a thread for what it is."""
    if not hasattr(state, "set_thread"):
        return
    own = state.set_thread

    def set_thread(thread_id: int) -> None:
        if thread_id:
            select_thread(thread_id)
        else:
            own(thread_id)

    # Its modules have imported the function, each for itself.
    for name, module in list(sys.modules.items()):
        if name.startswith("gdb.dap.") and getattr(module, "set_thread", None) is own:
            setattr(module, "set_thread", set_thread)


def select_thread(number: int) -> None:
    """Selects a thread by its number among those of all inferiors. Raises gdb.GdbError."""
    for inferior in gdb.inferiors():
        for thread in inferior.threads():
            if thread.global_num == number:
                thread.switch()
                return
    raise gdb.GdbError("There is no thread %d." % number)


def select(rank: Optional[int], inferior: Optional[int]) -> Optional[int]:
    """Selects a process by its rank, else by its inferior's number, or none if neither is given.
    Returns the number of the thread that is selected then, None if there is none. Raises
    Failure."""
    if rank is not None:
        rank_commands.select(ranks.one(rank), False)
    elif inferior is not None:
        found = next((i for i in gdb.inferiors() if i.num == inferior), None)
        thread = None if found is None else current_threads.of(found)
        if thread is None:
            raise Failure("There is no inferior %d that has a thread." % inferior)
        thread.switch()
    return selected_number()


def selected_number() -> Optional[int]:
    """Returns the number of the selected thread among those of all inferiors, None if there is
    none."""
    selected = selected_thread()
    return None if selected is None else int(selected.global_num)


def _listed() -> Optional[List[Dict[str, object]]]:
    """Returns the threads of all inferiors as the protocol has them, None where gdb's own list is
    to stand: it knows no rank, and no second process. Runs on gdb's main thread."""
    known = [(_known_rank(inferior), inferior) for inferior in gdb.inferiors()
             if inferior.threads()]
    if all(rank is None for rank, _ in known) and len(known) < 2:
        return None
    known.sort(key=_order)
    return [{"id": thread.global_num, "name": _name(rank, inferior, thread)}
            for rank, inferior in known
            for thread in sorted(inferior.threads(), key=lambda thread: int(thread.num))]


def _known_rank(inferior: gdb.Inferior) -> Optional[int]:
    """Returns the rank of an inferior's process, None if it was not asked for yet: that would read
    the process, and the editor wants the list at once."""
    rank = jobs.rank_of(inferior, kind_of(inferior))
    return stops.known_rank(inferior) if rank is None else rank


def _order(known: Tuple[Optional[int], gdb.Inferior]) -> Tuple[bool, int, int]:
    """Returns the key by which processes are ordered: unknown ranks come last."""
    rank, inferior = known
    return rank is None, rank or 0, inferior.num


def _name(rank: Optional[int], inferior: gdb.Inferior, thread: gdb.InferiorThread) -> str:
    """Returns what a thread is called: "rank 3 · ring", "rank 3 · thread 2 · progress"."""
    words = ["inferior %d" % inferior.num if rank is None else "rank %d" % rank]
    if thread.num > 1:
        words.append("thread %d" % thread.num)
    own = thread.name or getattr(thread, "details", None)
    if own:
        words.append(one_line(str(own), 60))
    return " · ".join(words)
