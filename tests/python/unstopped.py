"""A gdbserver that does not report that a process has stopped. It makes the file that its argument
names when it should have."""

import os
import re
import subprocess
import sys

server = subprocess.Popen(["gdbserver", "--multi", "--once", "-"], stdout=subprocess.PIPE)
assert server.stdout
while True:
    packets = os.read(server.stdout.fileno(), 1 << 16)
    if not packets:
        break
    kept = re.sub(rb"%Stop:[^#]*#..", b"", packets)
    if kept != packets:
        open(sys.argv[1], "w").close()
    os.write(1, kept)
