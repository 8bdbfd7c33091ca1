"""The helper as a child process of gdb's."""

import errno
import os
import signal
import subprocess
import tempfile
import time
from typing import List, Optional, Sequence

from .channel import Channel
from .errors import Failure, last_lines
from .peer import Peer

_LOG_TAIL = 64 << 10

# What gdb, or the machine, has run out of.
_SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)


class Helper(Peer):
    """A running helper program.

    It has a session of its own, so that Ctrl-C in the terminal reaches gdb alone, and a
    temporary file without a name for its standard error, so that it can never block on it.
    """

    def __init__(self, path: str, debug: bool, arguments: Sequence[str] = ("helper",),
                 files: Sequence[int] = ()) -> None:
        try:
            self._log = tempfile.TemporaryFile()
        except OSError as error:
            raise Failure("The helper program can't be started: gdb has no temporary file for its"
                          " log (%s)." % error.strerror)
        self._log_seen = 0
        environment = dict(os.environ)
        if debug:
            environment["MPI_QUEUES_DEBUG"] = "1"
        pipes: List[int] = []
        try:
            # Where there is only one pipe left, subprocess would lose it (CPython up to 3.13).
            pipes += os.pipe()
            pipes += os.pipe()
            self._process = subprocess.Popen(
                [path, *arguments], stdin=pipes[0], stdout=pipes[3],
                stderr=self._log, bufsize=0, env=environment, start_new_session=True,
                pass_fds=files)
        except OSError as error:
            self._log.close()
            for pipe in pipes:
                os.close(pipe)
            sentence = "The helper program %s could not be started (%s)" % (path, error.strerror)
            if error.errno not in _SHORTAGES:
                sentence += (": see that it was built for this machine, or name another with"
                             " `set mpi-queues helper PATH'")
            raise Failure(sentence + ".")
        os.close(pipes[0])
        os.close(pipes[3])
        self._process.stdin = os.fdopen(pipes[1], "wb", 0)
        self._process.stdout = os.fdopen(pipes[2], "rb", 0)
        super().__init__(path, Channel(pipes[2], pipes[1]))

    @property
    def pid(self) -> int:
        """Its process id, which is also its session's."""
        return self._process.pid

    def is_ready(self) -> bool:
        """Says whether it runs and waits for a request."""
        return self._status() is None and self.channel.is_quiet()

    def leave(self, seconds: float) -> None:
        """Has it end, for which it is waited so long. What it has started is left alone."""
        self.hang_up()
        if self._status(seconds) is not None:
            self._process.wait()

    def end(self, grace: float = 0) -> None:
        """Ends it and what it started, and reaps it. It may end by itself within grace seconds.

        Until it is reaped its process id is no other's, and so neither is its process group.
        """
        self.hang_up()
        self._status(grace)
        if self._process.returncode is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except OSError:
                pass  # it has ended, and has left nothing behind
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            pass

    def hang_up(self) -> None:
        """Closes its pipes, at which it ends."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()

    def has_ended(self) -> bool:
        """Reports whether it has ended."""
        return self._status() is not None

    def how_it_ended(self) -> str:
        """Says how it ended by itself, if it did so within a moment, or returns an empty string."""
        status = self._status(0.5)
        if status is None:
            return ""
        if status < 0:
            try:
                return "killed by %s" % signal.Signals(-status).name
            except ValueError:
                return "killed by signal %d" % -status
        return "exit status %d" % status if status else ""

    def _status(self, seconds: float = 0) -> Optional[int]:
        """Returns how it has ended within a time, as subprocess says it, or None if it runs on.

        It is not reaped by that.
        """
        deadline = time.monotonic() + seconds
        pause = 0.0005
        while self._process.returncode is None:
            try:
                how = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:  # somebody else has reaped it
                return self._process.poll()
            if how:
                return int(how.si_status if how.si_code == os.CLD_EXITED else -how.si_status)
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            time.sleep(min(pause, left))
            pause = min(2 * pause, 0.05)
        return int(self._process.returncode)

    def last_words(self) -> List[str]:
        """Returns the last lines of its log."""
        return last_lines(self._read_log(0))

    def new_words(self) -> str:
        """Returns what was added to its log since the last call."""
        text = self._read_log(self._log_seen)
        self._log_seen = self._log_size()
        return text

    def _log_size(self) -> int:
        """Returns the length of its log."""
        return os.fstat(self._log.fileno()).st_size

    def _read_log(self, start: int) -> str:
        """Returns the log from an offset, or the end of it."""
        start = max(start, self._log_size() - _LOG_TAIL)
        data: Optional[bytes] = os.pread(self._log.fileno(), _LOG_TAIL, start)
        return (data or b"").decode("utf-8", "replace")
