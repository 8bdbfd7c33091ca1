/* freed: communicators come and go between stops, for a debugger with a breakpoint at "stop". */
#include <mpi.h>

void stop(void) { __asm__ volatile(""); }

static MPI_Comm duplicate(const char *name) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, name);
  return comm;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm first = duplicate("first"), second = duplicate("second"), third = duplicate("third");
  stop();
  MPI_Comm_free(&second);
  stop();
  MPI_Comm fourth = duplicate("fourth"); /* where the second one was */
  stop();
  MPI_Comm_free(&first);
  MPI_Comm_free(&third);
  MPI_Comm_free(&fourth);
  stop();
  MPI_Finalize();
  stop();
  return 0;
}
