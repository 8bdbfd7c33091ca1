/* The calls in which the ranks are at the end of a plan; see perform.h. */
#include "perform.h"

#include <pthread.h>
#include <stddef.h>

enum { TO_ME = 10000, FROM_ME = 11000, TO_THREAD = 12000, LARGE = 131072, LITTLE = 16 };

static struct expect_comm *control, *aside; /* of the calls of first threads, and of second ones */
static int me;
static MPI_Request ends[2];
static double out[LARGE], in[LITTLE], into_thread[LITTLE];
static pthread_t thread;

/* What a call waits for: a message with tag TO_ME + rank, and the receive of one with FROM_ME. */
static bool receives(enum call call) {
  return call != OUTSIDE && call < IN_BARRIER && call != IN_SSEND && call != IN_SEND;
}
static bool sends(enum call call) {
  return call != OUTSIDE && call < IN_BARRIER && call != IN_RECV && call != IN_PROBE && call != IN_MPROBE && call != IN_WAIT;
}
static bool receives_or_sends(enum call call) { return receives(call) || sends(call); }
static bool waits_for_requests(enum call call) { return call >= IN_WAIT && call < IN_BARRIER; }

static bool has_thread(const struct plan *p, int rank) { return p->threads && p->block[rank].thread && receives_or_sends(p->block[rank].call); }

static int sent_count(enum call call) { return call == IN_SEND ? LARGE : call == IN_SSEND ? LITTLE : 3; }

void end_prepare(const struct plan *p, struct expect_comm *first, struct expect_comm *second) {
  control = first;
  aside = second;
  me = family.rank;
  ends[0] = ends[1] = MPI_REQUEST_NULL;
  for (int rank = 0; rank < p->ranks; rank++) {
    const struct plan_block *b = &p->block[rank];
    if (!waits_for_requests(b->call)) continue;
    if (rank == me) {
      const char *kind = p->seed % 3 ? "irecv" : "persistent_recv";
      ends[0] = expect_post(control, kind, 10, MPI_DOUBLE, b->by, TO_ME + rank)->request;
      if (sends(b->call)) ends[1] = expect_post(control, "issend", 3, MPI_DOUBLE, b->other, FROM_ME + rank)->request;
    }
    if (b->other == me && sends(b->call)) expect_unexpected(control, rank, FROM_ME + rank, 3 * (long)sizeof(double));
  }
}

static void note_mine(const struct plan_block *b) {
  struct expect_op *op;
  if (waits_for_requests(b->call)) return;
  if (b->call == IN_PROBE || b->call == IN_MPROBE) {
    op = expect_note(control, b->call == IN_PROBE ? "probe" : "mprobe", -1, MPI_DOUBLE, b->by, TO_ME + me);
    op->optional = true; /* some libraries post no request for it */
    op->system_buffer = -1;
  } else if (receives(b->call)) {
    op = expect_note(control, "recv", LITTLE, MPI_DOUBLE, b->by, TO_ME + me);
    op->buffer = in;
    if (b->call == IN_SENDRECV) op->kind = "sendrecv";
  }
  if (!sends(b->call)) return;
  op = expect_note(control, b->call == IN_SSEND ? "ssend" : "send", sent_count(b->call), MPI_DOUBLE, b->by, FROM_ME + me);
  op->buffer = out;
  if (b->call == IN_SENDRECV) op->state = EXPECT_LEFT, op->kind = "sendrecv";
}

void end_note(const struct plan *p) {
  static const char *const calls[CALLS] = {NULL, "MPI_Recv", "MPI_Probe", "MPI_Mprobe", "MPI_Sendrecv", "MPI_Ssend", "MPI_Send", "MPI_Wait",
                                           "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome", "MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall"};
  enum call mine = p->block[me].call;
  expect_self.calls[0] = (struct expect_call){calls[mine], control};
  expect_self.calls[1] = (struct expect_call){has_thread(p, me) ? "MPI_Recv" : NULL, aside};
  expect_self.endless = p->endless;
  expect_self.hangs = p->block[me].hangs;
  note_mine(&p->block[me]);
  if (has_thread(p, me)) expect_note(aside, "recv", LITTLE, MPI_DOUBLE, p->block[me].by, TO_THREAD + me)->buffer = into_thread;
  for (int rank = 0; rank < p->ranks; rank++) {
    const struct plan_block *b = &p->block[rank];
    /* Who waits in MPI sees what is sent to it. */
    if (b->by == me && mine != OUTSIDE && sends(b->call) && !waits_for_requests(b->call))
      expect_unexpected(control, rank, FROM_ME + rank, sent_count(b->call) * (long)sizeof(double));
  }
}

