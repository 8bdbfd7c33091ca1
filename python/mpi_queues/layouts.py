"""The layout of C types, from debug information."""

import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

import gdb

from . import interrupts, protocol
from .lookup import is_name, names_absent, object_path, remembered
from .selection import c_language

_DOMAINS = [getattr(gdb, name) for name in
            ("SYMBOL_TYPE_DOMAIN", "SYMBOL_VAR_DOMAIN", "SYMBOL_STRUCT_DOMAIN")
            if hasattr(gdb, name)]
_RECORDS = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
_NUMBERS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL)
# How names of types begin that C has without any file.
_BUILT_IN = re.compile(r"(?:signed|unsigned|char|short|int|long|float|double|void|bool|complex"
                       r"|_[A-Z]\w*)\b")
_OTHERS = {
    gdb.TYPE_CODE_PTR: "pointer", gdb.TYPE_CODE_REF: "pointer",
    gdb.TYPE_CODE_RVALUE_REF: "pointer", gdb.TYPE_CODE_ARRAY: "array",
    gdb.TYPE_CODE_STRUCT: "struct", gdb.TYPE_CODE_UNION: "struct",
    gdb.TYPE_CODE_FLT: "float",
}


class Found(NamedTuple):
    """A type and where it is described."""

    type: gdb.Type
    object: str


class Member(NamedTuple):
    """A member of a struct, counted in bytes from its start; type is None for one without bytes
    of its own (a bit field, a static member)."""

    offset: int
    type: Optional[gdb.Type]


def find_types(queries: List[protocol.TypeQuery]) -> List[Optional[protocol.Type]]:
    """Returns the layouts of types as the selected inferior has them."""
    types = remembered("type")
    fields = remembered("field")
    missing = [query for query in queries if query["name"] not in types
               or types[query["name"]] and any((query["name"], path) not in fields
                                               for path in query["fields"] or ())]
    if missing:
        absent = names_absent("type")
        with c_language():
            for query in missing:
                _look(query, types, fields, absent)
    return [_answer(query, types, fields) for query in queries]


def _look(query: protocol.TypeQuery, types: Dict[str, Optional[Found]],
          fields: Dict[Tuple[str, str], Optional[protocol.Field]], absent: Set[str]) -> None:
    """Looks for a type and its fields, and adds what it finds to those that are remembered, and
    a name that nothing has to the absent ones."""
    name = query["name"]
    if name not in types:
        types[name] = interrupts.allow(_find_type, name, absent) if _is_type(name) else None
    found = types[name]
    if found is None:
        return
    members: Dict[str, Dict[str, Member]] = {}
    for path in query["fields"] or ():
        if (name, path) not in fields:
            fields[name, path] = interrupts.allow(_field, found.type, path, members)


def _answer(query: protocol.TypeQuery, types: Dict[str, Optional[Found]],
            fields: Dict[Tuple[str, str], Optional[protocol.Field]]) -> Optional[protocol.Type]:
    """Returns the layout of a type that was looked for."""
    name = query["name"]
    found = types[name]
    if found is None:
        return None
    answer: protocol.Type = {"size": int(found.type.sizeof), "object": found.object, "fields": {}}
    for path in query["fields"] or ():
        field = fields[name, path]
        if field is not None:
            answer["fields"][path] = field
    return answer


def _is_type(name: str) -> bool:
    """Says whether name is one that a type can have, without a keyword."""
    return is_name(name) and name.split(" ")[0] not in ("struct", "union", "enum", "class")


def _find_type(name: str, absent: Set[str]) -> Optional[Found]:
    """Returns the type of this name. Adds it to the absent ones if no file has it.

    The program being debugged may have a type of the same name as the MPI library's, or a mere
    declaration of it: a complete one in a shared library goes first.
    """
    first = _lookup(name, absent)
    if first is None:
        return None
    main = gdb.current_progspace().filename
    path = _where(first)
    if _is_complete(first) and path and path != main:
        return Found(first, path)
    for kind in _types_of_symbols(name, main):
        if _is_complete(kind):
            return Found(kind, _where(kind))
    return Found(first, path) if _is_complete(first) else None


