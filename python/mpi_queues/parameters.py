"""The settings under `set mpi-queues' and `show mpi-queues'."""

import os
from typing import Any, Callable, List, Sequence

import gdb

# Called after any of the settings has been set. None of them raises.
when_set: List[Callable[[], None]] = []


class Setting(gdb.Parameter):
    """One setting. A call defines it with its `set', its `show' and its help.

    what completes "Set ..." and "Show ..."; sentence is what `show' prints, with %s for the value.
    """

    def __init__(self, name: str, what: str, sentence: str, help_text: str, kind: int,
                 default: str, choices: Sequence[str] = (), unset: str = "") -> None:
        self.set_doc = "Set %s." % what
        self.show_doc = "Show %s." % what
        self.__doc__ = help_text
        self.name = name
        self._sentence = sentence
        self._unset = unset
        if kind == gdb.PARAM_ENUM:
            super().__init__("mpi-queues " + name, gdb.COMMAND_DATA, kind, tuple(choices))
        else:
            super().__init__("mpi-queues " + name, gdb.COMMAND_DATA, kind)
        # Through a command, and read through gdb.parameter: cuda-gdb 11.8 keeps an attribute
        # "value" apart from the setting.
        gdb.execute("set mpi-queues %s %s" % (name, default), to_string=True)

    def current(self) -> Any:
        """Returns its value."""
        return gdb.parameter("mpi-queues " + self.name)

    def get_set_string(self) -> str:
        """Serves gdb once the setting is set. Says nothing, as gdb's own settings do."""
        for serve in when_set:
            serve()
        return ""

    def get_show_string(self, value: str) -> str:
        """Returns what `show' prints."""
        return self._sentence % value if value or not self._unset else self._unset


class SetPrefix(gdb.Command):
    """Set how MPI message queues are found and shown."""

    def __init__(self) -> None:
        super().__init__("set mpi-queues", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)

    def invoke(self, argument: str, from_tty: bool) -> None:
        """Lists the settings, or says that there is none of a name."""
        _refuse("set", argument)
        gdb.execute("help set mpi-queues", from_tty)


class ShowPrefix(gdb.Command):
    """Show how MPI message queues are found and shown."""

    def __init__(self) -> None:
        super().__init__("show mpi-queues", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)

    def invoke(self, argument: str, from_tty: bool) -> None:
        """Shows all the settings."""
        _refuse("show", argument)
        for setting in ALL:
            text = gdb.execute("show mpi-queues " + setting.name, to_string=True)
            gdb.write("%s:  %s" % (setting.name, text))


def _refuse(verb: str, argument: str) -> None:
    """Ends a prefix command that is followed by the name of no setting."""
    if argument:
        raise gdb.GdbError("Undefined %s mpi-queues command: \"%s\".  "
                           "Try \"help %s mpi-queues\"." % (verb, argument, verb))


SetPrefix()
ShowPrefix()

DEBUG = Setting(
    "debug", "debugging of mpi-queues itself",
    "Debugging of mpi-queues itself is %s.",
    "When on, Python tracebacks are shown, the helper program logs more, its log is shown after\n"
    "each command, and a line says how often and how much was read.",
    gdb.PARAM_BOOLEAN, "off")

DLL = Setting(
    "dll", "the queue DLL of the MPI library's vendor",
    "The queue DLL is \"%s\".",
    "The queue DLL is the vendor's own code for reading message queues. It runs in a confined\n"
    "process of its own, never in gdb. Without an argument it is looked for where the MPI\n"
    "library says, in the process and in the one that has started the job, and then under its\n"
    "usual name beside the MPI library. It must be trusted: see `help set mpi-queues\n"
    "dll-safe-path'.",
    gdb.PARAM_OPTIONAL_FILENAME, "",
    unset="The queue DLL is not set, so it is looked for.")

