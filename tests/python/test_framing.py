"""Messages as bytes."""

import time
from typing import Any, Dict, List

from harness import HelperTest
from mpi_queues import framing
from mpi_queues.errors import BrokenHelper


class FramingTest(HelperTest):
    """Messages as bytes."""

    def test_pieces(self) -> None:
        message = {"jsonrpc": "2.0", "id": 1, "result": {"text": "\u00e9\n"}}
        data = framing.encode(message) * 3
        decoder = framing.Decoder()
        got = []
        for index in range(len(data)):
            decoder.feed(data[index:index + 1])
            found = decoder.next()
            if found is not None:
                got.append(found)
        self.assertEqual(got, [message] * 3)
        self.assertEqual(decoder.pending, 0)

    def test_base64(self) -> None:
        results: List[Dict[str, Any]] = [{"readable": [1], "data": None}, {"data": None}]
        for result in results:
            decoder = framing.Decoder()
            decoder.feed(framing.encode({"jsonrpc": "2.0", "id": 1, "result": result}, b"YQ=="))
            found = decoder.next()
            assert found
            self.assertEqual(found["result"], dict(result, data="YQ=="))

    def test_long_message_is_quick(self) -> None:
        data = b"x" * (8 << 20)
        frame = b"Content-Length: %d\r\n\r\n" % (len(data) + 2) + b'"' + data + b'"'
        decoder = framing.Decoder()
        began = time.monotonic()
        with self.assertRaises(BrokenHelper):
            for start in range(0, len(frame), 1 << 16):
                decoder.feed(frame[start:start + (1 << 16)])
                decoder.next()
        self.assertLess(time.monotonic() - began, 2)
