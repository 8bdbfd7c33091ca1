"""The time of each test, in the form in which `go test -v' prints it."""

import time
import unittest
from typing import Any


class Result(unittest.TextTestResult):
    """Counts what passes too, and prints a line for each test."""

    passed = 0
    _started = 0.0

    def startTest(self, test: unittest.TestCase) -> None:
        """Starts the clock."""
        super().startTest(test)
        self._started = time.monotonic()

    def addSuccess(self, test: unittest.TestCase) -> None:
        """Counts a test."""
        super().addSuccess(test)
        self.passed += 1
        self._say("PASS", test)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        """Says that a test has failed."""
        super().addFailure(test, err)
        self._say("FAIL", test)

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        """Says that a test has ended with an error."""
        super().addError(test, err)
        self._say("FAIL", test)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        """Says that a test was skipped."""
        super().addSkip(test, reason)
        self._say("SKIP", test)

    def _say(self, outcome: str, test: unittest.TestCase) -> None:
        took = time.monotonic() - self._started
        self.stream.write("--- %s: %s (%.2fs)\n" % (outcome, test.id(), took))
