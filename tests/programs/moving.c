/*
 * moving: jobs that are not deadlocked, however they look; see modes.h.
 *
 * The verdict on each is "no deadlock". The last ones run all the time: whenever
 * they are stopped, they must not be called deadlocked.
 */
#include "expect.h"
#include "modes.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Comm world = MPI_COMM_WORLD;

/* Rank 0's receives from ranks 1 and 2. */
static void receive_both(MPI_Request requests[2]) {
  for (int i = 0; i < 2; i++)
    MPI_Irecv(in + i * SMALL, SMALL, MPI_DOUBLE, i + 1, TAG, world, &requests[i]);
}

/* All wait for rank 0, which computes. */
static void slow(void) {
  if (rank == 0) compute();
  if (rank == 1) RECV(0, TAG, world); /* @slow-recv */
  MPI_Barrier(world); /* @slow */
}

/* Two messages that find their way into buffers of MPI's; both ranks compute. */
static void below(void) {
  SEND_SMALL(next, TAG, world);
  compute();
}

/* Rank 1 waits for rank 0, but rank 2, which computes, may send to it. */
static void wildcard(void) {
  if (rank == 2) compute();
  int from = rank == 0 ? MPI_ANY_SOURCE : 0;
  RECV(from, TAG, world); /* @wildcard */
}

/* The same with a receive for each. */
static void wait_any_or_some(bool any) {
  MPI_Request requests[2];
  int done, which[2];
  if (rank == 2) compute();
  if (rank == 1) RECV(0, TAG, world); /* @waitany-recv */
  receive_both(requests);
  if (any) MPI_Waitany(2, requests, which, MPI_STATUS_IGNORE); /* @waitany */
  else MPI_Waitsome(2, requests, &done, which, MPI_STATUSES_IGNORE); /* @waitsome */
}

static void waitany(void) { wait_any_or_some(true); }
static void waitsome(void) { wait_any_or_some(false); }

/* The same with a probe. */
static void probe(void) {
  if (rank == 2) compute();
  if (rank == 1) RECV(0, TAG, world); /* @probe-recv */
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE); /* @probe */
}

static void *compute_beside(void *unused) {
  compute();
  return unused;
}

/* Both wait for each other, but a thread of rank 0 computes, and may send. */
static void thread(void) {
  pthread_t other;
  if (rank == 0 && pthread_create(&other, NULL, compute_beside, NULL)) expect_die("no thread");
  RECV(next, TAG, world); /* @thread */
}

/* Rank 1 waits for rank 0, which looks for a message from time to time. */
static void polling(void) {
  int flag = 0;
  if (rank == 1) RECV(0, TAG, world); /* @polling-recv */
  while (!flag) MPI_Iprobe(1, TAG, world, &flag, MPI_STATUS_IGNORE); /* @polling */
}

/* Running: a message goes to and fro. */
static void pingpong(void) {
  for (;;) {
    if (rank == 0) SEND_SMALL(1, TAG, world);
    RECV(1 - rank, TAG, world);
    if (rank == 1) SEND_SMALL(0, TAG, world);
  }
}

/* Running: each exchanges messages of all sizes with both neighbours. */
static void exchange(void) {
  for (int count = SMALL;; count = count < LARGE / 8 ? count * 4 : SMALL) {
    MPI_Request requests[4];
    MPI_Irecv(in, count, MPI_DOUBLE, previous, TAG, world, &requests[0]);
    MPI_Irecv(in + LARGE / 2, count, MPI_DOUBLE, next, TAG, world, &requests[1]);
    MPI_Isend(out, count, MPI_DOUBLE, next, TAG, world, &requests[2]);
    MPI_Isend(out, count, MPI_DOUBLE, previous, TAG, world, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
}

#define MANY 2000 /* messages: more than a library hands on while their receiver takes none */

/* Rank 1, which computes, takes none of rank 0's messages, so that not all of them can leave. */
static void flood(void) {
  static MPI_Request requests[MANY];
  if (rank == 1) compute();
  if (rank == 1) return;
  for (int i = 0; i < MANY; i++) MPI_Isend(out, SMALL, MPI_DOUBLE, 1, TAG, world, &requests[i]);
  MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE); /* @flood */
}

/* Rank 1 waits for messages that rank 0 has begun to send before it computed. Its Open MPI has room for so few that it
   can't answer all of those that have come. */
static void left_behind(void) {
  static MPI_Request requests[MANY];
  for (int i = 0; i < MANY; i++) {
    if (rank == 0) MPI_Isend(out, LARGE, MPI_DOUBLE, 1, TAG, world, &requests[i]);
    if (rank == 1) MPI_Irecv(in, LARGE, MPI_DOUBLE, 0, TAG, world, &requests[i]);
  }
  if (rank == 0) compute();
  if (rank == 1) MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE); /* @left-behind */
}

/* The shared memory of Open MPI 4.1 is vader's, later sm's. */
static void have_little_room(void) {
  static const char *const names[] = {"vader_free_list_num", "vader_free_list_max", "vader_fbox_max", "sm_free_list_num", "sm_free_list_max", "sm_fbox_max"};
  for (int i = 0; i < 6; i++) {
    char name[64];
    snprintf(name, sizeof name, "OMPI_MCA_btl_%s", names[i]);
    setenv(name, strstr(name, "fbox") ? "0" : "4", 1);
  }
}

/* Running: one collective after another, so that ranks are in different ones. */
static void collectives(void) {
  for (int root = 0;; root = (root + 1) % size) {
    MPI_Barrier(world);
    MPI_Bcast(in, SMALL, MPI_DOUBLE, root, world);
    MPI_Allreduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, world);
    MPI_Reduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, root, world);
  }
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"slow", 4, slow},
      {"below", 2, below},
      {"wildcard", 3, wildcard},
      {"waitany", 3, waitany},
      {"waitsome", 3, waitsome},
      {"probe", 3, probe},
      {"thread", 2, thread, true},
      {"polling", 2, polling},
      {"flood", 2, flood},
      {"left-behind", 2, left_behind},
      {"pingpong", 2, pingpong},
      {"exchange", 3, exchange},
      {"collectives", 3, collectives},
  };
  const char *own = getenv("OMPI_COMM_WORLD_RANK");
  if (argc == 3 && !strcmp(argv[2], "left-behind") && own && !strcmp(own, "1")) have_little_room();
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
