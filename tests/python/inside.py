"""Runs one test module inside gdb: `gdb -x inside.py', with the module's name in the environment.

The last line that it prints says how many tests passed and how many failed.
"""

import os
import sys
import unittest

import gdb

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
gdb.execute("source " + os.path.join(HERE, "..", "..", "gdbinit"))


class Result(unittest.TextTestResult):
    """Counts what passes too."""

    passed = 0

    def addSuccess(self, test: unittest.TestCase) -> None:
        """Counts a test."""
        super().addSuccess(test)
        self.passed += 1


def main() -> None:
    """Runs the module."""
    name = os.environ["TEST_NAME"]
    suite = unittest.defaultTestLoader.loadTestsFromName(name)
    runner = unittest.TextTestRunner(sys.stderr, verbosity=0, resultclass=Result)
    result = runner.run(suite)
    assert isinstance(result, Result)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    gdb.write("RESULT %d %d %d\n" % (result.passed, failed, len(result.skipped)))


main()
