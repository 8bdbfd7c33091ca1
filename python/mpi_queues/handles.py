"""From values of the program's to MPI's handles, by their declared types."""

import base64
import re
from typing import Dict, NamedTuple, Optional, Tuple

import gdb

from . import protocol
from .selection import functions_not_called

# The kinds of handles that there are, in the words of the option -type, and their types in C.
C_TYPES: Dict[str, str] = {
    "comm": "MPI_Comm", "datatype": "MPI_Datatype", "request": "MPI_Request",
    "group": "MPI_Group", "win": "MPI_Win", "status": "MPI_Status", "op": "MPI_Op",
    "errhandler": "MPI_Errhandler", "file": "MPI_File", "info": "MPI_Info",
    "message": "MPI_Message", "session": "MPI_Session",
}
KINDS = tuple(C_TYPES)

# MPI's names for its types in C, which any of its libraries has; mpi_f08's are the same in the
# letters that the compiler likes.
_NAMES: Dict[str, str] = {name: kind for kind, name in C_TYPES.items()}
_FORTRAN_NAMES: Dict[str, str] = {name.lower(): kind for kind, name in C_TYPES.items()}

# The structs that handles point to.
_STRUCTS: Dict[str, str] = {
    # Open MPI, mpi.h
    "ompi_communicator_t": "comm", "ompi_datatype_t": "datatype", "ompi_request_t": "request",
    "ompi_group_t": "group", "ompi_win_t": "win", "ompi_op_t": "op",
    "ompi_errhandler_t": "errhandler", "ompi_file_t": "file", "ompi_info_t": "info",
    "ompi_message_t": "message", "ompi_instance_t": "session",
    # MPICH, mpio.h; its other handles are numbers
    "ADIOI_FileD": "file",
    # the MPI-5 ABI, mpi_abi.h
    "MPI_ABI_Comm": "comm", "MPI_ABI_Datatype": "datatype", "MPI_ABI_Request": "request",
    "MPI_ABI_Group": "group", "MPI_ABI_Win": "win", "MPI_ABI_Op": "op",
    "MPI_ABI_Errhandler": "errhandler", "MPI_ABI_File": "file", "MPI_ABI_Info": "info",
    "MPI_ABI_Message": "message", "MPI_ABI_Session": "session",
}
_STATUS_STRUCTS = ("ompi_status_public_t", "MPI_ABI_Status")

# The member of mpi_f08's types that is the INTEGER of the older bindings.
_FORTRAN_MEMBER = "mpi_val"

_REFERENCES = (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)
_POSSIBLE = _REFERENCES + (gdb.TYPE_CODE_TYPEDEF, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_STRUCT)
_INTEGERS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_ENUM)
_POINTER_NUMBERS = ("intptr_t", "uintptr_t")

# The bytes of an INTEGER of Fortran's unless a compiler is told otherwise.
_FORTRAN_SIZE = 4


class Meaning(NamedTuple):
    """What a type says of its values."""

    kind: str
    fortran: bool  # an INTEGER of the Fortran bindings, alone or in a type of mpi_f08's


def meaning(declared: gdb.Type) -> Optional[Meaning]:
    """Returns what a declared type says of its values; None if they are no handles.

    Every value that gdb prints is asked for this, so it must cost next to nothing for others.
    """
    code = declared.code
    if code not in _POSSIBLE:
        return None
    kind = declared
    while code == gdb.TYPE_CODE_TYPEDEF or code in _REFERENCES:
        if code == gdb.TYPE_CODE_TYPEDEF and kind.name in _NAMES:
            return Meaning(_NAMES[kind.name], _is_of_f08(kind.strip_typedefs()))
        kind = kind.target()
        code = kind.code
    if code == gdb.TYPE_CODE_PTR:
        pointed = kind.target()
        if pointed.code == gdb.TYPE_CODE_TYPEDEF:
            pointed = pointed.strip_typedefs()
        if pointed.code != gdb.TYPE_CODE_STRUCT:
            return None
        known = _STRUCTS.get(pointed.name or "")
        return Meaning(known, False) if known else None
    return _meaning_of_struct(kind) if code == gdb.TYPE_CODE_STRUCT else None


