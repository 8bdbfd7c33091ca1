/*
 * singleton: one rank, which posts a receive, calls look(), and does so again.
 *
 * For tests that start it in a debugger, with a breakpoint at look.
 */
#include <mpi.h>

void look(void);

/* not inlined: in a loop of its own the breakpoint has one place */
__attribute__((noinline)) void look(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
  static double buffer[2][10];
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 2; i++) {
    MPI_Irecv(buffer[i], 10, MPI_DOUBLE, 0, 7 + i, MPI_COMM_WORLD, &requests[i]);
    look();
  }
  for (int i = 0; i < 2; i++) {
    MPI_Cancel(&requests[i]);
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
