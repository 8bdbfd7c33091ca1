"""A gdb on a terminal of its own, driven as a user does: what is waited for is a condition."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import termios
import time
from typing import Any, Callable, Dict, List

HERE = os.path.dirname(os.path.abspath(__file__))
GDBINIT = os.path.join(HERE, "..", "..", "gdbinit")
FAKE = os.path.join(HERE, "fake_helper.py")
PATIENCE = 600.0


class Terminal:
    """gdb with the extension and a stopped program."""

    def __init__(self, scenario: str, log: str, term: str = "xterm-256color",
                 **arguments: Any) -> None:
        self.log = log
        self.seen = ""
        environment: Dict[str, str] = dict(os.environ)
        environment.update(TERM=term, FAKE_SCENARIO=scenario, FAKE_LOG=log,
                           FAKE_ARGUMENTS=json.dumps(arguments), INPUTRC="/dev/null")
        program = os.path.join(os.environ["TEST_PROGRAMS"], "plain")
        self.pid, self.fd = pty.fork()
        if not self.pid:
            gdb = os.environ["TEST_GDB"]
            commands = ["set prompt \\nPROMPT>", "set confirm off", "set width 0", "set height 0",
                        "source " + GDBINIT, "set mpi-queues helper " + FAKE, "starti"]
            line = [gdb, "-nx", "-q"] + [a for c in commands for a in ("-ex", c)] + [program]
            try:
                os.execvpe(gdb, line, environment)
            finally:
                os._exit(127)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
        self.expect("PROMPT>")

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: Any) -> None:
        try:
            os.kill(self.pid, signal.SIGKILL)
        except OSError:
            pass
        os.close(self.fd)
        os.waitpid(self.pid, 0)

    def send(self, text: str) -> None:
        """Types."""
        os.write(self.fd, text.encode())

    def read(self, seconds: float) -> bool:
        """Takes what gdb has written; says whether there was anything."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            data = b""
        if not data:
            raise AssertionError("gdb has ended; it wrote %r" % self.seen[-2000:])
        self.seen += data.decode("utf-8", "replace")
        return True

    def expect(self, text: str) -> str:
        """Waits for text; returns what came before it."""
        self.wait(lambda: text in self.seen, "%r" % text)
        before, self.seen = self.seen.split(text, 1)
        return before

    def wait(self, condition: Callable[[], bool], what: str = "a condition") -> None:
        """Waits for a condition while gdb's output is taken."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError("%s did not come: %r" % (what, self.seen[-2000:]))
            self.read(0.05)

    def command(self, text: str) -> str:
        """Returns what a command writes."""
        self.send(text + "\n")
        return self.expect("PROMPT>")

    def received(self, method: str) -> List[Dict[str, Any]]:
        """Returns the requests of a method that the helper has received."""
        if not os.path.exists(self.log):
            return []
        with open(self.log) as file:
            messages = [json.loads(line[1:]) for line in file if line.endswith("\n")]
        return [m for m in messages if isinstance(m, dict) and m.get("method") == method]
