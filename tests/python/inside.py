"""Runs one test module inside gdb: `gdb -x inside.py', with the module's name in the environment.

Each test gets a line with its time, as `go test -v' prints it. The last line says how many tests
passed and how many failed.
"""

import os
import sys
import unittest

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from timed import Result  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
gdb.execute("source " + os.path.join(HERE, "..", "..", "gdbinit"))


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
