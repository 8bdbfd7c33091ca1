/*
 * ring: a job that works, for 1 or more ranks.
 *
 *   mpirun -n 4 ring OUTDIR [QUIET]
 *
 * Each rank passes numbers on to the next one, with MPI_Sendrecv, and checks
 * what comes, so that a message that is lost, repeated or overtaken is noticed.
 * Beside that each rank keeps a receive pending that nothing matches. All ready,
 * they go on until OUTDIR/stop exists, leave MPI, make OUTDIR/done-RANK and end
 * with status 0. A rank that sees something wrong aborts the job. With an
 * argument QUIET they pass on a number a millisecond, and leave the processors
 * to others meanwhile.
 */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"

#include <stdio.h>
#include <time.h>

enum { NUMBERS = 3, TAG = 5 };

static long expected(int rank, long round, int i) { return 1000000L * rank + 10 * round + i; }

/* Passes on the numbers of a round; rank 0 says whether it is the last one. */
static bool pass(int rank, int size, long round) {
  int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  long out[NUMBERS], in[NUMBERS];
  for (int i = 0; i < NUMBERS; i++) out[i] = expected(rank, round, i);
  MPI_Status status;
  MPI_Sendrecv(out, NUMBERS, MPI_LONG, next, TAG, in, NUMBERS, MPI_LONG, previous, MPI_ANY_TAG,
               MPI_COMM_WORLD, &status);
  int count;
  MPI_Get_count(&status, MPI_LONG, &count);
  if (count != NUMBERS || status.MPI_TAG != TAG || status.MPI_SOURCE != previous)
    expect_die("round %ld: %d numbers with tag %d from %d", round, count, status.MPI_TAG,
               status.MPI_SOURCE);
  for (int i = 0; i < NUMBERS; i++)
    if (in[i] != expected(previous, round, i))
      expect_die("round %ld: number %d is %ld", round, i, in[i]);
  int last = rank == 0 && round % 64 == 0 && expect_exists("stop");
  if (round % 64 == 0) MPI_Bcast(&last, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return last;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 2 || argc > 3) expect_die("usage: ring OUTDIR [QUIET]");
  expect_begin(argv[1], "rank");
  int rank = expect_self.world_rank, size = expect_self.world_size;
  MPI_Comm idle;
  MPI_Comm_dup(MPI_COMM_WORLD, &idle);
  expect_communicator(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  struct expect_op *pending = expect_post(expect_communicator(idle, "idle"), "irecv", 7,
                                          MPI_DOUBLE, (rank + 1) % size, 9);
  expect_settle(MPI_COMM_WORLD);
  expect_write();
  expect_ready(true);
  const struct timespec rest = {0, 1000000};
  for (long round = 1; !pass(rank, size, round); round++)
    if (argc > 2) nanosleep(&rest, NULL);
  MPI_Cancel(&pending->request);
  MPI_Wait(&pending->request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&idle);
  MPI_Finalize();
  char name[32];
  snprintf(name, sizeof name, "done-%d", rank);
  expect_touch(name);
}
