"""Runs one test module around gdb, whose name is in the environment.

Each test gets a line with its time, as `go test -v' prints it. The last line says how many tests
passed, failed and were skipped.
"""

import os
import sys
import unittest

from timed import Result

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "..", "..", "python"))


def main() -> None:
    """Runs the module."""
    suite = unittest.defaultTestLoader.loadTestsFromName(os.environ["TEST_NAME"])
    runner = unittest.TextTestRunner(sys.stdout, verbosity=0, resultclass=Result)
    result = runner.run(suite)
    assert isinstance(result, Result)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print("RESULT %d %d %d" % (result.passed, failed, len(result.skipped)))


main()
