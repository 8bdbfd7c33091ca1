/*
 * across: ranks at two places, with values that differ from rank to rank.
 *
 * All but the last rank receive from it in exchange. The last one waits in compute for SIGUSR1, and then
 * sends. A rank makes the file waiting-RANK just before the call in which it is looked at.
 */
#include "expect.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>

static int last; /* the rank that the others wait for */
static double residual;

struct grid {
  int width, height;
  double origin[2];
};

static int exchange(struct grid *grid, int tag, const char *side) {
  int result;
  MPI_Recv(&result, 1, MPI_INT, last, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return result + grid->width + side[0];
}

static int compute(struct grid *grid, const sigset_t *signals) {
  int signal;
  sigwait(signals, &signal);
  return signal + grid->height;
}

int main(int argc, char **argv) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigprocmask(SIG_BLOCK, &signals, NULL); /* in the threads of the MPI library too */
  MPI_Init(&argc, &argv);
  expect_begin(argv[1], "rank");
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  last = size - 1;
  struct grid grid = {64, 32, {0.5 * (rank % 2), 0}};
  int iteration = rank == 2 ? 11 : 12;
  residual = rank == 1 ? NAN : 1.0 / (1 << rank);
  char waiting[40];
  snprintf(waiting, sizeof waiting, "waiting-%d", rank);
  expect_write();
  expect_ready(false);
  expect_touch(waiting);
  int result = iteration;
  if (rank < last) {
    result += exchange(&grid, 7, rank % 2 ? "east" : "west");
  } else {
    result += compute(&grid, &signals);
    for (int to = 0; to < last; to++) MPI_Send(&result, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return isinf(residual);
}