DLL_SAFE_PATH = Setting(
    "dll-safe-path", "the folders whose queue DLLs are trusted",
    "The folders whose queue DLLs are trusted are \"%s\".",
    "A list of absolute paths, separated by \"" + os.pathsep + "\", in which \"~\" and variables"
    " of the environment\n(\"$HOME\") are replaced. A queue DLL below one of them is trusted.\n"
    "Of the others those are trusted whose file and folders belong to root or to you and can't be\n"
    "written by anyone else. The rest is refused: the path of a queue DLL comes out of the memory\n"
    "of the process being debugged.",
    gdb.PARAM_OPTIONAL_FILENAME, "",
    unset="The folders whose queue DLLs are trusted are not set, so it is the owners and"
          " permissions of a queue DLL that decide.")

DLL_TIMEOUT = Setting(
    "dll-timeout", "how many seconds a queue DLL may take",
    "The limit on the seconds that a queue DLL may take is %s.",
    "A queue DLL that takes longer for one thing is given up, and gdb goes on. Time that gdb\n"
    "itself takes to answer it does not count, up to ten times as much. 0 and \"unlimited\"\n"
    "mean no limit.",
    gdb.PARAM_UINTEGER, "10")

HELPER = Setting(
    "helper", "the helper program of mpi-queues",
    "The helper program of mpi-queues is \"%s\".",
    "The helper program does the reading and decoding. Without an argument it is looked for:\n"
    "the environment's MPI_QUEUES_HELPER, beside the extension, in PATH, in Go's bin folders.",
    gdb.PARAM_OPTIONAL_FILENAME, "",
    unset="The helper program of mpi-queues is not set, so it is looked for.")

LIMIT = Setting(
    "limit", "how many operations of a queue mpi-queues shows",
    "The limit on operations of a queue to show is %s.",
    "The option -limit goes before this setting. 0 and \"unlimited\" mean no limit.",
    gdb.PARAM_UINTEGER, "200")

PRETTY_PRINTERS = Setting(
    "pretty-printers", "whether gdb prints what MPI handles stand for",
    "Printing what MPI handles stand for is %s.",
    "When on, a variable of type MPI_Comm, MPI_Request, MPI_Status or another of MPI's types is\n"
    "printed as what it stands for, with its parts. `print/r' prints it as it is.",
    gdb.PARAM_BOOLEAN, "on")

SOURCE = Setting(
    "source", "where mpi-queues may read queues from",
    "Where mpi-queues may read queues from is \"%s\".",
    "auto   - The native decoder where there is one that can read the process, else the queue\n"
    "         DLL that the MPI library's vendor ships.\n"
    "native - The decoders of mpi-queues itself.\n"
    "dll    - The vendor's queue DLL.\n"
    "both   - Shows what the native decoder reads, and where the queue DLL differs from it.",
    gdb.PARAM_ENUM, "auto", choices=("auto", "native", "dll", "both"))

ALL: List[Setting] = [DEBUG, DLL, DLL_SAFE_PATH, DLL_TIMEOUT, HELPER, LIMIT, PRETTY_PRINTERS,
                      SOURCE]


def is_debugging() -> bool:
    """Says whether `set mpi-queues debug' is on."""
    return bool(DEBUG.current())


def dll() -> str:
    """Returns the absolute path of the queue DLL to use, or an empty string."""
    path = str(DLL.current() or "")
    return os.path.abspath(os.path.expanduser(path)) if path else ""


def dll_safe_path() -> List[str]:
    """Returns the folders whose queue DLLs are trusted, as absolute paths.

    A part that is empty, or names a variable that is not set, must not become a folder below
    the current one, where anyone may write.
    """
    folders = str(DLL_SAFE_PATH.current() or "").split(os.pathsep)
    return [folder for folder in (os.path.expanduser(os.path.expandvars(f)) for f in folders)
            if os.path.isabs(folder)]


def dll_timeout() -> int:
    """Returns how many seconds a queue DLL may take, 0 for no limit."""
    return int(DLL_TIMEOUT.current() or 0)


def helper_name() -> str:
    """Returns what `set mpi-queues helper' was given, or an empty string."""
    return str(HELPER.current() or "")


def limit() -> int:
    """Returns the limit, 0 for none."""
    return int(LIMIT.current() or 0)


def has_pretty_printers() -> bool:
    """Says whether `set mpi-queues pretty-printers' is on."""
    return bool(PRETTY_PRINTERS.current())


def source() -> str:
    """Returns where queues may be read from, as the protocol has it."""
    return str(SOURCE.current())
