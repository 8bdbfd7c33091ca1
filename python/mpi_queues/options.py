"""Options of a command, as gdb's own commands have them: prefixes, `--', quotes, completion."""

import os
import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import gdb


class Option(NamedTuple):
    """One option of a command."""

    name: str
    argument: str  # as the help shows it; empty for a flag
    help: str
    values: Tuple[str, ...] = ()  # what its argument can be, if that is a word of a list
    is_file: bool = False
    is_limit: bool = False


def usage(options: Tuple[Option, ...]) -> str:
    """Returns the part of a help text that explains options, laid out as gdb does."""
    lines = ["Options:"]
    for option in options:
        lines.append("  -" + option.name + (option.argument and " " + option.argument))
        lines += ["    " + line for line in option.help.splitlines()]
        lines.append("")
    return "\n".join(lines).rstrip()


def parse(text: str, options: Tuple[Option, ...], command: str) -> Dict[str, Any]:
    """Returns the options that are given in a command's arguments, which has no others. Raises
    gdb.GdbError."""
    given, words = parse_words(text, options)
    if words:
        raise junk(words[0], command)
    return given


def parse_words(text: str, options: Tuple[Option, ...]) -> Tuple[Dict[str, Any], List[str]]:
    """Returns the options that are given in a command's arguments, and the words behind them.
    Raises gdb.GdbError."""
    given: Dict[str, Any] = {}
    words = gdb.string_to_argv(text)
    while words:
        word = words.pop(0)
        if word == "--":
            break
        if not word.startswith("-"):
            words.insert(0, word)
            break
        option = _match(word, options)
        given[option.name] = _value(option, words) if option.argument else True
    return given, words


def parse_expression(text: str, options: Tuple[Option, ...]) -> Tuple[Dict[str, Any], str]:
    """Returns the options that stand before and after an expression, and the expression.

    What begins with a dash and is no option begins the expression, as with gdb's own commands.
    Options after it are written in full. Raises gdb.GdbError.
    """
    given: Dict[str, Any] = {}
    text = text.strip()
    while text.startswith("-"):
        word, rest = _split(text)
        if word == "--":
            return given, rest
        try:
            option = _match(word, options)
        except gdb.GdbError:
            break
        argument = ""
        if option.argument:
            argument, rest = _split(rest)
        given[option.name] = _value(option, gdb.string_to_argv(argument)) if option.argument \
            else True
        text = rest
    while True:
        found = _option_at_end(text, options)
        if found is None:
            return given, text
        option, argument, text = found
        given[option.name] = _value(option, gdb.string_to_argv(argument)) if option.argument \
            else True


# A word, which may be in quotes, and what follows it.
_WORD = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\S+)\s*(.*)\Z""", re.DOTALL)


def _split(text: str) -> Tuple[str, str]:
    """Returns the first word of a text, and the rest."""
    found = _WORD.match(text)
    return (found.group(1), found.group(2)) if found else ("", "")


def _option_at_end(text: str, options: Tuple[Option, ...]) \
        -> Optional[Tuple[Option, str, str]]:
    """Returns the option that ends a text, its argument, and what stands before; None if there is
    none."""
    for option in options:
        end = r"\s+-%s%s\Z" % (option.name, r"(?:\s+(\S+))?" if option.argument else "()")
        found = re.search(end, text)
        if found:
            return option, found.group(1) or "", text[:found.start()]
    return None


def junk(word: str, command: str) -> Exception:
    """Returns the error for a word that a command has no use for."""
    return gdb.GdbError("Junk at end of arguments: \"%s\".  Try \"help %s\"." % (word, command))


def complete(text: str, word: Optional[str], options: Tuple[Option, ...]) -> Any:
    """Completes a command's arguments; text is all of them, word what gdb sees as their last.

    gdb first calls this without a word and ignores what it returns. gdb.COMPLETE_FILENAME is of
    no use here: gdb would take all of text for the name.
    """
    words = text.split(" ")
    last = words[-1]
    before = [w for w in words[:-1] if w]
    option = _argument_wanted(before, options)
    candidates: List[str] = []
    if option is not None:
        if option.is_file:
            candidates = _files(last)
        else:
            candidates = list(option.values) + (["unlimited"] if option.is_limit else [])
    elif "--" not in before and (not last or last.startswith("-")):
        candidates = ["-" + o.name for o in options]
    # Characters such as "-" and "/" end a word of gdb's, so what it adds starts after them.
    skipped = len(last) - len(word or "")
    return [c[skipped:] for c in candidates if c.startswith(last)]


def _argument_wanted(words: List[str], options: Tuple[Option, ...]) -> Optional[Option]:
    """Returns the option whose argument comes after these words, or None."""
    wanted: Optional[Option] = None
    for word in words:
        if wanted is not None:
            wanted = None
        elif word == "--":
            return None
        elif word.startswith("-"):
            try:
                option = _match(word, options)
            except gdb.GdbError:
                continue
            wanted = option if option.argument else None
    return wanted


def _files(start: str) -> List[str]:
    """Returns the paths that begin with start."""
    folder, base = os.path.split(start)
    try:
        entries = sorted(os.scandir(os.path.expanduser(folder) or "."), key=lambda e: e.name)
    except OSError:
        return []
    found = [os.path.join(folder, entry.name) + ("/" if entry.is_dir() else "")
             for entry in entries if entry.name.startswith(base)
             and (base or not entry.name.startswith(".")) and not set(entry.name) & set(" '\"\\")]
    if len(found) == 1 and found[0].endswith("/"):
        found += _files(found[0])  # a single answer would be taken for the whole path
    return found


def _match(word: str, options: Tuple[Option, ...]) -> Option:
    """Returns the option that a word names by an unambiguous prefix."""
    matches = [option for option in options if option.name.startswith(word[1:])]
    exact = [option for option in matches if option.name == word[1:]]
    if len(matches) == 1 or exact:
        return (exact or matches)[0]
    if matches and word != "-":
        raise gdb.GdbError("Ambiguous option at: %s" % word)
    raise gdb.GdbError("Unrecognized option at: %s" % word)


def _value(option: Option, words: List[str]) -> Any:
    """Takes the argument of an option from the words that follow it."""
    if not words:
        if option.values:
            raise gdb.GdbError("Requires an argument. Valid arguments are %s."
                               % ", ".join(option.values))
        raise gdb.GdbError("-%s requires an argument" % option.name)
    word = words.pop(0)
    if option.is_limit:
        return _limit(word)
    if option.values:
        matches = [value for value in option.values if value.startswith(word)]
        if len(matches) != 1:
            raise gdb.GdbError("%s item%s \"%s\"." % (
                ("Ambiguous", "", word) if matches else ("Undefined", ":", word)))
        return matches[0]
    return word


def _limit(word: str) -> int:
    """Returns the number that a word is; 0 means no limit."""
    if word and "unlimited".startswith(word):
        return 0
    try:
        number = int(word, 0)
    except ValueError:
        raise gdb.GdbError("Expected integer at: %s" % word)
    if not 0 <= number < 1 << 31:
        raise gdb.GdbError("integer %d out of range" % number)
    return number
