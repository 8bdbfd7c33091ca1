/*
 * mistake: messages that miss their receives, and ranks that are gone; see modes.h.
 *
 * Where nothing else is said the verdict is "deadlock".
 */
#include "expect.h"
#include "modes.h"

#include <unistd.h>

static MPI_Comm world = MPI_COMM_WORLD;

/* 0 → 1 → 0: the tag differs. */
static void tag(void) {
  if (rank == 0) RECV(1, TAG, world); /* @tag-recv */
  else SSEND(0, TAG + 1, world); /* @tag */
}

/* 0 → 1 → 0: the communicator differs. */
static void communicator(void) {
  MPI_Comm comms[2];
  for (int i = 0; i < 2; i++) MPI_Comm_dup(world, &comms[i]);
  MPI_Comm_set_name(comms[0], "left");
  MPI_Comm_set_name(comms[1], "right");
  if (rank == 0) RECV(1, TAG, comms[0]); /* @communicator-recv */
  else SSEND(0, TAG, comms[1]); /* @communicator */
}

/* 0 → 1 → 0: the message is rank 2's. That one is stuck. */
static void source(void) {
  if (rank == 0) RECV(1, TAG, world); /* @source-recv */
  if (rank == 1) RECV(0, TAG, world); /* @source-other */
  SSEND(0, TAG, world); /* @source */
}

/* 0 → 1 → 0, and rank 0 has no receive for what rank 2 sends: it is stuck. */
static void never(void) {
  if (rank < 2) RECV(1 - rank, TAG, world); /* @never-recv */
  else SSEND(0, TAG + 1, world); /* @never */
}

/* The same, but rank 2 need not wait, and computes. */
static void never_small(void) {
  if (rank < 2) RECV(1 - rank, TAG, world); /* @never-small */
  SEND_SMALL(0, TAG + 1, world);
  compute();
}

/* All three: ranks 0 and 1 receive from rank 2, which has left and waits in
 * MPI_Finalize for them. */
static void left(void) {
  if (rank == 2) MPI_Finalize(); /* @left-finalize */
  else RECV(2, TAG, world); /* @left */
}

/* Rank 2 is gone without a word, so the others are deadlocked, in no circle. Both
 * launchers have to be told to let it go. */
static void gone(void) {
  if (rank == 2) _exit(0);
  RECV(2, TAG, world); /* @gone */
}

/* "no deadlock": rank 1, which computes, has posted a receive of 64 bytes for
 * the 1 MiB that rank 0 sends: an error when it looks. */
static void truncation(void) {
  MPI_Request request;
  if (rank == 1) {
    MPI_Irecv(in, SMALL, MPI_DOUBLE, 0, TAG, world, &request);
    expect_touch("posted");
    compute();
  }
  expect_await("posted");
  MPI_Isend(out, LARGE, MPI_DOUBLE, 1, TAG, world, &request);
  MPI_Waitall(1, &request, MPI_STATUSES_IGNORE); /* @truncation */
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"tag", 2, tag},
      {"communicator", 2, communicator},
      {"source", 3, source},
      {"never", 3, never},
      {"never-small", 3, never_small},
      {"left", 3, left},
      {"gone", 3, gone},
      {"truncation", 2, truncation},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