def _where(kind: gdb.Type) -> str:
    """Returns the path of what defines a type, which is not always what declares it."""
    return object_path(kind.strip_typedefs().objfile)


def _lookup(name: str, absent: Set[str]) -> Optional[gdb.Type]:
    """Returns the type that gdb finds first under a name: one of C's own, a typedef, a struct, a
    union or an enum."""
    if name in absent:
        return None
    if not _BUILT_IN.match(name) and not _is_described(name):
        absent.add(name)
        return None
    is_absent = True
    for prefix in ("", "struct ", "union ", "enum "):
        try:
            return gdb.lookup_type(prefix + name)
        except gdb.error as error:
            is_absent = is_absent and str(error).startswith("No ")  # not one that can't be read now
    if is_absent:
        absent.add(name)
    return None


def _is_described(name: str) -> bool:
    """Says whether a file may describe a type of this name. gdb's own search takes three times as
    long to deny that."""
    try:
        return any(look(name, domain) for objfile in gdb.objfiles() for domain in _DOMAINS
                   for look in (objfile.lookup_static_symbol, objfile.lookup_global_symbol))
    except gdb.error:
        return True  # what there is of debug information can't be read


def _types_of_symbols(name: str, main: Optional[str]) -> Iterator[gdb.Type]:
    """Yields the types of this name in any file, those in shared libraries first."""
    for objfile in sorted(gdb.objfiles(), key=lambda objfile: object_path(objfile) == main):
        for domain in _DOMAINS:
            for look in (objfile.lookup_static_symbol, objfile.lookup_global_symbol):
                symbol = look(name, domain)
                if symbol and symbol.addr_class == gdb.SYMBOL_LOC_TYPEDEF and symbol.type:
                    yield symbol.type


def _is_complete(kind: gdb.Type) -> bool:
    """Says whether a type is defined, and not only declared."""
    base = kind.strip_typedefs()
    if base.code in _RECORDS:
        return bool(base.fields())
    return int(base.sizeof) > 0 and base.code not in (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_ERROR)


def _field(root: gdb.Type, path: str,
           members: Dict[str, Dict[str, Member]]) -> Optional[protocol.Field]:
    """Returns where the member at a path is; members remembers the levels on the way."""
    kind, offset, level = root, 0, ""
    for name in path.split("."):
        base = kind.strip_typedefs()
        if base.code not in _RECORDS:
            return None
        if level not in members:
            members[level] = dict(_members(base, 0))
        member = members[level].get(name)
        if member is None or member.type is None:
            return None
        kind, offset, level = member.type, offset + member.offset, level + "." + name
    category = _category(kind.strip_typedefs())
    if category is None:
        return None
    return {"offset": offset, "size": int(kind.sizeof), "kind": category}


def _members(record: gdb.Type, offset: int) -> Iterator[Tuple[str, Member]]:
    """Yields the members of a struct or union, and those of its nameless ones and bases."""
    for field in record.fields():
        position = getattr(field, "bitpos", None)
        kind = field.type
        if not isinstance(position, int) or not kind:
            yield field.name or "", Member(0, None)
            continue
        start = offset + position // 8
        base = kind.strip_typedefs()
        if base.code in _RECORDS and (not field.name or field.is_base_class):
            yield from _members(base, start)
        if field.name:
            yield field.name, Member(start, None if field.bitsize else kind)


def _category(kind: gdb.Type) -> Optional[str]:
    """Returns the kind of a member as the protocol has it, or None for one that it does not."""
    if kind.code == gdb.TYPE_CODE_ENUM:
        negative = any(value.enumval < 0 for value in kind.fields())
        return "signed" if negative else "unsigned"
    if kind.code in _NUMBERS:
        return "signed" if int(gdb.Value(-1).cast(kind)) < 0 else "unsigned"
    return _OTHERS.get(kind.code)
