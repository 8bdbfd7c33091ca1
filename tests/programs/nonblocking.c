/*
 * nonblocking: ranks that wait for collectives that others have not entered; see modes.h.
 *
 * The verdict on each is "deadlock", but for those below the line: nobody is stuck there.
 */
#include "expect.h"
#include "modes.h"

static MPI_Comm world = MPI_COMM_WORLD;
static MPI_Request request, two[2];

/* All three: 0 and 1 wait for rank 2, which has not entered the collective, and rank 2 for rank 0. */
static void allreduce(void) {
  if (rank == 2) RECV(0, TAG, world); /* @iallreduce-recv */
  MPI_Iallreduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @iallreduce */
}

/* 0 → 2 → 0: the root, rank 2, has not entered. Rank 1 waits, too. */
static void bcast(void) {
  if (rank == 2) RECV(0, TAG, world); /* @ibcast-recv */
  MPI_Ibcast(in, SMALL, MPI_DOUBLE, 2, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @ibcast */
}

/* 0 → 1 → 0: the root waits, rank 1 has not entered. Rank 2 has been through, and computes. */
static void gather(void) {
  static double all[3 * SMALL];
  if (rank == 1) RECV(0, TAG, world); /* @igather-recv */
  MPI_Igather(out, SMALL, MPI_DOUBLE, all, SMALL, MPI_DOUBLE, 0, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @igather */
  compute();
}

/* All three, on a duplicate of the world: its second collective. */
static void alltoall(void) {
  static double from[3 * SMALL];
  MPI_Comm comm;
  MPI_Comm_dup(world, &comm);
  MPI_Comm_set_name(comm, "copy");
  MPI_Ibarrier(comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 1) RECV(2, TAG, comm); /* @ialltoall-recv */
  MPI_Ialltoall(out, SMALL, MPI_DOUBLE, from, SMALL, MPI_DOUBLE, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @ialltoall */
}

/* 0 → 1 → 0: rank 0 begins the barrier and receives before it waits; rank 1 waits before it sends. */
static void cross(void) {
  if (rank == 0) {
    RECV(1, TAG, world); /* @cross-recv */
    MPI_Ibarrier(world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Ibarrier(world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* @cross */
    SEND_SMALL(0, TAG, world);
  }
}

/* 0 → 1 → 0: each waits for the barrier of a communicator on which the other has entered none. */
static void crossed(void) {
  MPI_Comm comms[2];
  for (int i = 0; i < 2; i++) MPI_Comm_dup(world, &comms[i]);
  MPI_Comm_set_name(comms[0], "first");
  MPI_Comm_set_name(comms[1], "second");
  MPI_Ibarrier(comms[rank], &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @icrossed */
}

/* 0 → 1 → 0, and rank 2: one of them has entered a single one of the two barriers. */
static void second(void) {
  MPI_Ibarrier(world, &two[0]);
  if (rank == 1) RECV(0, TAG, world); /* @second-recv */
  MPI_Ibarrier(world, &two[1]);
  MPI_Waitall(2, two, MPI_STATUSES_IGNORE); /* @second */
}

/* 0 → 1 → 0: either a barrier or a message will do, and neither comes. */
static void waitany(void) {
  int index;
  if (rank == 1) RECV(0, TAG, world); /* @iwaitany-recv */
  MPI_Ibarrier(world, &two[0]);
  MPI_Irecv(in, SMALL, MPI_DOUBLE, 1 - rank, TAG, world, &two[1]);
  MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE); /* @iwaitany */
}

/* 0 → 1 → 0: a collective that is started for the second time, beside one that never is, where MPI has such. */
static void persistent(void) {
#if MPI_VERSION >= 4
  MPI_Request never;
  MPI_Barrier_init(world, MPI_INFO_NULL, &never);
  MPI_Allreduce_init(out, in, SMALL, MPI_DOUBLE, MPI_SUM, world, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
  if (rank == 1) RECV(0, TAG, world); /* @init-recv */
#if MPI_VERSION >= 4
  MPI_Start(&request);
#else
  MPI_Iallreduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, world, &request);
#endif
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @init */
}

/* 0 → 2 → 0, and rank 1 waits, too: an intercommunicator of rank 0 and of ranks 1 and 2. */
static void inter(void) {
  MPI_Comm half, between;
  MPI_Comm_split(world, rank > 0, rank, &half);
  MPI_Intercomm_create(half, 0, world, rank == 0 ? 1 : 0, 11, &between);
  MPI_Comm_set_name(between, "between");
  if (rank == 2) RECV(0, TAG, world); /* @iinter-recv */
  MPI_Iallreduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, between, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @iinter */
  compute();
}

/* 0 → 1 → 0: rank 1 duplicates no communicator. */
static void idup(void) {
  MPI_Comm comm;
  if (rank == 1) RECV(0, TAG, world); /* @idup-recv */
  MPI_Comm_idup(world, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @idup */
}

/* A ring of all ranks, each of which has its neighbours on both sides. */
static MPI_Comm circle(void) {
  MPI_Comm comm;
  MPI_Cart_create(world, 1, &size, &(int){1}, 0, &comm);
  MPI_Comm_set_name(comm, "circle");
  return comm;
}

/* All three: ranks 0 and 1 wait for their neighbour 2, and that for rank 0. */
static void neighbours(void) {
  static double from[2 * SMALL];
  MPI_Comm comm = circle();
  if (rank == 2) RECV(0, TAG, comm); /* @neighbours-recv */
  MPI_Ineighbor_allgather(out, SMALL, MPI_DOUBLE, from, SMALL, MPI_DOUBLE, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @neighbours */
}

/* All three in the blocking call. */
static void neighbour(void) {
  static double from[2 * SMALL];
  MPI_Comm comm = circle();
  if (rank == 2) RECV(0, TAG, comm); /* @neighbour-recv */
  MPI_Neighbor_alltoall(out, SMALL, MPI_DOUBLE, from, SMALL, MPI_DOUBLE, comm); /* @neighbour */
}

/* ---- Nobody is stuck. */

/* Ranks 0 and 2 wait for a member that computes before it begins. */
static void late(void) {
  if (rank == 1) compute();
  MPI_Ibarrier(world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @late */
}

/* Rank 1 has entered and waits elsewhere, for rank 0, which waits for rank 2. That one computes first. */
static void elsewhere(void) {
  if (rank == 2) compute();
  MPI_Iallreduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, world, &request);
  if (rank == 1) RECV(0, TAG, world); /* @elsewhere-recv */
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @elsewhere */
  if (rank == 0) SEND_SMALL(1, TAG, world);
}

/* Rank 1 has entered, and computes before it hands on what rank 2 waits for. Rank 0 has been through. */
static void weak(void) {
  MPI_Iscan(out, in, SMALL, MPI_DOUBLE, MPI_SUM, world, &request);
  if (rank == 1) compute();
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @weak */
  compute();
}

/* Many are under way at once, again and again, and each is waited for last. */
static void many(void) {
  static double to[32][SMALL];
  MPI_Request all[32];
  for (;;) {
    int stop = rank == 0 && expect_exists("stop");
    MPI_Bcast(&stop, 1, MPI_INT, 0, world);
    if (stop) return;
    for (int i = 0; i < 32; i++)
      if (i % 2) MPI_Iallreduce(out, to[i], SMALL, MPI_DOUBLE, MPI_SUM, world, &all[i]);
      else MPI_Ibcast(to[i], SMALL, MPI_DOUBLE, i % size, world, &all[i]);
    for (int i = 31; i >= 0; i--) MPI_Wait(&all[i], MPI_STATUS_IGNORE);
  }
}

/* One barrier after the other: a rank is ahead of the others by one at most. */
static void barriers(void) {
  for (int stop = 0; !stop;) {
    int last = rank == 0 && expect_exists("stop");
    MPI_Iallreduce(&last, &stop, 1, MPI_INT, MPI_MAX, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100; i++) {
      MPI_Ibarrier(world, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
}

/* The root runs ahead of the others, which each compute a little between two of its messages. */
static void ahead(void) {
  static double sum;
  for (int stop = 0; !stop;) {
    if (rank == 0) stop = expect_exists("stop");
    MPI_Ibcast(&stop, 1, MPI_INT, 0, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100000 * rank; i++) sum += i;
    MPI_Iscatter(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, 0, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"iallreduce", 3, allreduce},
      {"ibcast", 3, bcast},
      {"igather", 3, gather},
      {"ialltoall", 3, alltoall},
      {"icross", 2, cross},
      {"icrossed", 2, crossed},
      {"second", 3, second},
      {"iwaitany", 2, waitany},
      {"init", 2, persistent},
      {"iinter", 3, inter},
      {"idup", 2, idup},
      {"neighbours", 3, neighbours},
      {"neighbour", 3, neighbour},
      {"late", 3, late},
      {"elsewhere", 3, elsewhere},
      {"weak", 3, weak},
      {"many-collectives", 3, many},
      {"barriers", 3, barriers},
      {"ahead", 3, ahead},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
