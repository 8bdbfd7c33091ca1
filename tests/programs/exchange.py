"""Two ranks of mpi4py that wait for each other: the message has another tag than the receive."""
from mpi4py import MPI

world = MPI.COMM_WORLD


def exchange(rank: int) -> None:
    """Waits for ever."""
    if rank == 0:
        world.recv(source=1, tag=7)  # receives
    else:
        world.send("a", dest=0, tag=8)
        world.Barrier()  # enters


exchange(world.rank)
