#!/usr/bin/env python3
"""A helper that keeps to the protocol, or does not, as FAKE_SCENARIO in the environment says."""

import base64
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from typing import Any, Callable, Dict, List, NoReturn, Optional


def arguments() -> Dict[str, Any]:
    """Returns everything a scenario is told beside its name, in the environment or in a file."""
    text = os.environ.get("FAKE_ARGUMENTS", "{}")
    if text.startswith("/"):
        with open(text) as file:
            text = file.read()
    told: Dict[str, Any] = json.loads(text)
    return told


ARGUMENTS = arguments()
RESULT = {"round_trips": 3, "bytes_read": 4096, "seconds": 0.25}
SCENARIOS: Dict[str, Callable[[], None]] = {}
CANCELLED: List[Dict[str, Any]] = []
NUMBERS = itertools.count(77)


def scenario(function: Callable[[], None]) -> Callable[[], None]:
    """Registers a scenario under its function's name."""
    SCENARIOS[function.__name__] = function
    return function


def send_raw(data: bytes) -> None:
    """Sends bytes."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def frame(message: Any) -> bytes:
    """Returns the frame of a message."""
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def send(message: Any) -> None:
    """Sends a message."""
    send_raw(frame(message))


def receive() -> Dict[str, Any]:
    """Returns the next message but for those that only tell of processes that have gone."""
    while True:
        message = receive_any()
        if message.get("method") != "exited":
            return message


def receive_any() -> Dict[str, Any]:
    """Returns the next message; ends the process when there is none."""
    length = 0
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            sys.exit(0)
        if line == b"\r\n":
            break
        length = int(line.split(b":")[1])
    message: Dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
    log("<", message)
    return message


def log(mark: str, message: Any) -> None:
    """Adds to the file that the test reads."""
    path = os.environ.get("FAKE_LOG")
    if path:
        with open(path, "a") as file:
            file.write(mark + json.dumps(message) + "\n")


def reply(request: Dict[str, Any], result: Any) -> None:
    """Answers a request."""
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def refuse(request: Dict[str, Any], code: Any, message: Any) -> None:
    """Answers a request with an error."""
    send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})


def call(method: str, params: Any) -> Dict[str, Any]:
    """Calls back, and returns the answer. A cancellation can come before it."""
    send({"jsonrpc": "2.0", "id": next(NUMBERS), "method": method, "params": params})
    while True:
        answer = receive()
        if "method" not in answer:
            return answer
        CANCELLED.append(answer)


def notify(method: str, params: Any) -> None:
    """Sends a notification."""
    send({"jsonrpc": "2.0", "method": method, "params": params})


def await_cancellation() -> None:
    """Waits to be cancelled, unless that has come already."""
    message = CANCELLED.pop() if CANCELLED else receive()
    assert message["method"] == "cancel", message


def show(text: str) -> Dict[str, Any]:
    """Shows text to the user."""
    data = base64.b64encode(text.encode()).decode()
    return call("output/write", {"stream": "display", "length": 0, "data": data, "last": False})


def make_window() -> Optional[Dict[str, Any]]:
    """Makes the window that the arguments ask for."""
    size = ARGUMENTS.get("window")
    if size is None:
        return None
    path: str = ARGUMENTS["window_path"]
    if not ARGUMENTS.get("window_absent"):
        with open(path, "wb") as file:
            file.write(ARGUMENTS.get("window_content", "").encode())
            file.truncate(max(0, ARGUMENTS.get("window_true_size", size)))
    return {"path": path, "size": size}


def handshake() -> None:
    """Answers the first request."""
    request = receive()
    assert request["method"] == "initialize", request
    reply(request, {"protocol": request["params"]["protocol"] + ARGUMENTS.get("newer", 0),
                    "version": "fake", "window": make_window()})


def die(text: str, status: int) -> NoReturn:
    """Ends the process with a word on its standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
    os._exit(status)


def answer(request: Dict[str, Any]) -> None:
    """Answers a request with what the arguments have for its method."""
    reply(request, ARGUMENTS.get(request["method"], RESULT))


@scenario
def good() -> None:
    """Answers every request at once."""
    handshake()
    while True:
        answer(receive())


@scenario
def calls() -> None:
    """Makes the calls of the arguments, then answers."""
    handshake()
    while True:
        request = receive()
        if request["method"] == "cancel":
            continue  # it has crossed the answer
        for method, params in ARGUMENTS["calls"]:
            answered = call(method, params)
            path = ARGUMENTS.get("window_path")
            found = answered.get("result")
            if path and found and found.get("readable") and found["data"] is None:
                with open(path, "rb") as file:
                    count = sum(found["readable"])
                    log("w", base64.b64encode(file.read(count)).decode())
        answer(request)


@scenario
def handles() -> None:
    """Makes the calls of the arguments, then says of each handle its kind and value."""
    handshake()
    while True:
        request = receive()
        if request["method"] != "handles":
            answer(request)
            continue
        for method, params in ARGUMENTS.get("calls", ()):
            call(method, params)
        reply(request, {"handles": [told(handle) for handle in request["params"]["handles"]],
                        "cost": RESULT})


def told(handle: Dict[str, Any]) -> Dict[str, Any]:
    """Says what a handle stands for: nothing if its value is 0xdead."""
    summary = "%s %d\u00e9" % (handle["kind"], handle["value"])
    return {"summary": "" if handle["value"] == 0xdead else summary,
            "parts": [{"name": "local rank", "text": "2"}, {"name": "kind", "text": "intra"}],
            "rank": None if handle["value"] == 0xdead else handle["value"], "size": 8}


