/* A library that calls MPI for a program. */
#include <mpi.h>

int wrapping_receive(int source);
int MPI_Wrapping_receive(int source);

static int receive(int source) {
  int got;
  MPI_Recv(&got, 1, MPI_INT, source, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* receives */
  return got;
}

int wrapping_receive(int source) { return receive(source) + 1; }

/* It has a name like those of MPI's functions. */
int MPI_Wrapping_receive(int source) {
  int got;
  MPI_Recv(&got, 1, MPI_INT, source, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* looks alike */
  return got + 1;
}
