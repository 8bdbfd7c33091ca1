# Gives gdb the commands `mpi-queues' and `info mpi': source this file, or name it in ~/.gdbinit.
#
# gdb has no name for the script that it is reading, but it keeps the script open until its end:
# that is how the folder "python" beside this file is found, from any working directory.

if $_isvoid ($_streq)
  echo mpi-queues needs a gdb that was built with Python, and this one was not: use another gdb\n
else
  python
def _mpi_queues_folder():
    """Returns the folder to import mpi_queues from, or None."""
    import os
    folders = []
    for process in ("/proc/self/fd", "/dev/fd"):
        try:
            for fd in sorted(map(int, os.listdir(process)), reverse=True):
                try:
                    script = os.readlink("%s/%d" % (process, fd))
                except OSError:
                    continue
                if os.path.basename(script) == "gdbinit":
                    folders.append(os.path.join(os.path.dirname(script), "python"))
        except OSError:
            continue
    folders.append(os.environ.get("MPI_QUEUES_PYTHON", ""))
    for folder in folders:
        if os.path.isfile(os.path.join(folder, "mpi_queues", "__init__.py")):
            return os.path.abspath(folder)
    return None


def _mpi_queues_import(folder):
    """Imports the extension, once however often this file is sourced."""
    import sys
    import gdb
    if folder is None:
        gdb.write("mpi-queues: the folder \"python\" was looked for beside this gdbinit and not"
                  " found there: set MPI_QUEUES_PYTHON in the environment to the folder that"
                  " holds mpi_queues, and start gdb again.\n", gdb.STDERR)
        return
    if folder not in sys.path:
        sys.path.append(folder)
    import mpi_queues


_mpi_queues_import(_mpi_queues_folder())
del _mpi_queues_import, _mpi_queues_folder
  end
end
