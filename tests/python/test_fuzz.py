"""Whatever the helper sends ends as a result or a sentence.

Messages are made at random, each of a seed that a failure names. MPI_QUEUES_FUZZ_SEEDS in the
environment says how many seeds there are.
"""

import copy
import os
import random
import socket
import tempfile
import unittest
from typing import Any, Dict, List, Optional, Tuple

import gdb
from harness import end_program, evaluate, run_program
from mpi_queues import protocol
from mpi_queues.channel import Channel
from mpi_queues.errors import Failure
from mpi_queues.exchange import Exchange, InvalidParams, UnknownMethod
from mpi_queues.framing import encode
from mpi_queues.interrupts import held
from mpi_queues.output import Buffer
from mpi_queues.peer import Peer
from mpi_queues.services import Services
from mpi_queues.window import Window

SEEDS = int(os.environ.get("MPI_QUEUES_FUZZ_SEEDS", "1500"))
REQUEST = 7
WINDOW = 1 << 16

# What may stand anywhere instead of what should.
STRANGE: List[Any] = [
    None, True, -1, 0, 1 << 31, 1 << 63, (1 << 64) - 1, 1 << 70, 1.5, 1e308, "", "x", "x" * 5000,
    "\x1b[2J\u202e\ud800", "4", [], {}, [[]], [None], [1, "a"], {"a": 1}, [{}] * 50]


def setUpModule() -> None:
    """Starts the program that is asked for."""
    run_program("plain")


def tearDownModule() -> None:
    """Ends it."""
    end_program()


def honest(memory: int) -> List[Dict[str, Any]]:
    """Returns what a helper sends."""
    inferior = gdb.selected_inferior().num
    calls: List[Tuple[str, Any]] = [
        (protocol.METHOD_READ_MEMORY, {"inferior": inferior, "ranges": [
            {"address": memory, "length": 64}, {"address": memory & ~4095, "length": 4096}]}),
        (protocol.METHOD_FIND_SYMBOLS, {"inferior": inferior, "names": ["main", "stop", "no"]}),
        (protocol.METHOD_FIND_TYPES, {"inferior": inferior, "types": [
            {"name": "int", "fields": []}, {"name": "struct", "fields": ["a.b"]}]}),
        (protocol.METHOD_LIST_THREADS, {"inferior": inferior, "depth": 8, "variables": ["a"]}),
        (protocol.METHOD_WRITE, {"stream": "display", "length": 0, "data": "YQ==", "last": False}),
        (protocol.METHOD_WRITE, {"stream": "display", "length": 9, "data": None, "last": True}),
        (protocol.METHOD_PROGRESS, {"message": "reading"}),
        ("no/method", {}),
    ]
    return [{"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            for number, (method, params) in enumerate(calls)]


def places(value: Any) -> List[Tuple[Any, Any]]:
    """Returns all places in a message: what they are in, and under which key."""
    found: List[Tuple[Any, Any]] = []
    keys: Any = ()
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        found.append((value, key))
        found.extend(places(value[key]))
    return found


def strange(message: Dict[str, Any], luck: random.Random) -> Dict[str, Any]:
    """Returns a message of which a few things are not as they should be."""
    message = copy.deepcopy(message)
    for _ in range(luck.randrange(3)):
        where = places(message)
        if not where:
            break
        inside, key = luck.choice(where)
        if luck.random() < 0.2:
            del inside[key]
        else:
            inside[key] = copy.deepcopy(luck.choice(STRANGE))
    return message


def stream(memory: int, luck: random.Random) -> bytes:
    """Returns what a helper sends for one request, well or badly."""
    messages = [strange(luck.choice(honest(memory)), luck) for _ in range(luck.randrange(6))]
    messages.append(strange({"jsonrpc": "2.0", "id": REQUEST, "result": {
        "round_trips": 3, "bytes_read": 4096, "seconds": 0.25}}, luck))
    if luck.random() < 0.2:
        messages.append(strange({"jsonrpc": "2.0", "id": REQUEST, "error": {
            "code": luck.choice([1, 2, 3, 4, -32603]), "message": "why"}}, luck))
        luck.shuffle(messages)
    data = bytearray(b"".join(encode(message) for message in messages))
    for _ in range(luck.choice([0, 0, 0, 1, 3])):
        at = luck.randrange(len(data) + 1)
        what = luck.randrange(3)
        if what == 0:
            data[at:at + 1] = bytes([luck.randrange(256)])
        elif what == 1:
            del data[at:at + luck.randrange(40)]
        else:
            data[at:at] = luck.choice([b"\r\n\r\n", b"Content-Length: 9\r\n\r\n", b"{", b"\0" * 9])
    return bytes(data)


class FuzzTest(unittest.TestCase):
    """Everything that can come to this end of the protocol."""

    def setUp(self) -> None:
        file = tempfile.NamedTemporaryFile()
        self.addCleanup(file.close)
        file.write(os.urandom(WINDOW))
        file.flush()
        self.window = Window({"path": file.name, "size": WINDOW})
        self.addCleanup(self.window.close)

    def converse(self, data: bytes) -> Optional[str]:
        """Returns the sentence that a request ends with to which a helper sends data, if any."""
        here, there = socket.socketpair()
        with here, there, held():
            there.sendall(data)
            there.shutdown(socket.SHUT_WR)
            peer = Peer("helper", Channel(os.dup(here.fileno()), os.dup(here.fileno())))
            services = Services(Buffer(), lambda: self.window)
            faults: List[Exception] = []

            def serve(method: str, params: Any) -> Any:
                try:
                    return services.serve(method, params)
                except (UnknownMethod, InvalidParams, Failure, gdb.error):
                    raise
                except Exception as fault:
                    faults.append(fault)
                    raise

            try:
                result = Exchange(peer, REQUEST, serve).run("queues", {}, protocol.Result)
                self.assertIsInstance(result["round_trips"], int)
                sentence = None
            except (Failure, gdb.error) as failure:
                sentence = str(failure)
            finally:
                services.end(False)
                peer.end()
            self.assertEqual(faults, [])
        return sentence

    def test_any_stream(self) -> None:
        memory = evaluate("(long) &main")
        ended = {True: 0, False: 0}
        for seed in range(SEEDS):
            data = stream(memory, random.Random(seed))
            with self.subTest(seed=seed):
                sentence = self.converse(data)
                ended[sentence is None] += 1
                if sentence is not None:
                    self.assertTrue(sentence.strip())
        self.assertGreater(min(ended.values()), SEEDS // 50, "the messages are all of one kind")
