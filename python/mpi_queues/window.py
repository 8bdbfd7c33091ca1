"""The memory file for bulk bytes.

It is read and written with pread and pwrite, which cost the one copy that a mapping costs, and
which fail with an error where a mapping of a file that has become shorter kills gdb.
"""

import base64
import binascii
import os
from typing import Any, List, Optional, Tuple

from . import protocol

# What one message may ask for where there is no window, and the largest window there can be.
MAX_BULK = 64 << 20
MAX_WINDOW = 1 << 30


class Window:
    """Carries bytes past the messages, or inside them when it has no file."""

    def __init__(self, offer: Optional[protocol.Window]) -> None:
        """Opens the file that the helper offers; that it can't be opened is no fault."""
        self._fd = -1
        self.size = 0
        if offer is None or not 0 < offer["size"] <= MAX_WINDOW:
            return
        try:
            fd = os.open(offer["path"], os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        except (OSError, ValueError):
            return
        if os.fstat(fd).st_size < offer["size"]:
            os.close(fd)
            return
        self._fd = fd
        self.size = offer["size"]

    @property
    def capacity(self) -> int:
        """How many bytes one message can carry."""
        return self.size or MAX_BULK

    def close(self) -> None:
        """Gives the file back."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1
        self.size = 0

    def put(self, pieces: List[Any]) -> Optional[bytes]:
        """Hands over pieces of memory, one after the other.

        Returns None when they stand in the file, else their base64 for the message.
        """
        if self._fd >= 0 and self._store(pieces):
            return None
        return base64.b64encode(b"".join(pieces))

    def take(self, length: int, data: Optional[str]) -> Tuple[Optional[bytes], str]:
        """Returns the bytes that a message carries, or None and what is wrong with it."""
        if data:
            try:
                return base64.b64decode(data, validate=True), ""
            except (binascii.Error, ValueError):
                return None, "data is not base64"
        if not 0 <= length <= self.size:
            return None, "length is %d, and the window has %d bytes" % (length, self.size)
        try:
            taken = os.pread(self._fd, length, 0) if length else b""
        except OSError:
            taken = b""
        return (taken, "") if len(taken) == length else (None, "the window is shorter")

    def _store(self, pieces: List[Any]) -> bool:
        """Writes pieces to the start of the file."""
        offset = 0
        try:
            for piece in pieces:
                view = memoryview(piece)
                while view:
                    written = os.pwrite(self._fd, view, offset)
                    view = view[written:]
                    offset += written
        except OSError:
            return False
        return True