def _meaning_of_struct(kind: gdb.Type) -> Optional[Meaning]:
    """Returns what a struct says of its values: a status, or one of mpi_f08's types."""
    name = kind.name or ""
    if name in _STATUS_STRUCTS:
        return Meaning("status", False)
    known = _FORTRAN_NAMES.get(name.lower())
    if known == "status" and any((field.name or "").lower() == "mpi_source"
                                 for field in kind.fields()):
        return Meaning(known, name != C_TYPES[known])
    return Meaning(known, True) if known and _is_of_f08(kind) else None


def _is_of_f08(kind: gdb.Type) -> bool:
    """Says whether a type is one of mpi_f08's handles."""
    if kind.code != gdb.TYPE_CODE_STRUCT:
        return False
    fields = kind.fields()
    return len(fields) == 1 and (fields[0].name or "").lower() == _FORTRAN_MEMBER


def meaning_as(kind: str, declared: gdb.Type) -> Optional[Meaning]:
    """Returns what a type says of values that are said to be handles of a kind; None if they can't
    be.

    An integer that is shorter than a pointer can only be Fortran's where handles are pointers in
    C, and where they are integers there, too, Fortran has the same ones.
    """
    known = meaning(declared)
    if known:
        return Meaning(kind, known.fortran)
    bare = _without_references(declared)
    if kind == "status":
        is_array = bare.strip_typedefs().code == gdb.TYPE_CODE_ARRAY
        return Meaning(kind, is_array) if is_array or _is_struct(bare) else None
    base = bare.strip_typedefs()
    if base.code == gdb.TYPE_CODE_PTR:
        return Meaning(kind, False)
    if base.code in _INTEGERS:
        is_address = bare.name in _POINTER_NUMBERS
        is_fortran = int(base.sizeof) <= _FORTRAN_SIZE or (base.name or "").startswith("integer")
        return Meaning(kind, is_fortran and not is_address)
    return Meaning(kind, True) if _is_of_f08(base) else None


def _without_references(kind: gdb.Type) -> gdb.Type:
    """Returns the type that a reference is to, or any other as it is."""
    while kind.code in _REFERENCES:
        kind = kind.target()
    return kind


def _is_struct(kind: gdb.Type) -> bool:
    """Says whether a type is a struct."""
    return kind.strip_typedefs().code == gdb.TYPE_CODE_STRUCT


def handle_value(value: gdb.Value, what: Meaning) -> protocol.HandleValue:
    """Returns the handle that a value is. Raises gdb.error if it can't be read."""
    while value.type.strip_typedefs().code in _REFERENCES:
        value = value.referenced_value()
    base = value.type.strip_typedefs()
    size = int(base.sizeof)
    data = b""
    if what.kind == "status":
        number, data = _bytes_of(value, size)
    elif base.code == gdb.TYPE_CODE_STRUCT:
        member = value[base.fields()[0]]
        number, size = int(member), int(member.type.sizeof)
    else:
        number = int(value)
    return {
        "kind": what.kind,
        "fortran": what.fortran,
        "value": number if what.kind == "status" else number & ((1 << 8 * size) - 1),
        "data": base64.b64encode(data).decode("ascii"),
    }


def _bytes_of(value: gdb.Value, size: int) -> Tuple[int, bytes]:
    """Returns the address and the bytes of a value; the address is 0 if it is in no memory.

    Raises gdb.error if it can't be read.
    """
    value.fetch_lazy()
    place = value.address
    address = int(place) & ((1 << 64) - 1) if place is not None else 0
    if hasattr(value, "bytes"):  # since gdb 15
        return address, bytes(value.bytes)
    if place is None:
        raise gdb.error("The status is in no memory, where alone this gdb can read it.")
    return address, bytes(gdb.selected_inferior().read_memory(address, size))


# An expression that assigns.
_ASSIGNMENT = re.compile(r"(?<![=!<>])=(?!=)|\+\+|--")


def communicator(text: str) -> Optional[protocol.HandleValue]:
    """Returns the communicator's handle that a text is as an expression in the selected frame.

    Returns None if it is no such expression.
    The text may be meant as a name: nothing happens to the process by trying.
    """
    if _ASSIGNMENT.search(text):
        return None
    try:
        with functions_not_called():
            value = gdb.parse_and_eval(text)
            what = meaning(value.type)
            return handle_value(value, what) if what and what.kind == "comm" else None
    except (gdb.error, RuntimeError):
        return None
