/* What one rank does of a plan; see perform.h. */
#define _POSIX_C_SOURCE 200809L
#include "perform.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES_TAG = 32000, SPARE_TAG, MOST_EXTENT = 128, ATTACHED = 8 << 20 };

const int plan_type_sizes[TYPES] = {4, 8, 1, 1, 2, 8, 4, 12, 64, 36, 0, 24};
static MPI_Datatype types[TYPES];

/* What this rank has of an item. */
static struct own {
  MPI_Request send, receive; /* those that no account has */
  MPI_Request later;         /* started when all is tidied up */
  struct expect_op *sent, *received;
  MPI_Message message;
  char *memory; /* for a message that comes when all is tidied up */
} own[MOST_ITEMS];

static struct expect_comm *comms[MOST_COMMS], *control, *aside;
static struct expect_op *spare[MOST_COMMS]; /* keeps a freed communicator alive */
static int me;

static void attach(void *buffer) {
  if (!buffer || MPI_Buffer_attach(buffer, ATTACHED) != MPI_SUCCESS) expect_die("no buffer");
}

bool perform_library_has(const char *word) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(library, &length);
  return strstr(library, word) != NULL;
}

void perform_begin(void) {
  MPI_Datatype bare;
  me = family.rank;
  const MPI_Datatype predefined[] = {MPI_INT, MPI_DOUBLE, MPI_BYTE, MPI_CHAR, MPI_SHORT, MPI_LONG, MPI_FLOAT, MPI_DOUBLE_INT};
  memcpy(types, predefined, sizeof predefined);
  /* MPICH 4.0 looks for the making of what has gaps, crashes over shared memory where there is none, and hangs to itself. */
  if (perform_library_has("MPICH")) MPI_Type_dup(MPI_DOUBLE_INT, &types[7]);
  MPI_Type_vector(4, 4, 7, MPI_FLOAT, &types[8]); /* with gaps, and no name */
  MPI_Type_create_struct(3, (int[]){1, 3, 1}, (MPI_Aint[]){0, 8, 32}, (MPI_Datatype[]){MPI_DOUBLE, MPI_DOUBLE, MPI_INT}, &bare);
  MPI_Type_create_resized(bare, 0, 40, &types[9]);
  MPI_Type_set_name(types[9], "particle with a mass, a position and a charge, name 63 chars ..");
  MPI_Type_contiguous(0, MPI_INT, &types[10]);
  MPI_Type_contiguous(3, MPI_DOUBLE, &types[11]);
  MPI_Type_set_name(types[11], "point");
  for (int i = 8; i < TYPES; i++) MPI_Type_commit(&types[i]);
  for (int i = 0; i < TYPES; i++) {
    int size;
    MPI_Type_size(types[i], &size);
    if (size != plan_type_sizes[i]) expect_die("type %d has %d bytes", i, size);
  }
  attach(malloc(ATTACHED));
}

/* Communicators */

/* MPI must have made what the plan says. */
static void check_group(const int *want, int size, MPI_Comm comm, bool remote, int got_size) {
  int *got = family_ranks(comm, remote, got_size);
  if (got_size != size || memcmp(want, got, (size_t)size * sizeof *want) != 0) expect_die("a group is not as planned");
  free(got);
}

