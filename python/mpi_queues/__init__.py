"""MPI message queues and handles in gdb: commands, convenience functions and pretty-printers.

This file is kept so plain that an old Python can read it, and say that it is too old.
"""

import sys

import gdb

__version__ = "0.1.0"

if sys.version_info < (3, 8):
    gdb.write("mpi-queues needs Python 3.8 or later, and this gdb has Python %d.%d: use another"
              " gdb.\n" % sys.version_info[:2], gdb.STDERR)
elif not hasattr(gdb, "lookup_static_symbols"):
    gdb.write("mpi-queues needs gdb 10.2 or later, and this is gdb %s: use another gdb.\n"
              % gdb.VERSION, gdb.STDERR)
else:
    from . import (across_commands, attach, commands, detach, execution,  # noqa: F401
                   functions, handle_commands, lost, printers, rank_commands, run)
    if "gdb.dap" in sys.modules:  # gdb imports it where it serves an editor (`gdb -i dap')
        try:
            from . import dap  # noqa: F401
        except ImportError:
            pass  # gdb does not promise what is in there
