"""What the handles of the program stand for, in words, remembered until the program goes on."""

import re
import time
import traceback
from typing import Any, Dict, List, Optional, Set, Tuple

import gdb

from . import handle_variables, lookup, parameters, process_exit, protocol, requests, states
from .charset import lossless
from .errors import Failure, trace
from .link import LINK
from .output import Buffer
from .process import current_process
from .selection import Untouchable, untouched
from .services import Services

# How long an answer may take: who waits for it has not asked for it.
SECONDS = 5.0

# The MPI libraries' files: libmpi.so.40, libopen_mpi.so.0, libmpich.so.12, libmpifort.so, …
_LIBRARY = re.compile(r"/lib(open_|p)?mpi[^/]*\.(so|dylib)[^/]*\Z")
# The types that a program has whose library is part of it.
_TYPES = ("MPI_Comm", "mpi_comm")

_Key = Tuple[int, int, str, bool, int, Optional[str]]
# A process, and the files that are loaded.
_State = Tuple[int, int, Tuple[int, int]]


class Texts:
    """What handles stand for, as far as it was asked for since the program has stopped."""

    def __init__(self) -> None:
        self._known: Dict[_Key, protocol.HandleText] = {}
        # The threads, by their inferiors' numbers and their own, whose variables were looked at.
        self._gathered: Set[Tuple[int, int]] = set()
        self._has_failed = False
        # The handles that only a place where settings may be touched can ask for.
        self._postponed: List[protocol.HandleValue] = []
        self._prepared: Dict[int, _State] = {}
        # The settings that the helper was started by.
        self._helper: Tuple[str, bool] = "", False
        # The processes as they were described where gdb let it be done.
        self._described: Dict[int, Tuple[_State, protocol.Process]] = {}
        # The processes that were too slow once.
        self._slow: Set[Tuple[int, int]] = set()

    def forget(self, _event: Any = None) -> None:
        """Forgets all: the program goes on, or has other files or memory."""
        self._known.clear()
        self._gathered.clear()
        self._postponed.clear()
        self._has_failed = False

    def try_again(self) -> None:
        """Lets what has failed while the program went on be asked for: it has stopped."""
        self._has_failed = False

    @lossless()
    def find(self, handle: protocol.HandleValue) -> Optional[protocol.HandleText]:
        """Returns what a handle of the selected inferior's process stands for; None if that can't
        be told now. Touches nothing that the user has selected or set."""
        inferior = gdb.selected_inferior()
        process = inferior.num, inferior.pid
        key = _key(process, handle)
        if key in self._known:
            return self._known[key]
        if self._has_failed or process in self._slow or not inferior.pid or not LINK.is_idle():
            return None
        wanted = [handle] + self._variables(inferior)
        try:
            with untouched():
                self._ask(process, wanted, False)
        except Untouchable:
            self._has_failed = True
            self._postponed = wanted
        except Exception:  # whatever it is, nobody has asked for it
            self._fail()
        return self._known.get(key)

    def prepare(self) -> None:
        """Starts the helper for a process that uses MPI, and asks it once for the handles in sight,
        which has it look for the symbols and types that it needs. Serves events of gdb's at which
        settings may be touched."""
        helper = parameters.helper_name(), parameters.is_debugging()
        if helper != self._helper:
            self._helper = helper
            self.forget()
            self._prepared.clear()
            self._slow.clear()
        inferior = gdb.selected_inferior()
        process = inferior.num, inferior.pid
        if not inferior.pid or LINK.is_given() or states.is_attaching() or process in self._slow:
            return
        state = process + (lookup.files_generation(),)
        if self._prepared.get(inferior.num) == state and not self._postponed:
            return
        if not parameters.has_pretty_printers():
            return
        self._prepared[inferior.num] = state
        if not uses_mpi():
            return
        wanted, self._postponed = self._postponed, []
        self._has_failed = False
        null: protocol.HandleValue = {"kind": "comm", "fortran": False, "value": 0, "data": None}
        try:
            self._ask(process, wanted + self._variables(inferior) + [null], True)
        except Exception:
            self._fail()

    def begin(self) -> None:
        """Does what prepare does when the extension is loaded or one of its settings is set: gdb
        may have had a process or a core file before, and a script prints before any event comes.
        That this fails means little, since the helper may be named only afterwards."""
        self.prepare()
        if self._has_failed:
            self.forget()
            self._prepared.clear()

    def _variables(self, inferior: gdb.Inferior) -> List[protocol.HandleValue]:
        """Returns the handles in the variables of the selected thread, once at each stop."""
        thread = gdb.selected_thread()
        if thread is None or (inferior.num, thread.num) in self._gathered:
            return []
        self._gathered.add((inferior.num, thread.num))
        try:
            return handle_variables.in_frames()
        except (gdb.error, RuntimeError):
            return []

    def _ask(self, process: Tuple[int, int], handles: List[protocol.HandleValue],
             may_start: bool) -> None:
        """Asks for the handles of the selected inferior's process that are not known."""
        wanted = {_key(process, handle): handle for handle in handles}
        keys = [key for key in wanted if key not in self._known]
        began = time.monotonic()
        try:
            texts = ask(self._describe(process), [wanted[key] for key in keys], SECONDS, may_start)
        finally:
            if time.monotonic() - began >= SECONDS:
                self._slow.add(process)
        self._known.update(zip(keys, texts))

    def _describe(self, process: Tuple[int, int]) -> protocol.Process:
        """Describes the selected inferior's process, by what is remembered of it where gdb's own
        commands would be needed (before gdb 12)."""
        state = process + (lookup.files_generation(),)
        try:
            described = current_process()
        except Untouchable:
            known = self._described.get(process[0])
            if known is None or known[0] != state:
                raise
            return known[1]
        self._described[process[0]] = state, described
        return described

    def _fail(self) -> None:
        """Gives up until the program goes on."""
        self._has_failed = True
        if parameters.is_debugging():
            trace("mpi-queues can't say what handles stand for:\n" + traceback.format_exc())


