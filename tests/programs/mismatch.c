/*
 * mismatch: members of a communicator that do not give a collective the same; see modes.h.
 *
 * The verdict on each is "deadlock".
 */
#include "expect.h"
#include "modes.h"

static MPI_Comm world = MPI_COMM_WORLD;

/* Rank 1 alone is in another call: it waits for the others, and they for it. */
static void culprit(void) {
  if (rank == 1) MPI_Barrier(world); /* @culprit-barrier */
  else MPI_Allreduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, world); /* @culprit */
}

/* 0 → 1 → 0: each takes itself for the root and waits for the other. */
static void reduce(int count, MPI_Datatype type, MPI_Op op) {
  MPI_Reduce(out, in, count, type, op, rank, world); /* @reduce */
}

static void operation(void) { reduce(SMALL, MPI_DOUBLE, rank == 1 ? MPI_MAX : MPI_SUM); }

static void datatype(void) { reduce(SMALL, rank == 1 ? MPI_INT : MPI_FLOAT, MPI_SUM); }

static void length(void) { reduce(rank == 1 ? SMALL : SMALL / 2, MPI_DOUBLE, MPI_SUM); }

/* Rank 2 waits for rank 0 elsewhere, and all others in the barrier for it. */
static void missing(void) {
  if (rank == 2) RECV(0, TAG, world); /* @missing-recv */
  else MPI_Barrier(world); /* @missing */
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"culprit", 4, culprit},
      {"operation", 2, operation},
      {"datatype", 2, datatype},
      {"length", 2, length},
      {"missing", 4, missing},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
