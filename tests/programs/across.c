/* across: ranks at two places. All but the last one receive from it in exchange; the last one waits in compute, until OUTDIR/stop
   exists, and sends then. What is in their variables differs in ways that are known. */
#include "expect.h"

#include <math.h>
#include <unistd.h>

static int last; /* the rank that the others wait for */

struct grid {
  int width, height;
  double origin[2];
};

static int exchange(struct grid *grid, int tag, const char *side) {
  int from;
  MPI_Recv(&from, 1, MPI_INT, last, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return from + grid->width + side[0];
}

static int compute(struct grid *grid, int iteration) {
  while (!expect_exists("stop")) usleep(10000);
  return iteration + grid->height;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  expect_begin(argv[1], "rank");
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  last = size - 1;
  struct grid grid = {64, 32, {0.5 * (rank % 2), 0}};
  int iteration = rank == 2 ? 11 : 12;
  double residual = rank == 1 ? NAN : 1.0 / (1 << rank);
  expect_write();
  expect_ready(false);
  int result = 0;
  if (rank < last) {
    result = exchange(&grid, 7, rank % 2 ? "east" : "west");
  } else {
    result = compute(&grid, iteration);
    for (int to = 0; to < last; to++) MPI_Send(&result, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return result == 0 || isinf(residual);
}
