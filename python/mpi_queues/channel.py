"""The two pipes to the helper, or the socket, none of which can block gdb."""

import os
import select
import time
from typing import List, Optional

from . import interrupts
from .errors import Ended
from .framing import Decoder, Message

_CHUNK = 1 << 20

# Also without a signal in this thread Python looks this often whether it has been interrupted.
_GLANCE = 0.25


class Channel:
    """Sends frames and receives messages. To be used inside interrupts.held()."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._decoder = Decoder()
        self._outgoing: List[memoryview] = []
        os.set_blocking(read_fd, False)
        os.set_blocking(write_fd, False)
        self._both = select.poll()
        self._both.register(read_fd, select.POLLIN)
        self._both.register(write_fd, select.POLLOUT)
        self._incoming = select.poll()
        self._incoming.register(read_fd, select.POLLIN)

    @classmethod
    def inherited(cls, descriptor: int) -> "Channel":
        """Takes a socket for its own that this process was started with as a descriptor.

        What gdb starts from now on does not inherit it, and finds nothing in its place.
        """
        both = os.dup(descriptor), os.dup(descriptor)  # which no child inherits
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, descriptor)
        os.close(nothing)
        return cls(*both)

    def close(self) -> None:
        """Closes both pipes."""
        os.close(self._read_fd)
        os.close(self._write_fd)

    def send(self, frame: bytes) -> None:
        """Sends a frame, or as much of it as the pipe takes; receive() sends the rest."""
        self._outgoing.append(memoryview(frame))
        self._flush()

    def receive(self, deadline: Optional[float]) -> Optional[Message]:
        """Returns the next message, or None when time.monotonic() has reached the deadline.

        Raises KeyboardInterrupt on Ctrl-C, with which nothing is lost, and BrokenHelper.
        """
        while True:
            message = self._decoder.next()
            if message is not None:
                return message
            wait = _GLANCE
            if deadline is not None:
                wait = min(wait, deadline - time.monotonic())
                if wait <= 0:
                    return None
            poller = self._both if self._outgoing else self._incoming
            ready = interrupts.allow(poller.poll, wait * 1000)
            if self._outgoing:
                self._flush()
            if any(fd == self._read_fd for fd, _ in ready):
                self._read()

    def is_quiet(self) -> bool:
        """Says whether the helper is between requests: it is there, has sent nothing, and has
        received all that was sent to it."""
        try:
            self._flush()
        except Ended:
            return False
        return not self._decoder.pending and not self._outgoing and not self._incoming.poll(0)

    def _read(self) -> None:
        """Reads what has arrived."""
        try:
            data = os.read(self._read_fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            raise Ended("ended in the middle of a message" if self._decoder.pending else "ended")
        self._decoder.feed(data)

    def _flush(self) -> None:
        """Writes as much as the pipe takes without blocking."""
        while self._outgoing:
            frame = self._outgoing[0]
            try:
                sent = os.write(self._write_fd, frame)
            except BlockingIOError:
                return
            except OSError:
                raise Ended("ended")
            if sent == len(frame):
                del self._outgoing[0]
            else:
                self._outgoing[0] = frame[sent:]
