/* The partitioned operations of a plan; see perform.h. */
#include "perform.h"

#include <stdlib.h>

#if MPI_VERSION >= 4

enum { ENOUGH = 1000 };

static bool has(void) {
  static int answer = -1;
  /* MPICH's older device ends the process; in Open MPI 6.0 some never complete. */
  if (answer < 0) answer = !perform_library_has("ch3:") && !perform_library_has("Open MPI");
  return answer > 0;
}

static int peer_of(const struct plan_comm *pc, const struct plan_item *t, bool sends) { return plan_rank_of(pc, sends ? t->to : t->from); }

void partitioned_init(const struct plan_comm *pc, const struct plan_item *t, bool sends, void *buffer, MPI_Datatype type, MPI_Comm comm, MPI_Request *r) {
  if (!has()) return;
  if (sends) MPI_Psend_init(buffer, t->pieces, t->count / t->pieces, type, peer_of(pc, t, true), t->tag, comm, MPI_INFO_NULL, r);
  else MPI_Precv_init(buffer, t->landings, t->count / t->landings, type, peer_of(pc, t, false), t->tag, comm, MPI_INFO_NULL, r);
}

void partitioned_ready(int from, int to, MPI_Request r) {
  if (from < to) MPI_Pready_range(from, to - 1, r);
}

static struct expect_op *start(struct expect_comm *c, const struct plan_comm *pc, const struct plan_item *t, bool sends, MPI_Datatype type) {
  MPI_Aint lower, extent;
  struct expect_op *op = expect_note(c, sends ? "partitioned_send" : "partitioned_recv", t->count, type, peer_of(pc, t, sends), t->tag);
  MPI_Type_get_extent(type, &lower, &extent);
  op->buffer = op->memory = calloc((size_t)t->count + 1, (size_t)extent + 1);
  partitioned_init(pc, t, sends, op->buffer, type, c->comm, &op->request);
  MPI_Start(&op->request);
  return op;
}

/* What the other rank has sent before this message has come with it. To oneself, what is under way has
   come after some looks. */
static void meet(int from, int to, struct expect_comm *control) {
  int flag, me = family.rank;
  if (from == to)
    for (int i = 0; i < ENOUGH; i++) MPI_Iprobe(me, 0, control->comm, &flag, MPI_STATUS_IGNORE);
  else if (me == from) MPI_Send(NULL, 0, MPI_INT, to, 0, control->comm);
  else MPI_Recv(NULL, 0, MPI_INT, from, 0, control->comm, MPI_STATUS_IGNORE);
}

void partitioned_post(struct expect_comm *c, const struct plan_comm *pc, const struct plan_item *t, MPI_Datatype type, struct expect_comm *control,
                      struct expect_op **sent, struct expect_op **received) {
  int me = family.rank;
  bool pair = t->act == PARTITIONED_PAIR;
  if (!has()) return;
  if (me == t->from && t->act != PARTITIONED_RECEIVE) *sent = start(c, pc, t, true, type);
  if (pair && t->from != t->to) meet(t->from, t->to, control);
  if (me == t->to && t->act != PARTITIONED_SEND) *received = start(c, pc, t, false, type);
  if (pair) meet(t->to, t->from, control);
  if (*sent) partitioned_ready(0, t->ready, (*sent)->request);
  if (!pair) return;
  enum expect_state state = t->ready == t->pieces ? EXPECT_COMPLETE : EXPECT_MATCHED;
  if (*sent) (*sent)->state = state;
  if (*received) {
    (*received)->state = state;
    expect_actual(*received, plan_rank_of(pc, t->from), t->tag, (long)t->count * (*received)->type_size);
  }
}

/* Partitioned operations match as they are made (MPI 4.1, 4.2.1): before a send that was made is started, too. */
void partitioned_match(const struct plan_comm *pc, const struct plan_item *t, struct expect_comm *control, struct expect_op *received) {
  if (!has()) return;
  meet(t->from, t->to, control);
  if (!received) return;
  received->state = EXPECT_MATCHED;
  expect_actual(received, plan_rank_of(pc, t->from), t->tag, (long)t->count * received->type_size);
}

#else

void partitioned_match(const struct plan_comm *pc, const struct plan_item *t, struct expect_comm *control, struct expect_op *received) {
  (void)pc, (void)t, (void)control, (void)received;
}

void partitioned_init(const struct plan_comm *pc, const struct plan_item *t, bool sends, void *buffer, MPI_Datatype type, MPI_Comm comm, MPI_Request *r) {
  (void)pc, (void)t, (void)sends, (void)buffer, (void)type, (void)comm, (void)r;
}

void partitioned_ready(int from, int to, MPI_Request r) { (void)from, (void)to, (void)r; }

void partitioned_post(struct expect_comm *c, const struct plan_comm *pc, const struct plan_item *t, MPI_Datatype type, struct expect_comm *control,
                      struct expect_op **sent, struct expect_op **received) {
  (void)c, (void)pc, (void)t, (void)type, (void)control, (void)sent, (void)received;
}

#endif
