"""JSON-RPC 2.0 messages as bytes, framed with Content-Length headers."""

import json
from typing import Any, Dict, Optional

from .errors import BrokenHelper, one_line

Message = Dict[str, Any]

MAX_HEADER = 4096
MAX_BODY = 256 << 20


def encode(message: Message, base64: Optional[bytes] = None) -> bytes:
    """Returns the frame of a message.

    base64 becomes the member "data" of the message's result: json would take ten times as
    long to look for characters to escape in it.
    """
    if base64 is None:
        body = json.dumps(message, separators=(",", ":")).encode()
    else:
        result = {key: value for key, value in message["result"].items() if key != "data"}
        envelope = {key: value for key, value in message.items() if key != "result"}
        body = b"".join((
            json.dumps(envelope, separators=(",", ":")).encode()[:-1], b',"result":',
            json.dumps(result, separators=(",", ":")).encode()[:-1],
            b',"data":"' if result else b'"data":"', base64, b'"}}'))
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class Decoder:
    """Takes bytes as they come and gives messages."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._length: Optional[int] = None

    def feed(self, data: bytes) -> None:
        """Adds bytes."""
        self._bytes += data

    @property
    def pending(self) -> int:
        """How many bytes of an incomplete message there are."""
        return len(self._bytes) + (0 if self._length is None else 1)

    def next(self) -> Optional[Message]:
        """Returns the next message, or None until more bytes have come."""
        if self._length is None:
            end = self._bytes.find(b"\r\n\r\n", 0, MAX_HEADER)
            if end < 0:
                self._refuse_garbage()
                return None
            self._length = _content_length(bytes(self._bytes[:end]))
            del self._bytes[:end + 4]
        if len(self._bytes) < self._length:
            return None
        body = bytes(memoryview(self._bytes)[:self._length])
        del self._bytes[:self._length]
        self._length = None
        return _message(body)

    def _refuse_garbage(self) -> None:
        """Raises BrokenHelper if what has come can't be the start of headers."""
        expected = b"content-"
        start = bytes(self._bytes[:64])
        if len(self._bytes) >= MAX_HEADER or not expected.startswith(
                start.lower()[:len(expected)]):
            raise BrokenHelper("sent something that is no message (%s)" % _quote(start))


def _quote(data: bytes) -> str:
    """Returns the start of data for a sentence."""
    return '"%s"' % one_line(data[:48].decode("ascii", "replace"), 48)


def _content_length(headers: bytes) -> int:
    """Returns the length that a message's headers announce."""
    length: Optional[int] = None
    for line in headers.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if not colon:
            raise BrokenHelper("sent something that is no message (%s)" % _quote(headers))
        if name.strip().lower() == b"content-length":
            digits = value.strip()
            if not digits.isdigit() or len(digits) > 12 or int(digits) > MAX_BODY:
                raise BrokenHelper("sent a message of %s bytes, which can't be"
                                   % one_line(digits.decode("ascii", "replace"), 20))
            length = int(digits)
    if length is None:
        raise BrokenHelper("sent a message without its length (%s)" % _quote(headers))
    return length


def _message(body: bytes) -> Message:
    """Returns the message that a frame's body holds."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BrokenHelper("sent a message that is not JSON (%s)" % one_line(str(error), 80))
    if not isinstance(message, dict):
        raise BrokenHelper("sent a message that is not an object (%s)" % _quote(body))
    return message
