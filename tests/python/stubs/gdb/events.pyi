"""gdb's events, of which each version has its own."""

from typing import Any, Callable

class Registry:
    def connect(self, listener: Callable[[Any], None]) -> None: ...
    def disconnect(self, listener: Callable[[Any], None]) -> None: ...

before_prompt: Registry
breakpoint_deleted: Registry
breakpoint_modified: Registry
cont: Registry
corefile_changed: Registry
exited: Registry
new_objfile: Registry
stop: Registry
