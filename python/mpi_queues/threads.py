"""Where the threads of the selected inferior are."""

from typing import Dict, FrozenSet, List, Optional

import gdb

from . import file_locks, interrupts, procfs, protocol
from .selection import selection_kept, unwinding, whole_backtrace
from .targets import kind_of

# No honest request asks for more frames than this.
MAX_DEPTH = 1000

_MASK = (1 << 64) - 1
_SCALARS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_BOOL,
            gdb.TYPE_CODE_CHAR)
# Where the number of a system call and its arguments stand, by gdb's name of the architecture:
# also in core files (Linux, arch/x86/entry/calling.h).
_SYSTEM_CALLS = {"i386:x86-64": ("orig_rax", ("rdi", "rsi", "rdx", "r10", "r8", "r9"))}
# The numbers of the system calls there whose first argument is a descriptor in which they may wait
# (arch/x86/entry/syscalls/syscall_64.tbl): read, write, fstat, lseek, ioctl, pread64, pwrite64,
# readv, writev, sendfile, connect, accept, sendto, recvfrom, sendmsg, recvmsg, fcntl, flock, fsync,
# fdatasync, ftruncate, getdents, getdents64, fallocate, accept4, preadv, pwritev, syncfs, preadv2,
# pwritev2.
_OF_FILES = frozenset((0, 1, 5, 8, 16, 17, 18, 19, 20, 40, 42, 43, 44, 45, 46, 47, 72, 73, 74, 75,
                       77, 78, 217, 285, 288, 295, 296, 306, 327, 328))
# The registers that a function has to keep for its caller, by gdb's name of the architecture
# (System V ABI, AMD64 supplement, section 3.2.1; Procedure Call Standard for the Arm 64-bit
# Architecture, section 6.1.1).
_KEPT = {"i386:x86-64": ("rbx", "rbp", "r12", "r13", "r14", "r15"),
         "aarch64": tuple("x%d" % number for number in range(19, 30))}
# How the names of MPI's functions begin.
_MPI = ("MPI_", "PMPI_")
# Why an outermost frame has none beyond it. gdb also ends at main, for no reason.
_ENDS = (gdb.FRAME_UNWIND_NO_REASON, gdb.FRAME_UNWIND_OUTERMOST)


def list_threads(inferior: gdb.Inferior, depth: int,
                 variables: List[str]) -> List[protocol.Thread]:
    """Returns the threads, each with at most depth of its frames, innermost first.

    variables are the names of the arguments that are wanted of the frames' functions.
    """
    wanted = frozenset(variables)
    with selection_kept(), whole_backtrace(), unwinding():
        pid = inferior.pid if kind_of(inferior) == "live" else 0
        return [interrupts.allow(_thread, thread, depth, wanted, pid)
                for thread in sorted(inferior.threads(), key=lambda thread: thread.num)]


def _thread(thread: gdb.InferiorThread, depth: int, wanted: FrozenSet[str],
            pid: int) -> protocol.Thread:
    """Returns where one thread is. Of a stack that can't be unwound there is what can be.

    pid is that of a live process of this machine, else 0.
    """
    result: protocol.Thread = {"number": thread.num, "id": thread.ptid[1], "system_call": None,
                               "frames": [], "complete": False, "registers": []}
    try:
        thread.switch()
        frame: Optional[gdb.Frame] = gdb.newest_frame()
        if frame:
            result["registers"] = _registers(frame)
            result["system_call"] = _system_call(frame, pid)
        inner: Optional[List[gdb.Frame]] = []  # than the caller of the innermost MPI call
        while frame and len(result["frames"]) < depth:
            result["frames"].append(_frame(frame, wanted))
            if len(result["frames"]) > 1:
                _name_called(result["frames"][-2], frame)
            if inner is not None:
                inner.append(frame)
                if len(inner) > 1 and result["frames"][-2]["function"].startswith(_MPI):
                    for i, of_call in enumerate(inner):
                        result["frames"][i]["kept"] = _kept(of_call)
                    inner = None
            older = frame.older()
            result["complete"] = not older and _stop_reason(frame) in _ENDS
            frame = older
    except gdb.error:
        pass
    return result


def _stop_reason(outermost: gdb.Frame) -> int:
    """Returns why gdb found no frame beyond the outermost one.

    gdb stops at main without unwinding it, so that Frame.unwind_stop_reason still has to. gdb 18.1
    does not catch what is raised meanwhile (python/py-frame.c, frapy_unwind_stop_reason): Ctrl-C
    would drop all Python frames without running their `finally' blocks.
    """
    with interrupts.held():
        return outermost.unwind_stop_reason()


