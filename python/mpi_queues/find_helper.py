"""Where the helper program is."""

import os
import shutil
from typing import Iterator, List, Optional, Tuple

from .errors import Failure
from .trust import distrust

NAME = "mpi-queues"
INSTALL = "go install github.com/mpi-queues/mpi-queues/cmd/mpi-queues@latest"

_EXTENSION = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def find(setting: str) -> str:
    """Returns the path of the helper program.

    setting is what `set mpi-queues helper' was given, or empty. What the user names is taken
    or refused; only without a name is the helper looked for.
    """
    for name, origin in ((setting, "`set mpi-queues helper'"),
                         (os.environ.get("MPI_QUEUES_HELPER", ""),
                          "MPI_QUEUES_HELPER in the environment")):
        if name:
            path = _named(name)
            if path is None:
                raise Failure("The helper program \"%s\", named by %s, is not an executable"
                              " file: name another, or none so that it is looked for."
                              % (name, origin))
            return path
    candidates = list(_candidates())
    refused = ""
    for path in candidates:
        if not _is_program(path):
            continue
        reason = _distrust(path)
        if not reason:
            return path
        refused += " %s is not run, since %s." % (_shorten(path), reason)
    raise Failure(
        "The helper program %s is needed and was not found in %s, nor in the folders of PATH:"
        " install it with `%s', or name it with `set mpi-queues helper PATH'.%s"
        % (NAME, ", ".join(_shorten(os.path.dirname(path)) for path in candidates), INSTALL,
           refused))


def identity(path: str) -> Tuple[str, int, int, int, int]:
    """Returns what changes when the program at path is replaced."""
    try:
        status = os.stat(path)
    except OSError:
        return (path, 0, 0, 0, 0)
    return (path, status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)


def _is_program(path: str) -> bool:
    """Says whether path is a file that can be executed."""
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _named(name: str) -> Optional[str]:
    """Returns the program that the user names, by its path or as a command."""
    if os.sep not in name:  # as in a shell, whatever the working directory has
        return _on_path(name)
    path = os.path.abspath(os.path.expanduser(name))
    return path if _is_program(path) else None


def _on_path(name: str) -> Optional[str]:
    """Returns a command's path, as a shell finds it, but never in the working directory."""
    folders = [folder for folder in os.get_exec_path() if os.path.isabs(folder)]
    return shutil.which(name, path=os.pathsep.join(folders)) if folders else None


def _distrust(path: str) -> Optional[str]:
    """Says why a program that nobody has named is not run, or returns None.

    PATH is the user's word: what is found there is run as a shell would.
    """
    if path == _on_path(NAME):
        return None
    try:
        return distrust(path)
    except OSError as error:
        return "it can't be looked at (%s)" % error.strerror


def _candidates() -> Iterator[str]:
    """Yields the paths to look at, in order."""
    for folder in ("", "bin", os.path.join("cmd", NAME)):
        yield os.path.join(_EXTENSION, folder, NAME)
    on_path = _on_path(NAME)
    if on_path:
        yield on_path
    for folder in _go_folders():
        yield os.path.join(folder, NAME)


def _go_folders() -> List[str]:
    """Returns the folders that `go install' puts programs into."""
    folders = [os.environ.get("GOBIN", "")]
    for path in os.environ.get("GOPATH", "").split(os.pathsep):
        folders.append(os.path.join(path, "bin") if path else "")
    folders.append(os.path.join(os.path.expanduser("~"), "go", "bin"))
    return [folder for folder in dict.fromkeys(folders) if os.path.isabs(folder)]


def _shorten(path: str) -> str:
    """Returns a path as its user would write it."""
    home = os.path.expanduser("~")
    return "~" + path[len(home):] if path.startswith(home + os.sep) else path
