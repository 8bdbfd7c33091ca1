/*
 * requests: every state a request can be in, for 2 ranks.
 *
 *   mpirun -n 2 requests OUTDIR
 *
 * "persistent": never started (nothing to show), started and pending, started
 * and complete, collected again (nothing to show). "complete": receives and
 * sends, eager and rendezvous, complete and not collected, also receives longer
 * than their message. "odd": a cancelled receive, a receive after
 * MPI_Request_free, a message held by MPI_Improbe, MPI_Imrecv. "freed": a
 * communicator after MPI_Comm_free with operations left on it. "matched" (rank
 * 0): receives and an imrecv whose message's data can't come, since rank 1,
 * which would have to send it, stays out of MPI from before they are matched.
 *
 * Where a receiver can fetch the data by itself (CMA), "matched" becomes
 * "complete", which the account then says, and stderr too. Hence:
 * options: --mca btl_vader_single_copy_mechanism none --mca smsc ^cma,xpmem,knem
 */
#include "expect.h"

#include <stdlib.h>

static int rank, other;

static struct expect_op *post_complete(struct expect_comm *c, const char *kind, int count,
                                       int tag) {
  struct expect_op *op = expect_post(c, kind, count, MPI_INT, other, tag);
  op->state = EXPECT_COMPLETE;
  return op;
}

/* A message of 10 ints that the other rank waits for, leaving nothing. */
static void send_now(struct expect_comm *c, int tag) {
  static int ten[10];
  MPI_Send(ten, 10, MPI_INT, other, tag, c->comm);
}

static void be_persistent(struct expect_comm *c) {
  static int buffer[100];
  MPI_Request idle;
  MPI_Recv_init(buffer, 100, MPI_INT, other, 10, c->comm, &idle);
  MPI_Send_init(buffer, 100, MPI_INT, other, 10, c->comm, &idle);
  MPI_Ssend_init(buffer, 100, MPI_INT, other, 10, c->comm, &idle);

  expect_post(c, "persistent_recv", 11, MPI_INT, other, 11);
  expect_post(c, "persistent_recv", 12, MPI_DOUBLE, MPI_ANY_SOURCE, 12);
  expect_post(c, "persistent_ssend", 13, MPI_INT, other, 13);
  expect_unexpected(c, other, 13, 13 * (long)sizeof(int));
  expect_post(c, "persistent_send", 300000, MPI_INT, other, 14);
  expect_unexpected(c, other, 14, 300000 * (long)sizeof(int));

  /* Used once, and idle again. */
  MPI_Recv_init(buffer, 100, MPI_INT, other, 15, c->comm, &idle);
  MPI_Start(&idle);
  send_now(c, 15);
  MPI_Wait(&idle, MPI_STATUS_IGNORE);
  if (idle == MPI_REQUEST_NULL) expect_die("a persistent request was lost");

  /* The second time round, and complete. */
  struct expect_op *again = expect_post(c, "persistent_recv", 16, MPI_INT, other, 16);
  send_now(c, 16);
  MPI_Wait(&again->request, MPI_STATUS_IGNORE);
  MPI_Start(&again->request);
  send_now(c, 16);
  again->state = EXPECT_COMPLETE;
}

static void be_complete(struct expect_comm *c) {
  post_complete(c, "irecv", 10, 20);
  post_complete(c, "irecv", 100, 21); /* for 10: shorter than asked for */
  expect_post(c, "irecv", 10, MPI_INT, MPI_ANY_SOURCE, 22)->state = EXPECT_COMPLETE;
  post_complete(c, "irecv", 0, 23);
  post_complete(c, "irecv", 400000, 24); /* rendezvous, for 300000 */
  expect_post(c, "irecv", 100, MPI_CHAR, other, 25); /* keeps waiting */
  post_complete(c, "irecv", 7, 26);
  MPI_Barrier(c->comm); /* the receive for the ready send is posted */
  for (int tag = 20; tag <= 22; tag++) send_now(c, tag);
  MPI_Send(NULL, 0, MPI_INT, other, 23, c->comm);
  struct expect_op *gone[] = {
      post_complete(c, "isend", 300000, 24),
      post_complete(c, "irsend", 7, 26),
      post_complete(c, "issend", 5, 27),
      post_complete(c, "isend", 1000, 28),
  };
  /* What went eagerly may have left no request. */
  gone[1]->optional = gone[3]->optional = true;
  int buffer[1000];
  MPI_Recv(buffer, 5, MPI_INT, other, 27, c->comm, MPI_STATUS_IGNORE);
  MPI_Recv(buffer, 1000, MPI_INT, other, 28, c->comm, MPI_STATUS_IGNORE);
}

