"""The conversation with the helper, and everything that can go wrong in it."""

import base64
import json
import os
import shutil
import signal
import subprocess
import time
from typing import Any, List, Tuple
from unittest import mock

import gdb
from harness import FAKE, GDBINIT, HelperTest, end_program, run_program, running_helper
from mpi_queues import link, protocol


def setUpModule() -> None:
    """Starts the program that the commands are for."""
    run_program("plain")


def tearDownModule() -> None:
    """Ends it."""
    end_program()


def encoded(data: bytes) -> str:
    """Returns bytes as an argument of a scenario."""
    return base64.b64encode(data).decode()


def fork_count() -> int:
    """Returns how many children this gdb has that are no debuggee."""
    children = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())],
                              stdout=subprocess.PIPE, text=True).stdout
    return sum("fake_helper" in line or "defunct" in line for line in children.splitlines()
               if " ps " not in line and "[ps]" not in line)


class LifeTest(HelperTest):
    """When the helper starts and ends."""

    def fds(self) -> Any:
        """Returns what the helper says of itself."""
        return json.loads(self.command("mpi-queues"))

    def test_one_helper_serves_several_commands(self) -> None:
        self.fake("child_fds")
        first = self.fds()
        self.assertEqual(first["pid"], self.fds()["pid"])

    def test_helper_is_apart(self) -> None:
        self.fake("child_fds")
        helper = self.fds()
        self.assertEqual(helper["sid"], helper["pid"])
        self.assertLessEqual(set(helper["fds"]), {0, 1, 2, 3}, "fds of gdb's were inherited")
        self.assertIsNone(helper["debug"])
        self.assertEqual(helper["blocked"], 0)

    def test_debuggees_inherit_nothing(self) -> None:
        self.fake("good")
        self.command("mpi-queues")
        for fd in os.listdir("/proc/self/fd"):
            try:
                target = os.readlink("/proc/self/fd/" + fd)
            except OSError:
                continue
            if "pipe" in target or "deleted" in target:
                self.assertFalse(int(fd) > 2 and "mpi" in target and os.get_inheritable(int(fd)))
        helper = running_helper()
        process = helper._process
        assert process.stdin and process.stdout
        for file in (process.stdin, process.stdout, helper._log):
            self.assertFalse(os.get_inheritable(file.fileno()))

    def test_restart_when_replaced(self) -> None:
        copy = os.path.join(self.folder, "helper")
        shutil.copy(FAKE, copy)
        gdb.execute("set mpi-queues helper " + copy)
        self.fake("child_fds")
        first = self.fds()["pid"]
        self.assertEqual(first, self.fds()["pid"])
        shutil.copy(FAKE, copy + ".new")
        os.replace(copy + ".new", copy)
        self.assertNotEqual(first, self.fds()["pid"])
        self.assert_reaped(first)

    def test_restart_when_named_otherwise(self) -> None:
        self.fake("child_fds")
        first = self.fds()["pid"]
        copy = os.path.join(self.folder, "helper")
        shutil.copy(FAKE, copy)
        gdb.execute("set mpi-queues helper " + copy)
        self.assertNotEqual(first, self.fds()["pid"])

    def test_debug_restarts_and_shows_the_log(self) -> None:
        self.fake("child_fds")
        first = self.fds()["pid"]
        gdb.execute("set mpi-queues debug on")
        lines = self.command("mpi-queues").splitlines()
        second = json.loads(lines[0])
        self.assertNotEqual(first, second["pid"])
        self.assertEqual(second["debug"], "1")
        self.assertIn("a word of the log", lines)
        self.assertEqual(lines[-1], "mpi-queues: 3 round trips, 4096 bytes read, 0.250 s")
        again = self.command("mpi-queues")
        self.assertEqual(again.count("a word of the log"), 1)

    def test_dead_between_commands(self) -> None:
        self.fake("die_between")
        self.command("mpi-queues")
        running_helper()._process.wait()
        self.command("mpi-queues")

    def test_dead_before_it_hears(self) -> None:
        """What ends while a command comes has ended between two commands."""
        self.fake("die_unheard")
        self.command("mpi-queues")
        first = link.LINK._running().pid
        self.command("mpi-queues")
        self.assertNotEqual(first, link.LINK._running().pid)
        self.assert_reaped(first)

    def test_chatter_between_commands(self) -> None:
        self.fake("chatter_between")
        self.command("mpi-queues")
        first = link.LINK._running().pid
        self.command("mpi-queues")
        self.assertNotEqual(first, link.LINK._running().pid)

    def test_ends_with_gdb(self) -> None:
        self.fake("good")
        script = ("python import os; os.environ.update(%r)\nset mpi-queues helper %s\nfile %s\n"
                  "starti >/dev/null\nmpi-queues\npython from mpi_queues import link;"
                  " print('PID', link.LINK._running().pid)\n"
                  % ({"FAKE_SCENARIO": "good"}, FAKE, os.environ["TEST_PROGRAMS"] + "/plain"))
        path = os.path.join(self.folder, "script")
        with open(path, "w") as file:
            file.write(script)
        output = subprocess.run(
            [os.environ["TEST_GDB"], "-nx", "-batch", "-x", GDBINIT, "-x", path],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            stdin=subprocess.DEVNULL).stdout
        pid = [line for line in output.splitlines() if line.startswith("PID")]
        self.assertTrue(pid, output)
        self.assert_reaped(int(pid[0].split()[1]))

    def test_the_program_goes_on(self) -> None:
        """gdb waits for its children too, and may reap a helper that ends meanwhile."""
        self.fake("die_between")
        self.command("mpi-queues")
        run_program("plain")
        self.command("mpi-queues")
        self.fake("crash")
        self.fails("mpi-queues")
        run_program("plain")