def _name_called(inner: protocol.Frame, caller: gdb.Frame) -> None:
    """Gives a function of a library that has no name that of the MPI call by which it was entered.

    In Intel MPI the symbols of some calls are no more than jumps to functions without names. What
    the caller, in another file, has called is in its own call instruction (Intel 64 and IA-32
    Architectures Software Developer's Manual, volume 2, CALL), if that has a fixed target: an
    entry of the procedure linkage table, or a pointer.
    """
    if inner["function"] or not inner["object"] or caller.architecture().name() != "i386:x86-64":
        return
    if (gdb.solib_name(caller.pc()) or "") == inner["object"]:
        return
    called = caller.newer()
    if called is None or called.type() != gdb.NORMAL_FRAME:  # a signal has interrupted the caller
        return
    try:
        name = _called(caller.pc())
    except (gdb.error, ValueError):
        return
    if name.startswith(_MPI):
        inner["function"] = name


def _called(after: int) -> str:
    """Returns the name of what the call instruction that ends at an address has called."""
    length = 6
    if after < length:  # an unwinder that lacks the library's tables has ended in a small number
        return ""
    code = bytes(gdb.selected_inferior().read_memory(after - length, length))
    target = after + int.from_bytes(code[2:], "little", signed=True)
    if code[1] == 0xe8:  # call rel32
        found = gdb.execute("info symbol %#x" % (target & _MASK), to_string=True)
        name, linked, _ = found.partition("@plt in section ")
        return name if linked else ""
    if code[:2] != b"\xff\x15":  # call *disp32(%rip)
        return ""
    pointer = bytes(gdb.selected_inferior().read_memory(target & _MASK, 8))
    found = gdb.execute("info symbol %#x" % int.from_bytes(pointer, "little"), to_string=True)
    return found.partition(" in section ")[0]


def _kept(frame: gdb.Frame) -> List[int]:
    """Returns the values of the registers that are kept for callers, 0 for what is not known."""
    values = []
    for name in _KEPT.get(frame.architecture().name(), ()):
        try:
            values.append(_integer(frame.read_register(name)) or 0)
        except (gdb.error, ValueError):
            values.append(0)
    return values


def _frame(frame: gdb.Frame, wanted: FrozenSet[str]) -> protocol.Frame:
    """Returns what is known of a frame."""
    result: protocol.Frame = {
        "function": frame.name() or "",
        "stack_pointer": _integer(frame.read_register("sp")) or 0,
        "object": gdb.solib_name(frame.pc()) or "",
        "file": "", "line": 0, "variables": {}, "kept": [],
    }
    try:
        place = frame.find_sal()
        if place.symtab:
            result["file"], result["line"] = place.symtab.filename, place.line
            result["variables"] = _variables(frame, wanted)
    except (gdb.error, RuntimeError):
        pass  # what there is of debug information can't be read
    return result


def _variables(frame: gdb.Frame, wanted: FrozenSet[str]) -> Dict[str, int]:
    """Returns those arguments of a frame's function that are wanted and can be read."""
    found: Dict[str, int] = {}
    block: Optional[gdb.Block] = frame.block() if wanted and frame.function() else None
    while block and not block.function:
        block = block.superblock
    for symbol in block or ():
        if symbol.is_argument and symbol.name in wanted:
            try:
                value = _scalar(symbol.value(frame))
            except gdb.error:  # memory that can't be read
                continue
            if value is not None:
                found[symbol.name] = value
    return found


def _registers(frame: gdb.Frame) -> List[int]:
    """Returns the values of the integer registers that can be read."""
    values = []
    for register in frame.architecture().registers("general"):
        try:
            value = _integer(frame.read_register(register.name))
        except (gdb.error, ValueError):
            continue
        if value is not None:
            values.append(value)
    return values


def _system_call(frame: gdb.Frame, pid: int) -> Optional[protocol.SystemCall]:
    """Returns the system call that the thread of an innermost frame is in, None if not known."""
    known = _SYSTEM_CALLS.get(frame.architecture().name())
    if not known:
        return None
    try:
        number = _integer(frame.read_register(known[0]))
        arguments = [_integer(frame.read_register(name)) for name in known[1]]
    except (gdb.error, ValueError):
        return None
    if number is None or None in arguments:
        return None
    given = [argument or 0 for argument in arguments]
    return {"number": number - (_MASK + 1) if number > _MASK >> 1 else number,
            "arguments": given,
            "file": procfs.descriptor(pid, given[0]) if number in _OF_FILES else "",
            "lock_holders": file_locks.holders(pid, number, given, _memory) if pid else []}


def _memory(address: int, length: int) -> bytes:
    """Returns bytes of the selected inferior."""
    return bytes(gdb.selected_inferior().read_memory(address, length))


def _integer(value: gdb.Value) -> Optional[int]:
    """Returns an integer or a pointer as an address, None for anything else."""
    if value.type.strip_typedefs().code not in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR):
        return None
    return int(value) & ((1 << 8 * int(value.type.sizeof)) - 1)


def _scalar(value: gdb.Value) -> Optional[int]:
    """Returns a number or an address as 64 bits with a sign, None for anything else."""
    if value.is_optimized_out or value.type.strip_typedefs().code not in _SCALARS:
        return None
    number = int(value) & _MASK
    return number - (_MASK + 1) if number > _MASK >> 1 else number
