/*
 * ring: ranks that wait for each other, with many receives pending.
 *
 *   mpirun -n 3 ring COUNT [NAME]
 *
 * A rank that is about to wait has written ready-NAME-N in its working directory.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank, size, received = 0, count = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int *values = calloc(count, sizeof *values);
  MPI_Request *requests = calloc(count, sizeof *requests);
  for (int i = 0; i < count; i++)
    MPI_Irecv(&values[i], 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &requests[i]);
  char name[64];
  snprintf(name, sizeof name, "ready-%s-%d", argc > 2 ? argv[2] : "many", rank);
  fclose(fopen(name, "w"));
  MPI_Recv(&received, 1, MPI_INT, (rank + 1) % size, 99999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
