"""The helper as a child process of gdb's."""

import os
import signal
import subprocess
import tempfile
from typing import List, Optional

from .channel import Channel
from .errors import Failure, last_lines

_LOG_TAIL = 64 << 10


class Helper:
    """A running helper program.

    It has a session of its own, so that Ctrl-C in the terminal reaches gdb alone, and a
    temporary file without a name for its standard error, so that it can never block on it.
    """

    def __init__(self, path: str, debug: bool) -> None:
        self.path = path
        self._log = tempfile.TemporaryFile()
        self._log_seen = 0
        environment = dict(os.environ)
        if debug:
            environment["MPI_QUEUES_DEBUG"] = "1"
        try:
            self._process = subprocess.Popen(
                [path, "helper"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._log, bufsize=0, env=environment, start_new_session=True)
        except OSError as error:
            self._log.close()
            raise Failure("The helper program %s could not be started (%s): see that it was built"
                          " for this machine, or name another with `set mpi-queues helper PATH'."
                          % (path, error.strerror))
        assert self._process.stdin and self._process.stdout
        self.channel = Channel(self._process.stdout.fileno(), self._process.stdin.fileno())

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def is_ready(self) -> bool:
        """Says whether it runs and waits for a request."""
        return self._process.poll() is None and self.channel.is_quiet()

    def end(self, grace: float = 0) -> None:
        """Ends it and what it started, and reaps it. It may end by itself within grace seconds."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
        try:
            if grace:
                self._process.wait(grace)
        except subprocess.TimeoutExpired:
            pass
        if self._process.poll() is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except OSError:
                self._process.kill()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            pass

    def how_it_ended(self) -> str:
        """Says how it ended by itself, if it did so within a moment, or returns an empty string."""
        try:
            status = self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            return ""
        if status < 0:
            try:
                return "killed by %s" % signal.Signals(-status).name
            except ValueError:
                return "killed by signal %d" % -status
        return "exit status %d" % status if status else ""

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
