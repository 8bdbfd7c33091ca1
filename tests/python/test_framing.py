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

    def test_long_message(self) -> None:
        """Eight times the length takes far less than 64 times as long."""
        def decode(size: int) -> float:
            data = b"x" * size
            frame = b"Content-Length: %d\r\n\r\n" % (len(data) + 2) + b'"' + data + b'"'
            decoder = framing.Decoder()
            began = time.process_time()
            with self.assertRaises(BrokenHelper):
                for start in range(0, len(frame), 1 << 12):
                    decoder.feed(frame[start:start + (1 << 12)])
                    decoder.next()
            return time.process_time() - began

        small, large = (min(decode(size) for _ in range(3)) for size in (1 << 20, 8 << 20))
        self.assertLess(large, 32 * small)
