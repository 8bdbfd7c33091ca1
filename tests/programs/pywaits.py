"""Waits in MPI for a message that nobody sends, and in another thread for time to pass.

Python's own library has no MPI: the calls are made through ctypes, with the objects of Open MPI.
Takes a file to make when it is about to wait. With a second argument it holds the global interpreter
lock in MPI, so that the other thread waits for the lock once its time has passed.
"""
import ctypes
import sys
import threading
import time


class Größe:
    """A class whose name is not ASCII."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.receive = library.MPI_Recv
        integer = self.object(library, "ompi_mpi_int")
        self.arguments = [ctypes.byref(ctypes.c_int()), 1, integer, 0, 7,
                          self.object(library, "ompi_mpi_comm_self"), None]

    @staticmethod
    def object(library: ctypes.CDLL, name: str) -> ctypes.c_void_p:
        """Returns a predefined handle."""
        return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, name)))

    def warte(self) -> None:
        """Waits in MPI."""
        for _ in [None]:
            # a comment, so that the lines of the function and of the call differ
            self.receive(
                *self.arguments)  # waits


def sleep(seconds: float) -> None:
    """Waits for time to pass."""
    time.sleep(seconds)  # sleeps


def main() -> None:
    """Waits in both ways."""
    holds = len(sys.argv) > 2
    library = (ctypes.PyDLL if holds else ctypes.CDLL)("libmpi.so.40", ctypes.RTLD_GLOBAL)
    library.MPI_Init(None, None)
    threading.Thread(target=sleep, args=[0.1 if holds else 3600], daemon=True).start()
    with open(sys.argv[1], "w", encoding="ascii"):
        pass
    # map calls the function from C, so that the interpreter's loop runs twice
    list(map(Größe.warte, [Größe(library)]))


main()
