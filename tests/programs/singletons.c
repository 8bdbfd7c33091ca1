/* singletons: each process receives from rank 0, for ever: itself, if it is alone in its MPI_COMM_WORLD. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int got;
  MPI_Init(&argc, &argv);
  alarm(1800);
  MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
}