def ask(process: protocol.Process, handles: List[protocol.HandleValue], seconds: float = 0,
        may_start: bool = True) -> List[protocol.HandleText]:
    """Asks what handles of a process stand for. Raises Failure, and gdb.error from gdb itself."""
    params: protocol.HandlesParams = {"process": process, "handles": handles, "window": False}
    process_exit.watch([process])
    services = Services(Buffer(), lambda: LINK.window)
    result: protocol.HandlesResult = LINK.request(
        protocol.METHOD_HANDLES, params, protocol.HandlesResult, services.serve,
        parameters.helper_name(), parameters.is_debugging(), seconds, may_start)
    if parameters.is_debugging():
        requests.say_cost(result["cost"])
    texts = result["handles"] or []
    if len(texts) != len(handles):
        raise Failure("The helper has answered for %d handles of %d." % (len(texts), len(handles)))
    return texts


def uses_mpi() -> bool:
    """Says whether the selected inferior's program uses MPI, as far as its files tell."""
    known = lookup.remembered("mpi")
    if "is used" not in known:
        known["is used"] = any(is_library(objfile) for objfile in gdb.objfiles()) \
            or any(_has_type(name) for name in _TYPES)
    return bool(known["is used"])


def is_library(objfile: gdb.Objfile) -> bool:
    """Says whether a file is an MPI library, by its name."""
    return _LIBRARY.search(objfile.filename or "") is not None


def _has_type(name: str) -> bool:
    """Says whether the program has a type of this name."""
    try:
        return bool(gdb.lookup_type(name))
    except gdb.error:
        return False


def _key(process: Tuple[int, int], handle: protocol.HandleValue) -> _Key:
    """Returns what tells a handle from others."""
    return process + (handle["kind"], handle["fortran"], handle["value"], handle["data"])


TEXTS = Texts()
