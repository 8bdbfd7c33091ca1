"""The server, as of gdb 16."""

from typing import Any, Callable, Dict, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")

_commands: Dict[str, Callable[..., Any]]

def request(name: str, *, response: bool = ...,
            expect_stopped: bool = ...) -> Callable[[Function], Function]: ...
def send_event(event: str, body: object = ...) -> None: ...
def send_event_maybe_later(event: str, body: object = ...) -> None: ...
def send_gdb_with_response(fn: Callable[[], Result]) -> Result: ...
