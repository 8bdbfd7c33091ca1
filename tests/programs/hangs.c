/*
 * hangs: jobs that hang for good in ways that do not look like it; see modes.h.
 *
 * The verdict on none is "no deadlock". In the first three a rank makes the file
 * waiting-RANK just before the call, or the loop, in which it stays.
 */
#include "expect.h"
#include "modes.h"

#include <pthread.h>
#include <stdio.h>

static MPI_Comm world = MPI_COMM_WORLD;

static void waiting(void) {
  char name[32];
  snprintf(name, sizeof name, "waiting-%d", rank);
  expect_touch(name);
}

static void *receive(void *tag) {
  if (*(int *)tag == TAG) waiting();
  RECV(1 - rank, *(int *)tag, world); /* @join */
  return NULL;
}

/* Two threads of each rank wait for the other rank, and main waits for them. */
static void join(void) {
  pthread_t thread[2];
  static int tag[2] = {TAG, TAG + 1};
  for (int i = 0; i < 2; i++)
    if (pthread_create(&thread[i], NULL, receive, &tag[i])) expect_die("no thread");
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
}

/* Both ask over and over whether a receive is complete; neither sends. */
static void test(void) {
  MPI_Request request;
  MPI_Irecv(in, SMALL, MPI_DOUBLE, next, TAG, world, &request);
  waiting();
  for (int flag = 0; !flag; ) MPI_Test(&request, &flag, MPI_STATUS_IGNORE); /* @test */
}

/* Rank 0 looks over and over for a message; that of rank 1 has another tag. */
static void improbe(void) {
  MPI_Message message;
  if (rank == 1) SEND_SMALL(0, TAG + 1, world);
  waiting();
  if (rank == 1) RECV(0, TAG, world); /* @improbe-recv */
  for (int flag = 0; !flag; ) MPI_Improbe(1, TAG, world, &flag, &message, MPI_STATUS_IGNORE); /* @improbe */
}

/* All three: ranks 0 and 1 split the world, rank 2 waits for rank 0. */
static void split(void) {
  MPI_Comm half;
  if (rank == 2) RECV(0, TAG, world); /* @split-recv */
  MPI_Comm_split(world, 0, rank, &half); /* @split */
}

/* Each sends to the next one with a tag, and receives from the previous one with another. */
static void ring_tags(void) {
  MPI_Sendrecv(out, SMALL, MPI_DOUBLE, next, TAG, in, SMALL, MPI_DOUBLE, previous, TAG + 1, world, MPI_STATUS_IGNORE); /* @ring-tags */
}

/* All three: ranks 0 and 1 open a file, rank 2 waits for rank 0. */
static void file(void) {
  char name[4096];
  MPI_File f;
  snprintf(name, sizeof name, "%s/data", expect_self.outdir);
  if (rank == 2) RECV(0, TAG, world); /* @open-recv */
  MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f); /* @open */
}

/* All three, each in a collective of its own. */
static void mixed(void) {
  MPI_Comm copy;
  if (rank == 0) MPI_Allreduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, world); /* @mixed-allreduce */
  if (rank == 1) MPI_Barrier(world); /* @mixed-barrier */
  if (rank == 2) MPI_Comm_dup(world, &copy); /* @mixed-dup */
}

/* Rank 1 waits for a message from rank 0, of which a partition is never ready, and rank 0 for rank 2, which
 * waits for rank 1. Without partitions there is no message. */
static void partition(void) {
  MPI_Request request = MPI_REQUEST_NULL;
#if MPI_VERSION >= 4
  enum { PARTS = 4 };
  if (rank == 0) MPI_Psend_init(out, PARTS, SMALL, MPI_DOUBLE, 1, TAG, world, MPI_INFO_NULL, &request);
  if (rank == 1) MPI_Precv_init(in, PARTS, SMALL, MPI_DOUBLE, 0, TAG, world, MPI_INFO_NULL, &request);
  if (rank < 2) MPI_Start(&request);
  for (int i = 0; rank == 0 && i < PARTS - 1; i++) MPI_Pready(i, request);
#else
  if (rank == 1) MPI_Irecv(in, SMALL, MPI_DOUBLE, 0, TAG, world, &request);
#endif
  if (rank == 1) MPI_Wait(&request, MPI_STATUS_IGNORE); /* @partition */
  RECV((rank + 2) % 3, TAG + 1, world); /* @partition-recv */
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"join", 2, join, true},
      {"test", 2, test},
      {"improbe", 2, improbe},
      {"split", 3, split},
      {"ring-tags", 3, ring_tags},
      {"open", 3, file},
      {"mixed", 3, mixed},
      {"partition", 3, partition},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