static void make_comms(const struct plan *p) {
  MPI_Comm made[MOST_COMMS], comm;
  memset(comms, 0, sizeof comms);
  for (int i = 0; i < p->comms; i++) {
    const struct plan_comm *c = &p->comm[i], *of = i > 0 ? &p->comm[c->parent] : c;
    made[i] = MPI_COMM_NULL;
    if (!plan_member(of, me) || !plan_needs(p, i)) continue;
    made[i] = make_communicator(i > 0 ? made[c->parent] : MPI_COMM_NULL, of, c);
    if (made[i] == MPI_COMM_NULL) continue;
    comms[i] = family_communicator(made[i], i == 0 && family.others != MPI_COMM_NULL ? "family" : c->name);
    bool left = c->remote_size < 0 || comms[i]->size == c->size;
    for (int k = 0; k < c->remote_size; k++) left = left && c->remote[k] != me;
    check_group(left ? c->members : c->remote, left ? c->size : c->remote_size, made[i], false, comms[i]->size);
    if (c->remote_size >= 0)
      check_group(left ? c->remote : c->members, left ? c->remote_size : c->size, made[i], true, comms[i]->remote_size);
  }
  MPI_Comm_dup(family.comm, &comm);
  control = family_communicator(comm, "control");
  MPI_Comm_dup(family.comm, &comm);
  aside = family_communicator(comm, "aside");
  if (family.others == MPI_COMM_NULL) return;
  family_communicator(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  family_communicator(family.others, "to the others");
}

/* Items */

static enum expect_state state_of(const struct plan_item *t) {
  long bytes = (long)t->count * plan_type_sizes[t->type];
  bool gaps = t->type >= 7 && t->type <= 9;
  const char *new_protocols = getenv("UCX_PROTO_ENABLE");
  if (strstr(t->send, "ssend")) return EXPECT_PENDING;
  if (strstr(t->send, "bsend") || bytes < 200000) return EXPECT_LEFT;
  /* UCX's new protocols, up to 1.15, know no rendezvous for what is not contiguous. */
  return gaps && new_protocols && *new_protocols == 'y' ? EXPECT_LEFT : EXPECT_PENDING;
}

static struct expect_op *post_send(struct expect_comm *c, const struct plan_comm *pc, const struct plan_item *t, enum expect_state state) {
  struct expect_op *op = expect_post(c, t->send, t->count, types[t->type], plan_rank_of(pc, t->to), t->tag);
  op->state = state;
  if (strstr(t->send, "bsend")) op->buffer = NULL; /* or that of the copy in the attached buffer */
  long bytes = (long)t->count * plan_type_sizes[t->type];
  /* What went eagerly, or to oneself, may have left no request. */
  op->optional = state == EXPECT_LEFT || (state == EXPECT_COMPLETE && (bytes < 200000 || t->from == t->to || state_of(t) == EXPECT_LEFT));
  return op;
}

static struct expect_op *post_receive(struct expect_comm *c, const struct plan_comm *pc, const struct plan_item *t) {
  return expect_post(c, t->receive, t->count + t->spare, types[t->type], t->any_source ? MPI_ANY_SOURCE : plan_rank_of(pc, t->from),
                     t->any_tag ? MPI_ANY_TAG : t->tag);
}

/* The receive is posted before the send. */
static void in_turn(const struct plan_item *t) {
  if (t->from == t->to) return;
  if (me == t->to) MPI_Send(NULL, 0, MPI_INT, t->from, t->tag, control->comm);
  else MPI_Recv(NULL, 0, MPI_INT, t->to, t->tag, control->comm, MPI_STATUS_IGNORE);
}

/* What was sent before has come once this has. */
static void follow(struct expect_comm *c, const struct plan_comm *pc, const struct plan_item *t) {
  MPI_Request r = MPI_REQUEST_NULL;
  if (me == t->from) MPI_Isend(NULL, 0, MPI_INT, plan_rank_of(pc, t->to), SERIES_TAG, c->comm, &r);
  if (me == t->to) MPI_Recv(NULL, 0, MPI_INT, plan_rank_of(pc, t->from), SERIES_TAG, c->comm, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void note_unexpected(struct expect_comm *c, const struct plan_comm *pc, const struct plan_item *t) {
  expect_unexpected(c, plan_rank_of(pc, t->from), t->tag, (long)t->count * plan_type_sizes[t->type]);
  struct expect_op *op = c->first[UNEXPECTED];
  while (op->next) op = op->next;
  op->unprobed = t->again;
}

static void collect(struct expect_comm *c, const struct plan_comm *pc, const struct plan_item *t, struct own *o) {
  char *in = calloc((size_t)(t->count + t->spare + 1), MOST_EXTENT), *out = calloc((size_t)t->count + 1, MOST_EXTENT);
  if (me == t->to) {
    expect_make(t->receive, in, t->count + t->spare, types[t->type], t->any_source ? MPI_ANY_SOURCE : plan_rank_of(pc, t->from), t->tag, c->comm, &o->receive);
    if (!strncmp(t->receive, "persistent", 10)) MPI_Start(&o->receive);
  }
  in_turn(t);
  if (me == t->from) {
    expect_make(t->send, out, t->count, types[t->type], plan_rank_of(pc, t->to), t->tag, c->comm, &o->send);
    if (!strncmp(t->send, "persistent", 10)) MPI_Start(&o->send);
  }
  MPI_Request both[] = {o->send, o->receive};
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  o->send = both[0], o->receive = both[1];
  if (o->send == MPI_REQUEST_NULL) free(out);
  if (o->receive == MPI_REQUEST_NULL) free(in);
}

static void use_no_process(struct expect_comm *c, const struct plan_item *t, struct own *o) {
  static int nothing;
  if (me == t->from) expect_make(t->send, &nothing, 1, MPI_INT, MPI_PROC_NULL, t->tag, c->comm, &o->send);
  if (me == t->to) expect_make(t->receive, &nothing, 1, MPI_INT, MPI_PROC_NULL, t->tag, c->comm, &o->receive);
  if (me == t->from && !strncmp(t->send, "persistent", 10)) MPI_Start(&o->send);
  if (me == t->to && !strncmp(t->receive, "persistent", 10)) MPI_Start(&o->receive);
}

/* Takes the message out of the queue. */
static void hold(struct expect_comm *c, const struct plan_comm *pc, const struct plan_item *t, struct own *o) {
  MPI_Status status;
  int peer = plan_rank_of(pc, t->from);
  struct expect_op *op = expect_note(c, t->act == HELD_MESSAGE ? "improbe" : "imrecv", t->act == HELD_MESSAGE ? -1 : t->count + t->spare, types[t->type], peer, t->tag);
  for (int flag = 0; !flag;) MPI_Improbe(peer, t->tag, c->comm, &flag, &o->message, &status);
  if (t->act == HELD_MESSAGE) {
    op->state = EXPECT_MATCHED;
    op->optional = true; /* neither in a queue nor received: libraries differ */
    op->system_buffer = -1;
    expect_actual(op, peer, t->tag, (long)t->count * plan_type_sizes[t->type]);
    return;
  }
  op->state = EXPECT_COMPLETE;
  op->buffer = op->memory = calloc((size_t)(t->count + t->spare + 1), MOST_EXTENT);
  MPI_Imrecv(op->buffer, t->count + t->spare, types[t->type], &o->message, &op->request);
  o->received = op;
}

/* What a message, or a receive, that is pending takes to complete: its other half. On a
   communicator that will have been freed only a request that was made before can still be it. */
static void make_other_half(MPI_Comm comm, const struct plan_comm *pc, const struct plan_item *t, struct own *o) {
  int bytes = t->count * plan_type_sizes[t->type];
  bool from = me == t->from, to = me == t->to;
  if ((t->act == PARTITIONED_SEND && to) || (t->act == PARTITIONED_RECEIVE && from)) {
    o->memory = calloc((size_t)t->count + 1, MOST_EXTENT);
    partitioned_init(pc, t, from && t->act == PARTITIONED_RECEIVE, o->memory, types[t->type], comm, &o->later);
  }
  if (t->act == UNEXPECTED_MESSAGE && to) {
    o->memory = malloc((size_t)bytes + 1);
    MPI_Recv_init(o->memory, bytes, MPI_BYTE, plan_rank_of(pc, t->from), t->tag, comm, &o->later);
  }
  if (t->act == FREED_REQUEST && from) MPI_Ssend_init(NULL, 0, MPI_INT, plan_rank_of(pc, t->to), t->tag, comm, &o->later);
}

static void perform_item(const struct plan *p, int number) {
  const struct plan_item *t = &p->item[number];
  const struct plan_comm *pc = &p->comm[t->comm];
  struct own *o = &own[number];
  struct expect_comm *c = comms[t->comm];
  bool sends = me == t->from, receives = me == t->to;
  switch (t->act) {
  case UNEXPECTED_MESSAGE:
    if (sends) o->sent = post_send(c, pc, t, state_of(t));
    if (receives) note_unexpected(c, pc, t);
    if (t->again) follow(c, pc, t);
    break;
  case UNMATCHED_RECEIVE:
    if (receives) o->received = post_receive(c, pc, t);
    break;
  case COMPLETE_PAIR:
    if (receives) (o->received = post_receive(c, pc, t))->state = EXPECT_COMPLETE;
    in_turn(t);
    if (sends) o->sent = post_send(c, pc, t, EXPECT_COMPLETE);
    break;
  case COLLECTED_PAIR: collect(c, pc, t, o); break;
  case CANCELLED_RECEIVE:
    if (!receives) break;
    o->received = post_receive(c, pc, t);
    MPI_Cancel(&o->received->request);
    o->received->state = EXPECT_COMPLETE;
    o->received->cancelled = true;
    break;
  case FREED_REQUEST:
    if (receives) MPI_Request_free(&post_receive(c, pc, t)->request);
    break;
  case IDLE_PERSISTENT:
    if (sends) MPI_Ssend_init(NULL, 0, MPI_INT, plan_rank_of(pc, t->to), t->tag, c->comm, &o->send);
    if (receives) MPI_Recv_init(NULL, 0, MPI_INT, plan_rank_of(pc, t->from), t->tag, c->comm, &o->receive);
    break;
  case NO_PROCESS: use_no_process(c, t, o); break;
  case HELD_MESSAGE:
  case TAKEN_MESSAGE:
    if (sends) o->sent = post_send(c, pc, t, t->act == HELD_MESSAGE ? state_of(t) : EXPECT_COMPLETE);
    if (receives) hold(c, pc, t, o);
    break;
  case PARTITIONED_SEND:
  case PARTITIONED_RECEIVE:
  case PARTITIONED_PAIR: partitioned_post(c, pc, t, types[t->type], control, &o->sent, &o->received); break;
  case ACTS: break;
  }
  if (pc->freed) make_other_half(c->comm, pc, t, o);
  if (pc->freed && t->act == PARTITIONED_RECEIVE && (sends || receives)) partitioned_match(pc, t, control, o->received);
}

struct posting { const struct plan *plan; int number; };

static void *post_in_thread(void *posting) {
  const struct posting *p = posting;
  perform_item(p->plan, p->number);
  return NULL;
}

/* Frees what the plan frees; a receive keeps each of them in being. */
static void free_comms(const struct plan *p) {
  for (int i = 1; i < p->comms; i++)
    if (comms[i] && p->comm[i].freed) {
      MPI_Comm_free(&comms[i]->comm);
      expect_freed(comms[i]);
    }
}

void perform(const struct plan *p) {
  memset(own, 0, sizeof own);
  memset(spare, 0, sizeof spare);
  for (int i = 0; i < MOST_ITEMS; i++) own[i].send = own[i].receive = own[i].later = MPI_REQUEST_NULL, own[i].message = MPI_MESSAGE_NULL;
  make_comms(p);
  for (int i = 1; i < p->comms; i++)
    if (comms[i] && p->comm[i].freed) spare[i] = expect_post(comms[i], "irecv", 1, MPI_INT, 0, SPARE_TAG);
  for (int i = 0; i < p->items; i++) {
    const struct plan_item *t = &p->item[i];
    if (t->comm == NO_COMM || (t->from != me && t->to != me)) continue;
    struct posting posting = {p, i};
    pthread_t thread;
    if (!p->threads || !t->thread) perform_item(p, i);
    else if (pthread_create(&thread, NULL, post_in_thread, &posting) != 0 || pthread_join(thread, NULL) != 0)
      expect_die("no thread");
  }
  end_prepare(p, control, aside);
  expect_settle(control->comm);
  free_comms(p);
  end_note(p);
}

void perform_finish(MPI_Request *r, bool cancel) {
  if (cancel) MPI_Cancel(r);
  MPI_Wait(r, MPI_STATUS_IGNORE);
  if (*r != MPI_REQUEST_NULL) MPI_Request_free(r);
}

void perform_tidy(const struct plan *p) {
  end_release(p);
  for (int i = 0; i < p->items; i++) {
    const struct plan_item *t = &p->item[i];
    struct own *o = &own[i];
    if (t->comm == NO_COMM || !comms[t->comm]) continue;
    const struct plan_comm *pc = &p->comm[t->comm];
    if (!pc->freed) make_other_half(comms[t->comm]->comm, pc, t, o);
    if (o->later != MPI_REQUEST_NULL) MPI_Start(&o->later);
    if (t->act == PARTITIONED_RECEIVE && me == t->from && o->later != MPI_REQUEST_NULL) partitioned_ready(0, t->pieces, o->later);
    if (t->pieces > 0 && o->sent) partitioned_ready(t->ready, t->pieces, o->sent->request);
    if (o->message == MPI_MESSAGE_NULL) continue;
    int bytes = t->count * plan_type_sizes[t->type];
    o->memory = malloc((size_t)bytes + 1);
    MPI_Imrecv(o->memory, bytes, MPI_BYTE, &o->message, &o->later);
  }
  for (int i = 0; i < p->items; i++) {
    struct own *o = &own[i];
    if (o->received && o->received->request != MPI_REQUEST_NULL) perform_finish(&o->received->request, p->item[i].act == UNMATCHED_RECEIVE);
    if (o->sent) perform_finish(&o->sent->request, false);
    perform_finish(&o->send, false);
    perform_finish(&o->receive, false);
    perform_finish(&o->later, false);
    free(o->memory);
  }
  for (int i = 0; i < p->comms; i++)
    if (spare[i]) perform_finish(&spare[i]->request, true);
  /* MPICH keeps a buffered send, and its communicator, until the buffer is looked at again. */
  void *buffer;
  int size;
  MPI_Buffer_detach(&buffer, &size);
  attach(buffer);
  /* A freed request's message has been taken before the next plan begins. */
  MPI_Barrier(control->comm);
  for (int i = p->comms - 1; i > 0; i--)
    if (comms[i] && !p->comm[i].freed) MPI_Comm_free(&comms[i]->comm);
  MPI_Comm_free(&control->comm);
  MPI_Comm_free(&aside->comm);
  MPI_Barrier(family.comm);
  expect_forget();
}
