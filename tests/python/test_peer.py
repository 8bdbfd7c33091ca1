"""The helper that has started this gdb, at the other end of a socket."""

import os
import socket
import subprocess
from typing import Any

import gdb
from harness import FAKE, HelperTest, end_program, run_program
from mpi_queues import protocol
from mpi_queues.channel import Channel
from mpi_queues.errors import Failure
from mpi_queues.link import Link, serve_nothing
from mpi_queues.peer import Peer


class PeerTest(HelperTest):
    """A link whose helper is not started by it."""

    def start(self, scenario: str, **arguments: Any) -> Link:
        """Starts a helper that has one end of a socket, and returns a link with the other."""
        self.fake_for_the_next(scenario, **arguments)
        ours, theirs = socket.socketpair()
        self.process = subprocess.Popen([FAKE, "helper"], stdin=theirs.fileno(),
                                        stdout=theirs.fileno())
        self.addCleanup(self.process.wait)
        theirs.close()
        self.descriptor = os.dup(ours.fileno())
        os.set_inheritable(self.descriptor, True)  # as a program is started with it
        ours.close()
        self.addCleanup(os.close, self.descriptor)
        link = Link()
        self.addCleanup(link.close)
        link.take(Peer("the other end", Channel.inherited(self.descriptor)))
        return link

    def say(self, link: Link, message: str) -> None:
        """Tells the helper what gdb does."""
        params: protocol.StatusParams = {"message": message, "attached": False, "failure": ""}
        link.request(protocol.METHOD_STATUS, params, protocol.StatusResult, serve_nothing,
                     "", False)

    def test_requests_reach_it(self) -> None:
        link = self.start("good", status={})
        self.say(link, "attaching")
        self.say(link, "reading")
        said = [m["params"]["message"] for m in self.received() if m.get("method") == "status"]
        self.assertEqual(said, ["attaching", "reading"])
        self.assertEqual(link.pid(), 0)
        self.assertEqual(link.log(), "")

    def test_no_other_takes_its_place(self) -> None:
        link = self.start("good", status={})
        self.process.kill()
        self.process.wait()
        for _ in range(2):
            with self.assertRaisesRegex(Failure, "which has started this gdb, has ended"):
                self.say(link, "attaching")

    def test_its_end_is_noticed(self) -> None:
        link = self.start("die_unheard", status={})
        self.say(link, "attaching")
        with self.assertRaisesRegex(Failure, "the other end ended"):
            self.say(link, "attaching")

    def test_no_child_inherits_it(self) -> None:
        link = self.start("good", status={})
        files = subprocess.run(["ls", "-l", "/proc/self/fd"], stdout=subprocess.PIPE, text=True,
                               close_fds=False, check=True).stdout
        self.assertNotIn("socket:", files)
        self.assertEqual(os.readlink("/proc/self/fd/%d" % self.descriptor), os.devnull)
        self.say(link, "still there")

    def test_no_debuggee_inherits_it(self) -> None:
        self.start("good", status={})
        run_program("plain")
        self.addCleanup(end_program)
        folder = "/proc/%d/fd" % gdb.selected_inferior().pid
        for name in os.listdir(folder):
            self.assertNotIn("socket:", os.readlink(os.path.join(folder, name)))
