"""The settings under `set mpi-queues' and `show mpi-queues'."""

from typing import Any, List, Sequence

import gdb


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
        """Says nothing when the setting is set, as gdb's own settings do."""
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

SOURCE = Setting(
    "source", "where mpi-queues may read queues from",
    "Where mpi-queues may read queues from is \"%s\".",
    "\"native\" uses the decoders of mpi-queues itself; \"auto\" uses what is best for the MPI\n"
    "library, which is the same as long as there is no other source.",
    gdb.PARAM_ENUM, "auto", choices=("auto", "native"))

ALL: List[Setting] = [DEBUG, HELPER, LIMIT, SOURCE]


def is_debugging() -> bool:
    """Says whether `set mpi-queues debug' is on."""
    return bool(DEBUG.current())


def helper_name() -> str:
    """Returns what `set mpi-queues helper' was given, or an empty string."""
    return str(HELPER.current() or "")


def limit() -> int:
    """Returns the limit, 0 for none."""
    return int(LIMIT.current() or 0)


def source() -> str:
    """Returns where queues may be read from, as the protocol has it."""
    return str(SOURCE.current())