@scenario
def result() -> None:
    """Answers with the result of the arguments."""
    handshake()
    reply(receive(), ARGUMENTS["result"])
    receive()


@scenario
def error() -> None:
    """Answers with the error of the arguments."""
    handshake()
    while True:
        refuse(receive(), ARGUMENTS["code"], ARGUMENTS["message"])


@scenario
def raw() -> None:
    """Answers with the bytes of the arguments, and ends if they say so."""
    handshake()
    receive()
    send_raw(base64.b64decode(ARGUMENTS["bytes"]))
    if ARGUMENTS.get("end"):
        die("the end", 0)
    receive()


@scenario
def raw_at_start() -> None:
    """Answers the first request with the bytes of the arguments."""
    receive()
    send_raw(base64.b64decode(ARGUMENTS["bytes"]))
    receive()


@scenario
def die_at_start() -> None:
    """Ends before the handshake."""
    die("first\nsecond\nlib.so: undefined symbol", 3)


@scenario
def silent_at_start() -> None:
    """Never answers the handshake."""
    receive()
    time.sleep(1000)


@scenario
def refuse_at_start() -> None:
    """Answers the handshake with an error."""
    refuse(receive(), ARGUMENTS["code"], ARGUMENTS["message"])
    receive()


@scenario
def crash() -> None:
    """Is killed by a signal while a request is pending."""
    handshake()
    receive()
    sys.stderr.write("about to crash\n")
    sys.stderr.flush()
    os.kill(os.getpid(), getattr(signal, ARGUMENTS.get("signal", "SIGKILL")))


@scenario
def leave_behind() -> None:
    """Ends by itself, as a crash does, and leaves a child running that has its group."""
    handshake()
    receive()
    child = subprocess.Popen(["/bin/sleep", "1000"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log("!", {"child": child.pid})
    os.kill(os.getpid(), signal.SIGKILL)


@scenario
def wrong_id() -> None:
    """Answers a request that was not made."""
    handshake()
    receive()
    send({"jsonrpc": "2.0", "id": ARGUMENTS["id"], "result": RESULT})
    receive()


@scenario
def die_between() -> None:
    """Answers one request and ends."""
    handshake()
    reply(receive(), RESULT)
    os._exit(0)


@scenario
def die_unheard() -> None:
    """Serves one request, and ends when the next one comes."""
    handshake()
    reply(receive(), RESULT)
    receive()


@scenario
def deaf_between() -> None:
    """Answers one request and reads no more until there is a file, then as ever."""
    handshake()
    while True:
        reply(receive(), RESULT)
        while not os.path.exists(ARGUMENTS["until"]):
            time.sleep(0.01)


@scenario
def chatter_between() -> None:
    """Sends something when nobody has asked."""
    handshake()
    request = receive()
    send_raw(frame({"jsonrpc": "2.0", "id": request["id"], "result": RESULT}) + b"noise")
    receive()


@scenario
def silent() -> None:
    """Never answers a request."""
    handshake()
    receive()
    time.sleep(1000)


@scenario
def obedient() -> None:
    """Waits to be cancelled."""
    handshake()
    request = receive()
    show("WAITING\n")
    await_cancellation()
    refuse(request, 2, "cancelled")
    while True:
        request = receive()
        show("AGAIN\n")
        reply(request, RESULT)


@scenario
def stubborn() -> None:
    """Does not stop when cancelled."""
    handshake()
    receive()
    show("WAITING\n")
    await_cancellation()
    time.sleep(1000)


@scenario
def spam() -> None:
    """Goes on sending when cancelled."""
    handshake()
    receive()
    show("WAITING\n")
    await_cancellation()
    while True:
        send_raw(frame({"jsonrpc": "2.0", "method": "progress", "params": {"message": "."}}) * 9999)


@scenario
def deaf() -> None:
    """Asks for more than a pipe holds and does not read it."""
    handshake()
    receive()
    found = call("symbols/find", {"inferior": 1, "names": ["main"]})["result"]["symbols"][0]
    log("p", {"method": "deaf", "pid": os.getpid()})
    page = {"address": found["address"] & ~4095, "length": 4096}
    send({"jsonrpc": "2.0", "id": 5, "method": "memory/read",
          "params": {"inferior": 1, "ranges": [page] * 64}})
    time.sleep(1000)


@scenario
def flood() -> None:
    """Shows many lines, in pieces, until it is cancelled."""
    handshake()
    while True:
        request = receive()
        lines: List[str] = ["line %d\n" % i for i in range(ARGUMENTS.get("lines", 10000))]
        for start in range(0, len(lines), 1000):
            answer = show("".join(lines[start:start + 1000]))
            if "error" in answer:
                refuse(request, 2, "cancelled")
                break
        else:
            reply(request, RESULT)


@scenario
def progress() -> None:
    """Reports progress."""
    handshake()
    request = receive()
    for count in range(1, 6):
        notify("progress", {"message": "step %d" % count})
    show("RESULT\n")
    reply(request, RESULT)
    receive()


@scenario
def child_fds() -> None:
    """Shows what it was started with."""
    handshake()
    while True:
        request = receive()
        fds = sorted(int(fd) for fd in os.listdir("/proc/self/fd"))
        show(json.dumps({"fds": fds, "sid": os.getsid(0), "pid": os.getpid(),
                         "debug": os.environ.get("MPI_QUEUES_DEBUG"),
                         "blocked": len(signal.pthread_sigmask(signal.SIG_BLOCK, ()))}) + "\n")
        sys.stderr.write("a word of the log\n")
        sys.stderr.flush()
        reply(request, RESULT)


SCENARIOS[os.environ.get("FAKE_SCENARIO", "good")]()
