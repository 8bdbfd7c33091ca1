/*
 * refused: a rank that can't hand over a message, since its peer computes, for 8 ranks.
 *
 *   mpirun -n 8 refused OUTDIR send
 *
 * Rank 0 has a synchronous send to rank 2, which receives another message first. Before that
 * goes out rank 0 sends to rank 3, with which MPI_Init has not connected it: libfabric refuses
 * that message as long as rank 3 computes. Nobody is deadlocked, though rank 2 waits for rank 0,
 * and rank 0 has a send that only rank 2 can take. With other libraries both get through.
 */
#include "expect.h"
#include "modes.h"

static void refused(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Issend(out, SMALL, MPI_DOUBLE, 2, TAG, MPI_COMM_WORLD, &request);
    SEND_SMALL(3, TAG, MPI_COMM_WORLD);
    SEND_SMALL(2, TAG + 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 2) {
    RECV(0, TAG + 1, MPI_COMM_WORLD);
    RECV(0, TAG, MPI_COMM_WORLD);
  } else {
    compute();
  }
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"send", 8, refused},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
