/*
 * collective: ranks that don't meet in a collective call; see modes.h.
 *
 * The verdict on each is "deadlock".
 */
#include "expect.h"
#include "modes.h"

static MPI_Comm world = MPI_COMM_WORLD;

/* All four: two are in each call, and wait for the other two. */
static void barrier_allreduce(void) {
  if (rank < 2) MPI_Barrier(world); /* @barrier-allreduce-barrier */
  else MPI_Allreduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, world); /* @barrier-allreduce */
}

/* All three: ranks 1 and 2 wait for what rank 0, the root, is to send, and rank
 * 0 for both in the barrier. */
static void barrier_bcast(void) {
  if (rank == 0) MPI_Barrier(world); /* @barrier-bcast-barrier */
  else MPI_Bcast(in, SMALL, MPI_DOUBLE, 0, world); /* @barrier-bcast */
}

/* 0 → 1 → 0; rank 2 waits in the barrier for rank 0 alone: it is stuck. */
static void barrier_recv(void) {
  if (rank > 0) MPI_Barrier(world); /* @barrier-recv */
  else RECV(1, TAG, world); /* @barrier-recv-recv */
}

/* The same after twenty collectives of each kind, for which MPICH has then come to
 * use flags in shared memory instead of messages. */
static void often(void) {
  for (int i = 0; i < 20; i++) {
    MPI_Bcast(in, SMALL, MPI_DOUBLE, 0, world);
    MPI_Reduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, 0, world);
    MPI_Allreduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, world);
    MPI_Barrier(world);
  }
  if (rank > 0) MPI_Barrier(world); /* @often */
  else RECV(1, TAG, world); /* @often-recv */
}

/* 0 → 1 → 0: each takes the other for the root; rank 2 waits for rank 0: stuck. */
static void roots(void) {
  MPI_Bcast(in, SMALL, MPI_DOUBLE, rank == 0 ? 1 : 0, world); /* @roots */
}

/* 0 → 1 → 0: the root waits for all, rank 1 has not come. Rank 2 has been here,
 * which costs it no waiting, and computes. */
static void gather(void) {
  static double all[3 * SMALL];
  if (rank == 1) RECV(0, TAG, world); /* @gather-recv */
  MPI_Gather(out, SMALL, MPI_DOUBLE, all, SMALL, MPI_DOUBLE, 0, world); /* @gather */
  compute();
}

/* 0 → 1 → 0: each in the barrier of another communicator. */
static void crossed(void) {
  MPI_Comm comms[2];
  for (int i = 0; i < 2; i++) MPI_Comm_dup(world, &comms[i]);
  MPI_Comm_set_name(comms[0], "first");
  MPI_Comm_set_name(comms[1], "second");
  MPI_Barrier(comms[rank]); /* @crossed */
}

/* 0 → 1 → 0. */
static void copy(void) {
  MPI_Comm duplicate;
  if (rank == 0) MPI_Comm_dup(world, &duplicate); /* @copy */
  else MPI_Barrier(world); /* @copy-barrier */
}

/* 0 → 1 → 0: rank 1 never enters the barrier that rank 0 has begun. */
static void ibarrier(void) {
  MPI_Request request;
  if (rank == 1) RECV(0, TAG, world); /* @ibarrier-recv */
  MPI_Ibarrier(world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @ibarrier */
}

/* 1 → 4 → 1 in the barrier of a communicator of 1, 3 and 4: rank 4 receives from
 * rank 1, and rank 3 waits in the barrier for it: stuck. Ranks 0 and 2 compute. */
static void part(void) {
  MPI_Comm comm;
  bool member = rank == 1 || rank > 2;
  MPI_Comm_split(world, member, -rank, &comm);
  MPI_Comm_set_name(comm, "part");
  if (!member) compute();
  if (rank == 4) RECV(2, TAG, comm); /* @part-recv */
  else MPI_Barrier(comm); /* @part */
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"barrier-allreduce", 4, barrier_allreduce},
      {"barrier-bcast", 3, barrier_bcast},
      {"barrier-recv", 3, barrier_recv},
      {"often", 3, often},
      {"roots", 3, roots},
      {"gather", 3, gather},
      {"crossed", 2, crossed},
      {"copy", 2, copy},
      {"ibarrier", 2, ibarrier},
      {"part", 5, part},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