static void meet(enum call call) {
  static int all[MOST_RANKS], mine[MOST_RANKS];
  if (call == IN_BARRIER) MPI_Barrier(control->comm);
  if (call == IN_ALLREDUCE) MPI_Allreduce(mine, all, 1, MPI_INT, MPI_SUM, control->comm);
  if (call == IN_ALLTOALL) MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, control->comm);
}

static void *receive(void *by) {
  MPI_Recv(into_thread, LITTLE, MPI_DOUBLE, *(const int *)by, TO_THREAD + me, aside->comm, MPI_STATUS_IGNORE);
  return NULL;
}

void perform_block(const struct plan *p) {
  const struct plan_block *b = &p->block[me];
  MPI_Comm comm = control->comm;
  MPI_Message message;
  int at, some[2], by = b->by;
  if (has_thread(p, me) && pthread_create(&thread, NULL, receive, &by) != 0) expect_die("no thread");
  switch (b->call) {
  case IN_RECV: MPI_Recv(in, LITTLE, MPI_DOUBLE, b->by, TO_ME + me, comm, MPI_STATUS_IGNORE); break;
  case IN_PROBE:
    MPI_Probe(b->by, TO_ME + me, comm, MPI_STATUS_IGNORE);
    MPI_Recv(in, LITTLE, MPI_DOUBLE, b->by, TO_ME + me, comm, MPI_STATUS_IGNORE);
    break;
  case IN_MPROBE:
    MPI_Mprobe(b->by, TO_ME + me, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, LITTLE, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    break;
  case IN_SENDRECV:
    MPI_Sendrecv(out, sent_count(b->call), MPI_DOUBLE, b->by, FROM_ME + me, in, LITTLE, MPI_DOUBLE, b->by, TO_ME + me, comm, MPI_STATUS_IGNORE);
    break;
  case IN_SSEND: MPI_Ssend(out, sent_count(b->call), MPI_DOUBLE, b->by, FROM_ME + me, comm); break;
  case IN_SEND: MPI_Send(out, sent_count(b->call), MPI_DOUBLE, b->by, FROM_ME + me, comm); break;
  case IN_WAIT: MPI_Wait(&ends[0], MPI_STATUS_IGNORE); break;
  case IN_WAITALL: MPI_Waitall(2, ends, MPI_STATUSES_IGNORE); break;
  case IN_WAITANY: MPI_Waitany(2, ends, &at, MPI_STATUS_IGNORE); break;
  case IN_WAITSOME: MPI_Waitsome(2, ends, &at, some, MPI_STATUSES_IGNORE); break;
  case OUTSIDE:
  case CALLS: break;
  default: meet(b->call);
  }
  if (has_thread(p, me)) pthread_join(thread, NULL);
}

void end_release(const struct plan *p) {
  enum call collective = OUTSIDE;
  for (int rank = 0; rank < p->ranks; rank++) {
    const struct plan_block *b = &p->block[rank];
    if (b->call >= IN_BARRIER) collective = b->call;
    if (b->other == me && sends(b->call)) MPI_Recv(out, LARGE, MPI_DOUBLE, rank, FROM_ME + rank, control->comm, MPI_STATUS_IGNORE);
    if (b->by != me) continue;
    if (receives(b->call)) MPI_Send(in, 10, MPI_DOUBLE, rank, TO_ME + rank, control->comm);
    if (has_thread(p, rank)) MPI_Send(in, 1, MPI_DOUBLE, rank, TO_THREAD + rank, aside->comm);
  }
  if (p->block[me].call < IN_BARRIER) meet(collective);
  for (int i = 0; i < 2; i++) perform_finish(&ends[i], false);
}
