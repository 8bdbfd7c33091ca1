"""Waits in MPI for a message that nobody sends, inside of a finalizer.

Takes a file to make when it is about to wait. A garbage collection runs the finalizer, with a second
argument the end of the object's last reference. Python's own library has no MPI: the call is made
through ctypes, with the objects of Open MPI.
"""
import ctypes
import gc
import sys


class Receiver:
    """An object that receives a message when it ends."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.receive = library.MPI_Recv
        integer, own = (ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, name)))
                        for name in ("ompi_mpi_int", "ompi_mpi_comm_self"))
        self.arguments = [ctypes.byref(ctypes.c_int()), 1, integer, 0, 7, own, None]

    def __del__(self) -> None:
        with open(sys.argv[1], "w", encoding="ascii"):
            pass
        self.receive(*self.arguments)


def main() -> None:
    """Ends an object, in a garbage collection if it refers to itself."""
    library = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)
    library.MPI_Init(None, None)
    gc.disable()
    receiver = Receiver(library)
    if len(sys.argv) == 2:
        setattr(receiver, "itself", receiver)
    del receiver
    gc.collect()  # collects


main()
