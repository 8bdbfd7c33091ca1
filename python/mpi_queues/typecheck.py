"""Checks values from the helper against the types in protocol.py."""

import functools
from typing import Any, Callable, Dict, Optional, Tuple, Union, get_args, get_origin, get_type_hints


_NULL = type(None)


# Says how a value differs from a type, in words that follow the name of the value; None if it does
# not.
_Check = Callable[[Any], Optional[str]]


def mismatch(value: Any, hint: Any, where: str = "it") -> Optional[str]:
    """Says how value differs from a type, or returns None if it does not.

    Members that the type does not have are let pass, and null for a list is one without
    elements: that is how Go writes an empty slice.
    """
    wrong = _check(hint)(value)
    return None if wrong is None else where + wrong


@functools.lru_cache(maxsize=None)
def _check(hint: Any) -> _Check:
    """Returns what checks values against a type: each message has values of the same few."""
    origin = get_origin(hint)
    if origin is Union:
        return _optional(_check(next(a for a in get_args(hint) if a is not _NULL)))
    if origin is list:
        return _optional(_list(_check(get_args(hint)[0])))
    if hint is float:
        return _simple((int, float), "number")
    if hint is int:
        return _simple((int,), "number")
    if hint in (str, bool):
        return _simple((hint,), hint.__name__)
    return _object({name: (_check(member), get_origin(member) is Union)
                    for name, member in get_type_hints(hint).items()})


def _optional(check: _Check) -> _Check:
    """Returns what checks values of which null is one more."""
    return lambda value: None if value is None else check(value)


def _simple(types: Tuple[type, ...], name: str) -> _Check:
    """Returns what checks values that consist of nothing. Booleans are no numbers."""
    wrong = " is not a " + name
    return lambda value: None if type(value) in types else wrong


def _list(check: _Check) -> _Check:
    """Returns what checks lists."""
    def checked(value: Any) -> Optional[str]:
        if not isinstance(value, list):
            return " is not a list"
        for index, item in enumerate(value):
            wrong = check(item)
            if wrong is not None:
                return "[%d]%s" % (index, wrong)
        return None
    return checked


def _object(members: Dict[str, Tuple[_Check, bool]]) -> _Check:
    """Returns what checks objects, of whose members some may be absent."""
    def checked(value: Any) -> Optional[str]:
        if not isinstance(value, dict):
            return " is not an object"
        for name, (check, may_be_absent) in members.items():
            if name not in value and not may_be_absent:
                return " has no %s" % name
            wrong = check(value.get(name))
            if wrong is not None:
                return ".%s%s" % (name, wrong)
        return None
    return checked
