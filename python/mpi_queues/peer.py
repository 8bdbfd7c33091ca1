"""The process at the other end of the protocol."""

from typing import List

from .channel import Channel


class Peer:
    """The other end, which this gdb has not started: it has started this gdb, and waits for it."""

    def __init__(self, path: str, channel: Channel) -> None:
        self.path = path
        self.channel = channel

    @property
    def pid(self) -> int:
        """The id of the session that is its own, 0 if it has none."""
        return 0

    def is_ready(self) -> bool:
        """Says whether it runs and waits for a request."""
        return self.channel.is_quiet()

    def end(self, grace: float = 0) -> None:
        """Lets go of it. What this gdb has started may end by itself within grace seconds."""
        self.channel.close()

    def how_it_ended(self) -> str:
        """Says how it ended by itself, if that is known, or returns an empty string."""
        return ""

    def last_words(self) -> List[str]:
        """Returns the last lines of its log, if there is one."""
        return []

    def new_words(self) -> str:
        """Returns what was added to its log since the last call."""
        return ""