/* Takes the message from the queue, as MPI_Mprobe does; nobody receives it. */
static MPI_Message hold(struct expect_comm *c, int tag, MPI_Status *status) {
  MPI_Message message;
  for (int flag = 0; !flag;) MPI_Improbe(other, tag, c->comm, &flag, &message, status);
  return message;
}

static struct expect_op *receive_held(struct expect_comm *c, int count, int tag) {
  MPI_Status status;
  struct expect_op *op = expect_note(c, "imrecv", count, MPI_INT, other, tag);
  MPI_Message message = hold(c, tag, &status);
  op->buffer = malloc((size_t)count * sizeof(int));
  MPI_Imrecv(op->buffer, count, MPI_INT, &message, &op->request);
  return op;
}

static void be_odd(struct expect_comm *c) {
  struct expect_op *op = expect_post(c, "irecv", 30, MPI_INT, other, 30);
  MPI_Cancel(&op->request);
  op->state = EXPECT_COMPLETE;
  op->cancelled = true;

  op = expect_post(c, "irecv", 31, MPI_INT, other, 31);
  MPI_Request_free(&op->request);

  send_now(c, 32);
  op = expect_note(c, "improbe", -1, MPI_INT, other, 32);
  op->state = EXPECT_MATCHED;
  op->optional = true; /* neither in a queue nor received: libraries differ */
  op->system_buffer = -1;
  MPI_Status status;
  hold(c, 32, &status);
  expect_actual(op, other, 32, 10 * (long)sizeof(int));

  send_now(c, 33);
  receive_held(c, 33, 33)->state = EXPECT_COMPLETE;
  send_now(c, 34); /* remains unexpected, though later ones are taken */
  expect_unexpected(c, other, 34, 10 * (long)sizeof(int));
}

static void be_freed(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  struct expect_comm *c = expect_communicator(comm, "freed");
  expect_post(c, "irecv", 40, MPI_INT, other, 40);
  expect_post(c, "irecv", 41, MPI_INT, MPI_ANY_SOURCE, 41);
  expect_post(c, "issend", 42, MPI_INT, other, 42);
  expect_unexpected(c, other, 42, 42 * (long)sizeof(int));
  MPI_Probe(other, 42, comm, MPI_STATUS_IGNORE); /* there, while one can ask */
  MPI_Comm_free(&comm);
  expect_freed(c);
}

/* Rank 1's part: the last thing it does in MPI, once the headers are there. */
static void announce(struct expect_comm *c) {
  for (int tag = 50; tag <= 52; tag++) expect_post(c, "isend", 2000000, MPI_INT, 0, tag);
}

static void await_headers(struct expect_comm *c) {
  for (int tag = 50; tag <= 52; tag++) MPI_Probe(1, tag, c->comm, MPI_STATUS_IGNORE);
}

/* Rank 0's part: rank 1 is out of MPI, its headers are in the queue here. */
static void match(struct expect_comm *c) {
  struct expect_op *ops[] = {
      expect_post(c, "irecv", 2000000, MPI_INT, 1, 50),
      expect_post(c, "irecv", 2500000, MPI_INT, MPI_ANY_SOURCE, 51),
      receive_held(c, 2000000, 52),
  };
  for (int i = 0; i < 3; i++) {
    ops[i]->state = EXPECT_MATCHED;
    expect_actual(ops[i], 1, 50 + i, 2000000 * (long)sizeof(int));
    /* Have it do all that it can do without the sender. A thread of libfabric's takes its time to copy. */
    for (int j = 0; j < 1000; j++) expect_complete(ops[i], RECEIVES);
    while (expect_taken(ops[i], RECEIVES) && !expect_complete(ops[i], RECEIVES)) continue;
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) expect_die("usage: requests OUTDIR");
  expect_begin(argv[1], "rank");
  if (expect_self.world_size != 2) expect_die("requests is for 2 ranks");
  rank = expect_self.world_rank;
  other = 1 - rank;
  static const char *const names[] = {"persistent", "complete", "odd", "matched"};
  struct expect_comm *c[4];
  for (int i = 0; i < 4; i++) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    c[i] = expect_communicator(comm, names[i]);
  }
  be_persistent(c[0]);
  be_complete(c[1]);
  be_odd(c[2]);
  be_freed();
  if (rank == 1) announce(c[3]);
  else await_headers(c[3]);
  expect_settle(MPI_COMM_WORLD);
  if (rank == 1) {
    expect_write();
    expect_touch("rank-1-is-quiet");
  } else {
    expect_await("rank-1-is-quiet");
    match(c[3]);
    expect_write();
  }
  expect_ready(false);
  expect_hold();
}
