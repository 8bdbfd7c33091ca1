/*
 * blocked: deadlocks, for 2 or more ranks (3 in the tests).
 *
 *   mpirun -n 3 blocked OUTDIR [recv | send | ssend | barrier | waitall]
 *
 * recv (the default): each rank in MPI_Recv from the next one, and no sends.
 * send: each in an MPI_Send of 1 MiB to the next, and no receives; ssend: the
 * same with a small MPI_Ssend. barrier: rank 0 in MPI_Recv from rank 1, which
 * stands in MPI_Barrier with the others. waitall: each in MPI_Waitall for a
 * receive from the next one, of tag 7, and an Issend to it, of tag 8.
 *
 * Ready is said just before the blocking call: that a rank has entered it (and
 * that its message has arrived) must be seen from outside. "stop" is not heeded:
 * end the job from outside, or it ends after 1800 s.
 */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

static void wait_for_all(struct expect_comm *c, int next, int previous) {
  MPI_Request requests[2];
  requests[0] = expect_post(c, "irecv", 100, MPI_DOUBLE, next, 7)->request;
  requests[1] = expect_post(c, "issend", 10, MPI_DOUBLE, next, 8)->request;
  expect_unexpected(c, previous, 8, 10 * (long)sizeof(double));
  MPI_Barrier(MPI_COMM_WORLD);
  expect_write();
  expect_ready(true);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  expect_die("MPI_Waitall came back");
}

int main(int argc, char **argv) {
  static double buffer[131072];
  MPI_Init(&argc, &argv);
  if (argc < 2 || argc > 3) expect_die("usage: blocked OUTDIR [recv | send | ssend | barrier | waitall]");
  expect_begin(argv[1], "rank");
  const char *mode = argc > 2 ? argv[2] : "recv";
  int rank = expect_self.world_rank, size = expect_self.world_size;
  int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  struct expect_comm *world = expect_communicator(MPI_COMM_WORLD, "MPI_COMM_WORLD");

  if (!strcmp(mode, "waitall")) wait_for_all(world, next, previous);
  bool barrier = !strcmp(mode, "barrier"), recv = barrier || !strcmp(mode, "recv");
  bool ssend = !strcmp(mode, "ssend");
  if (!recv && !ssend && strcmp(mode, "send")) expect_die("no mode %s", mode);
  int count = recv ? 100 : ssend ? 10 : 131072;
  struct expect_op *op = NULL;
  if (!barrier || rank == 0)
    op = expect_note(world, recv ? "recv" : ssend ? "ssend" : "send", count, MPI_DOUBLE, next, 7);
  if (op) op->buffer = buffer;
  if (!recv) expect_unexpected(world, previous, 7, count * (long)sizeof(double));

  MPI_Barrier(MPI_COMM_WORLD);
  expect_write();
  expect_ready(true);
  if (!op) MPI_Barrier(MPI_COMM_WORLD);
  else if (recv) MPI_Recv(buffer, count, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else if (ssend) MPI_Ssend(buffer, count, MPI_DOUBLE, next, 7, MPI_COMM_WORLD);
  else MPI_Send(buffer, count, MPI_DOUBLE, next, 7, MPI_COMM_WORLD);
  expect_die("%s came back", mode);
}
