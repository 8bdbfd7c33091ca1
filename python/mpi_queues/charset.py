"""Text that gdb's character set can't represent, such as a non-UTF-8 byte in a file name.

gdb's functions encode and decode text with the host's character set. Where that is ASCII
(LC_ALL=C), a function that returns the path of a program in a folder called "Müller" fails with
UnicodeDecodeError. Where it is UTF-8, a function that returns a name in Latin-1 does.
"""

import codecs
import contextlib
import os
import re
from typing import Iterator, Tuple, Union

_NOT_ASCII = re.compile(b"[\x80-\xff]*")


@contextlib.contextmanager
def lossless() -> Iterator[None]:
    """Makes gdb's functions return and take such text inside the block, as Python does file names.

    gdb says nothing of errors to Python's codecs, which then do what "strict" stands for.
    """
    before = codecs.lookup_error("strict")
    codecs.register_error("strict", _keep)
    try:
        yield
    finally:
        codecs.register_error("strict", before)


def end_lost() -> None:
    """Ends blocks that have lost their frames (see lost)."""
    codecs.register_error("strict", codecs.strict_errors)


def _keep(error: UnicodeError) -> Tuple[Union[str, bytes], int]:
    """Decodes or encodes what a codec can't, by os.fsdecode and os.fsencode."""
    if isinstance(error, UnicodeDecodeError):
        found = _NOT_ASCII.match(error.object, error.start)
        if found and found.group():
            return os.fsdecode(found.group()), found.end()
    elif isinstance(error, UnicodeEncodeError):
        return os.fsencode(error.object[error.start:error.end]), error.end
    raise error
