/*
 * polling: jobs whose ranks ask over and over for what can't come, or may; see modes.h.
 *
 * The modes "patient" and "later" get on.
 */
#include "expect.h"
#include "modes.h"

#include <time.h>

static MPI_Comm world = MPI_COMM_WORLD;

/* Both ask for a receive for which neither sends. */
static void test(void) {
  MPI_Request request;
  MPI_Irecv(in, SMALL, MPI_DOUBLE, next, TAG, world, &request);
  for (int flag = 0; !flag; ) MPI_Test(&request, &flag, MPI_STATUS_IGNORE); /* @test */
}

static void receives(MPI_Request requests[2]) {
  for (int i = 0; i < 2; i++)
    MPI_Irecv(in + i * SMALL, SMALL, MPI_DOUBLE, next, TAG + i, world, &requests[i]);
}

/* The same with two receives. */
static void testall(void) {
  MPI_Request requests[2];
  receives(requests);
  for (int flag = 0; !flag; ) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE); /* @testall */
}

static void testany(void) {
  MPI_Request requests[2];
  int which;
  receives(requests);
  for (int flag = 0; !flag; ) MPI_Testany(2, requests, &which, &flag, MPI_STATUS_IGNORE); /* @testany */
}

static void testsome(void) {
  MPI_Request requests[2];
  int which[2];
  receives(requests);
  for (int done = 0; !done; ) MPI_Testsome(2, requests, &done, which, MPI_STATUSES_IGNORE); /* @testsome */
}

static void get_status(void) {
  MPI_Request request;
  MPI_Irecv(in, SMALL, MPI_DOUBLE, next, TAG, world, &request);
  for (int flag = 0; !flag; ) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE); /* @get-status */
}

/* Rank 0 asks for a message with a tag that rank 1's has not, and rank 1 waits for rank 0. */
static void iprobe(void) {
  if (rank == 1) SEND_SMALL(0, TAG + 1, world);
  if (rank == 1) RECV(0, TAG, world); /* @iprobe-recv */
  for (int flag = 0; !flag; ) MPI_Iprobe(1, TAG, world, &flag, MPI_STATUS_IGNORE); /* @iprobe */
}

static void improbe(void) {
  MPI_Message message;
  if (rank == 1) SEND_SMALL(0, TAG + 1, world);
  if (rank == 1) RECV(0, TAG, world); /* @improbe-recv */
  for (int flag = 0; !flag; ) MPI_Improbe(1, TAG, world, &flag, &message, MPI_STATUS_IGNORE); /* @improbe */
}

/* Rank 0 sleeps between its questions. */
static void sleepy(void) {
  MPI_Request request;
  if (rank == 1) RECV(0, TAG, world); /* @sleepy-recv */
  MPI_Irecv(in, SMALL, MPI_DOUBLE, 1, TAG, world, &request);
  for (int flag = 0; !flag; ) {
    for (int i = 0; i < 10000 && !flag; i++) MPI_Test(&request, &flag, MPI_STATUS_IGNORE); /* @sleepy */
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
}

/* Rank 0 asks for a window that rank 1 does not leave. */
static void win_test(void) {
  MPI_Win window;
  MPI_Group all, other;
  MPI_Win_create(in, SMALL, 1, MPI_INFO_NULL, world, &window);
  MPI_Comm_group(world, &all);
  MPI_Group_incl(all, 1, &(int){1 - rank}, &other);
  if (rank == 1) RECV(0, TAG, world); /* @win-recv */
  MPI_Win_post(other, 0, window);
  for (int flag = 0; !flag; ) MPI_Win_test(window, &flag); /* @win */
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Right: rank 0 asks for some time, does without what has not come, and sends. */
static void patient(void) {
  for (int round = 0;; round++) {
    if (rank == 1) {
      RECV(0, TAG, world);
      continue;
    }
    int flag = 0;
    for (double end = seconds() + 0.5; !flag && seconds() < end; ) MPI_Iprobe(1, TAG, world, &flag, MPI_STATUS_IGNORE);
    SEND_SMALL(1, TAG, world);
  }
}

/* Right: rank 0 asks for rank 2's message, which comes once that has computed. */
static void later(void) {
  MPI_Request request;
  if (rank == 2) compute();
  if (rank == 2) SEND_SMALL(0, TAG, world);
  if (rank == 1) RECV(0, TAG, world); /* @later-recv */
  if (rank != 0) return;
  MPI_Irecv(in, SMALL, MPI_DOUBLE, 2, TAG, world, &request);
  for (int flag = 0; !flag; ) MPI_Test(&request, &flag, MPI_STATUS_IGNORE); /* @later */
  SEND_SMALL(1, TAG, world);
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"test", 2, test},
      {"testall", 2, testall},
      {"testany", 2, testany},
      {"testsome", 2, testsome},
      {"get-status", 2, get_status},
      {"iprobe", 2, iprobe},
      {"improbe", 2, improbe},
      {"sleepy", 2, sleepy},
      {"win-test", 2, win_test},
      {"patient", 2, patient},
      {"later", 3, later},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
