/*
 * deadlock: ranks that wait for each other's messages; see modes.h.
 *
 * The verdict on each is "deadlock".
 */
#include "expect.h"
#include "modes.h"

#include <pthread.h>

static MPI_Comm world = MPI_COMM_WORLD;

/* Rank 0's receives from ranks 1 and 2. */
static void receive_both(MPI_Request requests[2]) {
  for (int i = 0; i < 2; i++)
    MPI_Irecv(in + i * SMALL, SMALL, MPI_DOUBLE, i + 1, TAG, world, &requests[i]);
}

/* All three are deadlocked, in one line: 0 → 1 → 2 → 0. */
static void send_ring(void) {
  SEND_LARGE(next, TAG, world); /* @send-ring */
}

/* All three, 0 → 1 → 2 → 0. */
static void recv_ring(void) {
  RECV(next, TAG, world); /* @recv-ring */
}

/* Both, 0 → 1 → 0. */
static void head_to_head(void) {
  SEND_LARGE(next, TAG, world); /* @head-to-head */
  RECV(next, TAG, world);
}

/* Rank 0 alone, 0 → 0; rank 1 waits for it and is stuck. */
static void ssend_self(void) {
  if (rank == 0) SSEND(0, TAG, world); /* @ssend-self */
  else RECV(0, TAG, world); /* @ssend-self-recv */
}

/* Two that have nothing to do with each other: 0 → 1 → 0 and 2 → 3 → 2. Rank 4
 * waits for 3 and rank 5 for 4: they are stuck, and in no deadlock. */
static void two(void) {
  if (rank < 2) SEND_LARGE(1 - rank, TAG, world); /* @two-send */
  else if (rank < 4) RECV(5 - rank, TAG, world); /* @two-recv */
  else RECV(previous, TAG, world); /* @two-stuck */
}

/* All three, 0 → 1 → 2 → 0, each in another call. */
static void probe_ring(void) {
  MPI_Message message;
  if (rank == 0) MPI_Probe(1, TAG, world, MPI_STATUS_IGNORE); /* @probe-ring-probe */
  else if (rank == 1) MPI_Mprobe(2, TAG, world, &message, MPI_STATUS_IGNORE); /* @probe-ring-mprobe */
  else RECV(0, TAG, world); /* @probe-ring-recv */
}

/* All three, 0 → 1 → 2 → 0: each should receive from the previous one. Each has
 * a message that differs from its receive in the source only. */
static void sendrecv(void) {
  MPI_Sendrecv(out, SMALL, MPI_DOUBLE, next, TAG, /* @sendrecv */
               in, SMALL, MPI_DOUBLE, next, TAG, world, MPI_STATUS_IGNORE);
}

/* Both, 0 → 1 → 0. */
static void persistent(void) {
  MPI_Request request;
  MPI_Recv_init(in, SMALL, MPI_DOUBLE, next, TAG, world, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @persistent */
}

/* All three: each waits for its message and for its receiver. Their messages
 * have other tags than their receives. */
static void waitall_ring(void) {
  MPI_Request requests[2];
  MPI_Irecv(in, SMALL, MPI_DOUBLE, next, TAG, world, &requests[0]);
  MPI_Issend(out, SMALL, MPI_DOUBLE, previous, TAG + 1, world, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* @waitall-ring */
}

/* 0 → 1 → 0: rank 0 needs messages of both. That rank 2, which computes, may
 * still send its own does not help. */
static void waitall_one(void) {
  MPI_Request requests[2];
  if (rank == 2) compute();
  if (rank == 1) RECV(0, TAG, world); /* @waitall-one-recv */
  receive_both(requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* @waitall-one */
}

/* All three: any one message would do for rank 0, but neither will come. A
 * smallest circle has two ranks. */
static void wait_any_or_some(bool any) {
  MPI_Request requests[2];
  int done, which[2];
  if (rank > 0) RECV(0, TAG, world); /* @waitany-recv */
  receive_both(requests);
  if (any) MPI_Waitany(2, requests, which, MPI_STATUS_IGNORE); /* @waitany */
  else MPI_Waitsome(2, requests, &done, which, MPI_STATUSES_IGNORE); /* @waitsome */
}

static void waitany(void) { wait_any_or_some(true); }
static void waitsome(void) { wait_any_or_some(false); }

/* All three, in the same way: all who could send to rank 0 wait for it. */
static void wildcard(void) {
  int source = rank == 0 ? MPI_ANY_SOURCE : 0;
  RECV(source, TAG, world); /* @wildcard */
}

/* 0 → 4 → 2 → 0: they are the local ranks 2, 0 and 1 of a communicator. Ranks 1
 * and 3 compute. */
static void split(void) {
  MPI_Comm half;
  MPI_Comm_split(world, rank % 2, -rank, &half);
  MPI_Comm_set_name(half, "half");
  if (rank % 2) compute();
  int local;
  MPI_Comm_rank(half, &local);
  RECV((local + 1) % 3, TAG, half); /* @split */
}

/* 0 → 3 → 1 → 2 → 0, on an intercommunicator of 0 and 1 with 2 and 3. */
static void inter(void) {
  MPI_Comm half, between;
  MPI_Comm_split(world, rank / 2, rank, &half);
  MPI_Intercomm_create(half, 0, world, rank < 2 ? 2 : 0, TAG, &between);
  MPI_Comm_set_name(between, "between");
  int peer = rank == 0 || rank == 3 ? 1 : 0;
  RECV(peer, TAG, between); /* @inter */
}

static void *receive_other(void *unused) {
  MPI_Recv(in + SMALL, SMALL, MPI_DOUBLE, 1, TAG + 1, world, MPI_STATUS_IGNORE); /* @threads-other */
  return unused;
}

/* 0 → 1 → 0: both threads of rank 0 wait for rank 1. */
static void threads(void) {
  pthread_t thread;
  if (rank == 0 && pthread_create(&thread, NULL, receive_other, NULL)) expect_die("no thread");
  RECV(next, TAG, world); /* @threads */
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"send-ring", 3, send_ring},
      {"recv-ring", 3, recv_ring},
      {"head-to-head", 2, head_to_head},
      {"ssend-self", 2, ssend_self},
      {"two", 6, two},
      {"probe-ring", 3, probe_ring},
      {"sendrecv", 3, sendrecv},
      {"persistent", 2, persistent},
      {"waitall-ring", 3, waitall_ring},
      {"waitall-one", 3, waitall_one},
      {"waitany", 3, waitany},
      {"waitsome", 3, waitsome},
      {"wildcard", 3, wildcard},
      {"split", 5, split},
      {"inter", 4, inter},
      {"threads", 2, threads, true},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