class FaultTest(HelperTest):
    """What the helper does wrong."""

    def check(self, command: str, *expected: str) -> str:
        """Checks the sentence that a command ends with, and that the next one works."""
        message = self.fails(command)
        self.check_message(message, *expected)
        return message

    def check_message(self, message: str, *expected: str) -> None:
        """Checks the sentence that a command has ended with, and that the next one works."""
        for part in (FAKE,) + expected:
            self.assertIn(part, message)
        self.assertIsNone(link.LINK._helper)
        self.assertEqual(fork_count(), 0)
        self.fake("good")
        self.command("mpi-queues")

    def check_raw(self, data: bytes, *expected: str, end: bool = False) -> None:
        """Checks what bytes of the helper's lead to, in a request and in the handshake."""
        self.fake("raw", bytes=encoded(data), end=end)
        self.check("mpi-queues", *expected)
        if not end:
            self.fake("raw_at_start", bytes=encoded(data))
            self.check("mpi-queues", *expected)

    def test_dies_at_start(self) -> None:
        self.fake("die_at_start")
        message = self.check("mpi-queues", "exit status 3", "undefined symbol",
                             "The next command starts a fresh one")
        self.assertIn("\n  first\n  second\n", message)

    def test_silent_at_start(self) -> None:
        with mock.patch.object(link, "HANDSHAKE_SECONDS", 0.3):
            self.fake("silent_at_start")
            message = self.fails("mpi-queues")
        self.check_message(message, "did not answer within 0 seconds of its start")

    def test_no_program(self) -> None:
        gdb.execute("set mpi-queues helper /nonexistent/helper")
        self.assertIn("set mpi-queues helper", self.fails("mpi-queues"))
        path = os.path.join(self.folder, "data")
        with open(path, "w") as file:
            file.write("not a program")
        os.chmod(path, 0o755)
        gdb.execute("set mpi-queues helper " + path)
        self.assertIn("could not be started", self.fails("mpi-queues"))

    def test_other_version(self) -> None:
        self.fake("good", newer=1)
        ours = protocol.PROTOCOL_VERSION
        self.check("mpi-queues", "version %d of the protocol" % (ours + 1), "version %d" % ours,
                   "go install")
        self.fake("refuse_at_start", code=3, message="I speak 9")
        self.check("mpi-queues", "I speak 9", "go install")

    def test_refused_at_start(self) -> None:
        self.fake("refuse_at_start", code=-32603, message="internal\x1b[31m error")
        self.check("mpi-queues", "did not begin", "internal [31m error")

    def test_crash(self) -> None:
        self.fake("crash")
        self.check("mpi-queues", "ended (killed by SIGKILL)", "about to crash")
        self.fake("crash", signal="SIGSEGV")
        self.check("info mpi", "SIGSEGV")

    def test_crash_leaves_nothing_behind(self) -> None:
        self.fake("leave_behind")
        self.assertIn("ended (killed by SIGKILL)", self.fails("mpi-queues"))
        child = self.received("!")[0]["child"]
        for _ in range(1000):  # init reaps it
            try:
                with open("/proc/%d/stat" % child) as file:
                    if file.read().rpartition(")")[2].split()[0] == "Z":
                        return
            except OSError:
                return
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        self.fail("process %d runs on" % child)

    def test_end_in_the_middle(self) -> None:
        self.check_raw(b"Content-Length: 100\r\n\r\n{", "in the middle of a message", "the end",
                       end=True)
        self.check_raw(b"Content-Le", "in the middle of a message", end=True)
        self.check_raw(b"Content-Length: 100\r\n\r\n", "in the middle of a message", end=True)

    def test_garbage(self) -> None:
        self.check_raw(b"warning: something printed\n", "no message", "warning: something printed")
        self.check_raw(b"\x7fELF\0\0\0\xff", "no message")
        self.check_raw(b"\r\n\r\n", "no message")

    def test_headers(self) -> None:
        self.check_raw(b"Content-Type: " + b"x" * 5000, "no message")
        self.check_raw(b"Content-Type: json\r\n\r\n{}", "without its length")
        self.check_raw(b"Content-Length: -5\r\n\r\n{}", "message of -5 bytes")
        self.check_raw(b"Content-Length: 1e3\r\n\r\n{}", "message of 1e3 bytes")
        self.check_raw(b"Content-Length: \r\n\r\n{}", "message of  bytes")
        self.check_raw(b"Content-Length: 268435457\r\n\r\n{}", "message of 268435457 bytes")
        self.check_raw(b"Content-Length: %s\r\n\r\n{}" % (b"9" * 2000), "message of 9999")
        self.check_raw(b"Content-Length: 2\r\nnonsense\r\n\r\n{}", "no message")

    def test_bodies(self) -> None:
        for body, expected in ((b"", "not JSON"), (b"{", "not JSON"), (b"\xff\xfe\xfd", "not JSON"),
                               (b"[" * 50000, "not JSON"), (b"[1]", "not an object"),
                               (b"null", "not an object"), (b"17", "not an object"),
                               (b"{}", "was not made")):
            self.check_raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body), expected)

    def test_ids(self) -> None:
        numbers: List[Any] = [999, None, "1", [], -1, 1.5]
        for number in numbers:
            self.fake("wrong_id", id=number)
            self.check("mpi-queues", "was not made")

    def test_calls_that_are_none(self) -> None:
        for message in ({"id": 1, "method": 5}, {"id": [], "method": "memory/read"},
                        {"id": 1, "method": None}):
            body = json.dumps(message).encode()
            self.check_raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body), "that is none")

    def test_call_that_comes_twice(self) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": 5, "method": "output/write", "params": {
            "stream": "display", "length": 0, "data": "", "last": False}}).encode()
        self.fake("raw", bytes=encoded(
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body) * 2))
        self.check("mpi-queues", "sent a request twice")

    def test_request_that_is_not_taken(self) -> None:
        """A helper that is somewhere else in the conversation is ended."""
        self.fake("error", code=-32600, message="a request is under way")
        self.check("mpi-queues", "did not take a request (a request is under way)")

    def test_results(self) -> None:
        results: List[Any] = [None, 5, "text", [], {}, {"round_trips": "3"},
                              {"round_trips": 3, "bytes_read": True, "seconds": 1}]
        for wrong in results:
            self.fake("result", result=wrong)
            self.check("mpi-queues", "nonsense")

    def test_errors(self) -> None:
        for code, message in ((None, "x"), (1, None), ("1", "x"), (1, ""), (4, " \n")):
            self.fake("error", code=code, message=message)
            self.check("mpi-queues", "an error that is none")

    def test_refusals(self) -> None:
        for code in (1, 4):
            self.fake("error", code=code, message="There is no communicator \"x\".")
            self.assertEqual(self.fails("mpi-queues"), "There is no communicator \"x\".")
            pid = link.LINK._running().pid
            self.fails("mpi-queues")
            self.assertEqual(pid, link.LINK._running().pid)
        self.fake("error", code=2, message="cancelled")
        self.assertEqual(self.fails("mpi-queues"), "Quit")
        self.fake("error", code=-32603, message="nil\npointer")
        self.assertIn("The helper failed (nil pointer)", self.fails("mpi-queues"))

    def test_refusals_are_printable(self) -> None:
        hostile = "it is MPICH \x1b]0;P\x07\x9b2J\u202e\ufeff, or\nnot"
        for code in (1, 4):
            self.fake("error", code=code, message=hostile)
            self.assertEqual(self.fails("mpi-queues"),
                             "it is MPICH \ufffd]0;P\ufffd\ufffd2J\ufffd\ufffd, or\nnot")

    def test_unknown_method(self) -> None:
        answers = self.answers(["process/kill", {}], ["", None])
        self.assertEqual([a["error"]["code"] for a in answers], [-32601, -32601])

    def test_wrong_parameters(self) -> None:
        number = gdb.selected_inferior().num
        ranges: List[Any] = [
            None, 5, {}, [], {"inferior": number}, {"inferior": "1", "ranges": []},
            {"inferior": True, "ranges": []}, {"inferior": 99, "ranges": []},
            {"inferior": number, "ranges": 5}, {"inferior": number, "ranges": [5]},
            {"inferior": number, "ranges": [{"address": -1, "length": 1}]},
            {"inferior": number, "ranges": [{"address": 1 << 64, "length": 1}]},
            {"inferior": number, "ranges": [{"address": "0x10", "length": 1}]},
            {"inferior": number, "ranges": [{"address": 1.5, "length": 1}]},
            {"inferior": number, "ranges": [{"address": 16, "length": -1}]},
            {"inferior": number, "ranges": [{"address": 16, "length": (64 << 20) + 1}]},
            {"inferior": number, "ranges": [{"address": 16, "length": 33 << 20}] * 2},
            {"inferior": number, "ranges": [{"address": 16, "length": None}]},
        ]
        others = [
            ["symbols/find", {"inferior": number, "names": [5]}],
            ["symbols/find", {"inferior": number, "names": "name"}],
            ["symbols/find", {"inferior": -1, "names": []}],
            ["types/find", {"inferior": number, "types": ["name"]}],
            ["types/find", {"inferior": number, "types": [{"name": None, "fields": []}]}],
            ["types/find", {"inferior": number, "types": [{"name": "x", "fields": [1]}]}],
            ["output/write", {"stream": "display", "length": 0, "data": "?", "last": False}],
            ["output/write", {"stream": "display", "length": 5, "data": None, "last": False}],
            ["output/write", {"stream": "display", "length": -1, "data": None, "last": False}],
            ["output/write", {"stream": "recording", "length": 0, "data": "YQ==", "last": False}],
            ["output/write", {"stream": "nonsense", "length": 0, "data": "YQ==", "last": False}],
            ["progress", {"message": 5}],
        ]
        calls = [["memory/read", params] for params in ranges] + others
        answers = self.answers(*calls)
        self.assertEqual(len(answers), len(calls))
        for call, answer in zip(calls, answers):
            self.assertEqual(answer.get("error", {}).get("code"), -32602, (call, answer))

    def test_too_long_lists(self) -> None:
        from mpi_queues import services
        services.MAX_LIST = 3
        try:
            number = gdb.selected_inferior().num
            calls = [
                ["memory/read", {"inferior": number, "ranges": [{"address": 1, "length": 0}] * 4}],
                ["symbols/find", {"inferior": number, "names": ["main"] * 4}],
                ["types/find", {"inferior": number, "types": [{"name": "a", "fields": []}] * 4}],
                ["types/find", {"inferior": number,
                                "types": [{"name": "a", "fields": ["a"] * 4}]}],
            ]
            for answer in self.answers(*calls):
                self.assertEqual(answer["error"]["code"], -32602)
        finally:
            services.MAX_LIST = 1 << 20

    def test_ctrl_c_and_memory(self) -> None:
        """Ctrl-C is held back while a process of this machine is read, which is short."""
        from mpi_queues import memory
        before = memory.read_ranges
        held = []

        def read(*_: object) -> Tuple[List[int], List[Any]]:
            held.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
            return [], []

        setattr(memory, "read_ranges", read)
        try:
            self.answers(["memory/read", {"inferior": gdb.selected_inferior().num, "ranges": []}])
        finally:
            setattr(memory, "read_ranges", before)
        # Before gdb 12 it is not known whether the process is another machine's.
        self.assertEqual(held, [hasattr(gdb.Inferior, "connection")])

    def test_fault_of_the_extension(self) -> None:
        """A bug in a service is a sentence, and a traceback only on request."""
        from mpi_queues import memory
        before = memory.read_ranges
        setattr(memory, "read_ranges", lambda *_: 1 // 0)
        try:
            self.fake("calls", calls=[["memory/read", {
                "inferior": gdb.selected_inferior().num, "ranges": []}]])
            with self.assertRaises(gdb.error) as caught:
                self.command("mpi-queues")
            self.assertIn("failed in itself (ZeroDivisionError", str(caught.exception))
            self.assertNotIn("Traceback", str(caught.exception))
        finally:
            setattr(memory, "read_ranges", before)
