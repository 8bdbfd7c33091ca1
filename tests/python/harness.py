"""What the tests inside gdb share: a stopped program, and a helper that does as it is told."""

import json
import os
import sys
import tempfile
import unittest
from types import FrameType
from typing import Any, Callable, Dict, List

import gdb
from mpi_queues import link
from mpi_queues.helper import Helper

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.environ["TEST_PROGRAMS"]
GDBINIT = os.path.join(HERE, "..", "..", "gdbinit")
FAKE = os.path.join(HERE, "fake_helper.py")

# False in cuda-gdb 11.8 of Debian, which with Python 3.11 prints nothing, and takes no number from
# Python for one.
PRINTS = gdb.Value(1).format_string() == "1"


def takes_several() -> bool:
    """Says whether this gdb can attach to several programs."""
    return "10." not in gdb.VERSION[:3]


def run_program(name: str) -> None:
    """Runs a program up to its stop(), and selects that frame."""
    gdb.execute("set confirm off")
    gdb.execute("file " + os.path.join(PROGRAMS, name), to_string=True)
    try:
        gdb.execute("run </dev/null >/dev/null 2>&1", to_string=True)
    except gdb.error as error:
        if "Unwinder" not in str(error):  # cuda-gdb 11.8 of Debian can't unwind with Python 3.11
            raise


def end_program() -> None:
    """Ends the program, if there is one."""
    if gdb.selected_inferior().pid:
        gdb.execute("kill", to_string=True)


def running_helper() -> Helper:
    """Returns the helper that this gdb has started."""
    helper = link.LINK._running()
    assert isinstance(helper, Helper)
    return helper


def evaluate(expression: str) -> int:
    """Returns an address or number of the program's."""
    return int(gdb.parse_and_eval(expression))


def steps(work: Callable[[], object]) -> int:
    """Returns how many lines of Python a piece of work takes, which no machine changes."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


class HelperTest(unittest.TestCase):
    """A test that starts a fake helper."""

    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="mpi-queues-test-")
        self.log_path = os.path.join(self.folder, "log")
        gdb.execute("set mpi-queues helper " + FAKE)
        gdb.execute("set mpi-queues debug off")
        link.LINK.close()

    def tearDown(self) -> None:
        link.LINK.close()

    def assert_linear(self, work: Callable[[int], object], size: int) -> None:
        """Checks that work on ten times as much takes ten times as many steps, or fewer."""
        small, large = steps(lambda: work(size)), steps(lambda: work(10 * size))
        self.assertLess(large, 12 * small + 1000)

    def fake(self, scenario: str, **arguments: Any) -> None:
        """Says what the helper will do that the next command starts."""
        link.LINK.close()
        self.fake_for_the_next(scenario, **arguments)
        if os.path.exists(self.log_path):
            os.unlink(self.log_path)

    def fake_for_the_next(self, scenario: str, **arguments: Any) -> None:
        """Says what the helper will do that comes after the one that runs."""
        os.environ["FAKE_SCENARIO"] = scenario
        text = json.dumps(arguments)
        if len(text) > 1 << 16:  # more than the environment takes
            path = os.path.join(self.folder, "arguments")
            with open(path, "w") as file:
                file.write(text)
            text = path
        os.environ["FAKE_ARGUMENTS"] = text
        os.environ["FAKE_LOG"] = self.log_path

    def command(self, text: str) -> str:
        """Returns what a command prints."""
        return gdb.execute(text, to_string=True)

    def fails(self, text: str) -> str:
        """Returns the error that a command ends with."""
        with self.assertRaises(gdb.error) as caught:
            gdb.execute(text, to_string=True)
        message = str(caught.exception)
        self.assertNotIn("Traceback", message)
        self.assertNotIn("failed in itself", message)
        return message

    def received(self, mark: str = "<") -> List[Dict[str, Any]]:
        """Returns the messages that the helper received."""
        with open(self.log_path) as file:
            return [json.loads(line[1:]) for line in file if line.startswith(mark)]

    def request(self) -> Dict[str, Any]:
        """Returns the parameters of the last request after the handshake."""
        requests = [m for m in self.received()
                    if m.get("method") not in (None, "initialize", "exited", "cancel")]
        params: Dict[str, Any] = requests[-1]["params"]
        return params

    def answers(self, *calls: Any, **arguments: Any) -> List[Dict[str, Any]]:
        """Returns the answers to call-backs that the helper makes during one command."""
        self.fake("calls", calls=calls, **arguments)
        self.command("mpi-queues")
        return [m for m in self.received() if "method" not in m]

    def results(self, *calls: Any, **arguments: Any) -> List[Any]:
        """Returns the results of call-backs, none of which may fail."""
        answers = self.answers(*calls, **arguments)
        for answer in answers:
            self.assertNotIn("error", answer)
        return [answer["result"] for answer in answers]

    def assert_reaped(self, pid: int) -> None:
        """Checks that a process is gone."""
        self.assertFalse(os.path.exists("/proc/%d" % pid), "process %d is still there" % pid)


class StoppedTest(HelperTest):
    """A test of a program that stands in its stop()."""

    program = "plain"
    gdb_unwinds = True

    @classmethod
    def setUpClass(cls) -> None:
        run_program(cls.program)
        try:
            gdb.selected_frame()
        except gdb.error:
            cls.gdb_unwinds = False

    def select(self, function: str) -> None:
        """Selects the frame of a function."""
        if not self.gdb_unwinds:
            self.skipTest("this gdb can't unwind")
        gdb.execute("frame function " + function, to_string=True)

    def setUp(self) -> None:
        super().setUp()
        self.number = gdb.selected_inferior().num
