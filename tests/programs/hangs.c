/*
 * hangs: jobs that hang for good in ways that do not look like it; see modes.h.
 *
 * The verdict on none is "no deadlock". A rank makes the file waiting-RANK just before
 * the call, or the loop, in which it stays.
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

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"join", 2, join, true},
      {"test", 2, test},
      {"improbe", 2, improbe},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
