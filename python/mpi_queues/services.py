"""What the helper can ask of gdb while a request is pending."""

from typing import Any, Callable, Dict, List, Optional, Set, Tuple, Type, Union

import gdb

from . import interrupts, layouts, lookup, memory, protocol, threads
from .errors import Failure
from .exchange import InvalidParams, UnknownMethod
from .output import Buffer, Display, File
from .progress import Progress
from .selection import inferior_selected
from .targets import kind_of
from .typecheck import mismatch
from .window import Window

# No honest request comes near these; they bound what gdb does for one that is not.
MAX_LIST = 1 << 20
MAX_ADDRESS = (1 << 64) - 1

Reply = Tuple[Any, Optional[bytes]]
_Service = Callable[["Services", Any], Reply]
_SERVICES: Dict[str, Tuple[_Service, Any]] = {}


def serves(method: str, params: Type[Any]) -> Callable[[_Service], _Service]:
    """Registers a service for a method of the protocol and the type of its parameters."""
    assert method in vars(protocol).values() and method not in _SERVICES, method
    assert params.__name__ in vars(protocol), params

    def register(service: _Service) -> _Service:
        _SERVICES[method] = (service, params)
        return service

    return register


class Services:
    """Serves one request's call-backs, on gdb's own thread."""

    def __init__(self, display: Union[Display, Buffer], window: Callable[[], Window]) -> None:
        self._streams: Dict[str, Any] = {"display": display}
        self._window = window
        self._whole: Set[str] = set()
        self._progress = Progress()

    def add_stream(self, name: str, target: File) -> None:
        """Sends a stream of the answer to a file."""
        self._streams[name] = target

    def serve(self, method: str, params: Any) -> Reply:
        """Serves one call-back; raises UnknownMethod or InvalidParams for what can't be served."""
        if method not in _SERVICES:
            raise UnknownMethod
        service, expected = _SERVICES[method]
        wrong = mismatch(params, expected, "params")
        if wrong:
            raise InvalidParams(wrong)
        return service(self, params)

    def end(self, success: bool) -> None:
        """Ends the request: files take their names, or go."""
        self._progress.erase()
        keep = [stream for name, stream in self._streams.items() if success or name in self._whole]
        drop = [stream for stream in self._streams.values() if stream not in keep]
        try:
            while keep:
                keep[0].commit()
                del keep[0]
        finally:
            for stream in keep + drop:
                stream.abandon()

    @serves(protocol.METHOD_READ_MEMORY, protocol.ReadMemoryParams)
    def read_memory(self, params: protocol.ReadMemoryParams) -> Reply:
        """Reads ranges of memory, into the window if there is one."""
        ranges = params["ranges"] or []
        window = self._window()
        _check_length(ranges, "ranges")
        total = 0
        for index, wanted in enumerate(ranges):
            if not 0 <= wanted["address"] <= MAX_ADDRESS:
                raise InvalidParams("ranges[%d].address is no address" % index)
            if wanted["length"] < 0:
                raise InvalidParams("ranges[%d].length is negative" % index)
            total += wanted["length"]
        if total > window.capacity:
            raise InvalidParams("the ranges have %d bytes, and the most is %d"
                                % (total, window.capacity))
        with inferior_selected(params["inferior"]) as inferior:
            known = _known(inferior)
            if _may_wait(known):
                readable, pieces = interrupts.allow(memory.read_ranges, known, ranges)
            else:
                readable, pieces = memory.read_ranges(known, ranges)
        result: protocol.ReadMemoryResult = {"readable": readable, "data": None}
        return result, window.put(pieces)

    @serves(protocol.METHOD_FIND_SYMBOLS, protocol.FindSymbolsParams)
    def find_symbols(self, params: protocol.FindSymbolsParams) -> Reply:
        """Looks up symbols."""
        names = params["names"] or []
        _check_length(names, "names")
        with inferior_selected(params["inferior"]) as inferior:
            _known(inferior)
            result: protocol.FindSymbolsResult = {"symbols": lookup.find_symbols(names)}
        return result, None

    @serves(protocol.METHOD_FIND_TYPES, protocol.FindTypesParams)
    def find_types(self, params: protocol.FindTypesParams) -> Reply:
        """Looks up types."""
        queries = params["types"] or []
        _check_length(queries, "types")
        for index, query in enumerate(queries):
            _check_length(query["fields"] or [], "types[%d].fields" % index)
        with inferior_selected(params["inferior"]) as inferior:
            _known(inferior)
            result: protocol.FindTypesResult = {"types": layouts.find_types(queries)}
        return result, None

    @serves(protocol.METHOD_LIST_THREADS, protocol.ListThreadsParams)
    def list_threads(self, params: protocol.ListThreadsParams) -> Reply:
        """Says where the threads are."""
        if not 0 < params["depth"] <= threads.MAX_DEPTH:
            raise InvalidParams("depth is %d" % params["depth"])
        variables = params["variables"] or []
        _check_length(variables, "variables")
        with inferior_selected(params["inferior"]) as inferior:
            found = threads.list_threads(_known(inferior), params["depth"], variables)
        result: protocol.ListThreadsResult = {"threads": found}
        return result, None

    @serves(protocol.METHOD_WRITE, protocol.WriteParams)
    def write(self, params: protocol.WriteParams) -> Reply:
        """Shows or stores a piece of the answer."""
        stream = self._streams.get(params["stream"])
        if stream is None:
            raise InvalidParams("stream is %.40r, which was not asked for" % params["stream"])
        data, wrong = self._window().take(params["length"], params.get("data"))
        if data is None:
            raise InvalidParams(wrong)
        self._progress.erase()
        stream.write(data)
        if params["last"]:
            self._whole.add(params["stream"])
        return None, None

    @serves(protocol.METHOD_PROGRESS, protocol.ProgressParams)
    def show_progress(self, params: protocol.ProgressParams) -> Reply:
        """Shows how far the request has come."""
        self._progress.show(params["message"])
        return None, None


def _check_length(values: List[Any], name: str) -> None:
    """Refuses lists that no honest request has."""
    if len(values) > MAX_LIST:
        raise InvalidParams("%s has %d elements" % (name, len(values)))


def _may_wait(inferior: gdb.Inferior) -> bool:
    """Reports whether a read of an inferior's memory may wait, as for another machine: it then lets
    Ctrl-C through.

    Other reads are short. Before gdb 12 it costs a command to find out.
    """
    return not hasattr(inferior, "connection") or kind_of(inferior) not in ("live", "core")


def _known(inferior: Optional[gdb.Inferior]) -> gdb.Inferior:
    """Returns an inferior that there is."""
    if inferior is None:
        raise InvalidParams("inferior is none of gdb's")
    if not inferior.pid:
        raise Failure("Inferior %d has exited." % inferior.num)
    return inferior
