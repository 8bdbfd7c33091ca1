"""gdb as it is with deep stacks: a stack is some tenths of a second away."""

import sys
import time


def slow_down(commands):
    """Has gdb take its time for a stack."""
    own = commands["stackTrace"]

    def stack(**arguments):
        time.sleep(0.3)
        return own(**arguments)

    commands["stackTrace"] = stack


if "gdb.dap" in sys.modules:
    from gdb.dap.server import _commands

    slow_down(_commands)
