"""Checks values from the helper against the types in protocol.py."""

import functools
from typing import Any, Dict, Optional, Union, get_args, get_origin, get_type_hints


_NULL = type(None)


@functools.lru_cache(maxsize=None)
def _members(hint: Any) -> Dict[str, Any]:
    """Returns the members of a typed dictionary."""
    return get_type_hints(hint)


def mismatch(value: Any, hint: Any, where: str = "it") -> Optional[str]:
    """Says how value differs from a type, or returns None if it does not.

    Members that the type does not have are let pass, and null for a list is one without
    elements: that is how Go writes an empty slice.
    """
    origin = get_origin(hint)
    if origin is Union:
        if value is None:
            return None
        return mismatch(value, next(a for a in get_args(hint) if a is not _NULL), where)
    if origin is list:
        if value is None:
            return None
        if not isinstance(value, list):
            return "%s is not a list" % where
        element = get_args(hint)[0]
        for index, item in enumerate(value):
            wrong = mismatch(item, element, "%s[%d]" % (where, index))
            if wrong:
                return wrong
        return None
    if hint in (int, float):
        good = isinstance(value, int if hint is int else (int, float))
        if not good or isinstance(value, bool):
            return "%s is not a number" % where
        return None
    if hint in (str, bool):
        return None if isinstance(value, hint) else "%s is not a %s" % (where, hint.__name__)
    if not isinstance(value, dict):
        return "%s is not an object" % where
    for name, member in _members(hint).items():
        if name not in value and not _may_be_absent(member):
            return "%s has no %s" % (where, name)
        wrong = mismatch(value.get(name), member, "%s.%s" % (where, name))
        if wrong:
            return wrong
    return None


def _may_be_absent(hint: Any) -> bool:
    """Says whether a member of this type may be left out."""
    return get_origin(hint) is Union
