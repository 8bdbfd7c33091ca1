/*
 * wrapped: ranks wait for each other in calls that libraries make for them.
 *
 *   mpirun -n 2 wrapped library|lookalike|tool
 *
 * Both ranks wait: in MPI_Recv, which a library's function calls for them; in the same, called by a function of the
 * library that only has a name like MPI's; or in MPI_Ssend, where a tool's functions are between the program and MPI.
 *
 * libraries: libwrapping.so.1=wrapping.c libtracing.so.1=tracing.c
 */
#include <mpi.h>
#include <string.h>

int wrapping_receive(int source);
int MPI_Wrapping_receive(int source);

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, other;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  if (argc < 2) return 1;
  if (!strcmp(argv[1], "library")) wrapping_receive(other);                                           /* by a library */
  if (!strcmp(argv[1], "lookalike")) MPI_Wrapping_receive(other);                                     /* by a lookalike */
  if (!strcmp(argv[1], "tool")) MPI_Ssend(&rank, 1, MPI_INT, other, 7, MPI_COMM_WORLD);               /* by a tool */
  MPI_Finalize();
  return 0;
}
