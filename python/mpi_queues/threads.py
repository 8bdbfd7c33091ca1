"""Where the threads of the selected inferior are."""

from typing import List, Optional

import gdb

from . import interrupts, protocol
from .selection import thread_kept, whole_backtrace

# No honest request asks for more frames than this.
MAX_DEPTH = 1000

_MASK = (1 << 64) - 1
# Why an outermost frame has none beyond it. gdb also ends at main, for no reason.
_ENDS = (gdb.FRAME_UNWIND_NO_REASON, gdb.FRAME_UNWIND_OUTERMOST)


def list_threads(inferior: gdb.Inferior, depth: int) -> List[protocol.Thread]:
    """Returns the threads, each with at most depth of its frames, innermost first."""
    with thread_kept(), whole_backtrace():
        return [_thread(thread, depth)
                for thread in sorted(inferior.threads(), key=lambda thread: thread.num)]


def _thread(thread: gdb.InferiorThread, depth: int) -> protocol.Thread:
    """Returns where one thread is. Of a stack that can't be unwound there is what can be."""
    result: protocol.Thread = {"number": thread.num, "frames": [], "complete": False,
                               "registers": []}
    try:
        thread.switch()
        frame: Optional[gdb.Frame] = interrupts.allow(gdb.newest_frame)
        result["registers"] = _registers(frame) if frame else []
        while frame and len(result["frames"]) < depth:
            result["frames"].append({"function": frame.name() or "",
                                     "stack_pointer": _integer(frame.read_register("sp")) or 0})
            reason = frame.unwind_stop_reason()
            frame = interrupts.allow(frame.older)
            result["complete"] = not frame and reason in _ENDS
    except gdb.error:
        pass
    return result


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


def _integer(value: gdb.Value) -> Optional[int]:
    """Returns an integer or a pointer as an address, None for anything else."""
    if value.type.strip_typedefs().code not in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR):
        return None
    return int(value) & _MASK
