/* The operations of a test program, posted and noted; see expect.h. */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct expect_self expect_self = {.world = MPI_COMM_WORLD};
static struct expect_comm **last_comm = &expect_self.comms;

void expect_die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  const struct expect_self *me = &expect_self;
  fprintf(stderr, "%s %d: ", me->prefix ? me->prefix : "?", me->world_rank);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  int up = 0;
  MPI_Initialized(&up);
  if (up) MPI_Abort(me->world, 1);
  exit(1);
}

static void *must(void *memory) {
  if (!memory) expect_die("out of memory");
  return memory;
}

/* Communicators */

void expect_begin(const char *directory, const char *rank_prefix) {
  expect_begin_in(MPI_COMM_WORLD, directory, rank_prefix);
}

void expect_begin_in(MPI_Comm all, const char *directory, const char *rank_prefix) {
  alarm(1800);
  expect_self.outdir = directory;
  expect_self.prefix = rank_prefix;
  expect_self.world = all;
  MPI_Comm_rank(all, &expect_self.world_rank);
  MPI_Comm_size(all, &expect_self.world_size);
}

void expect_also(const char *its_prefix, int count) {
  expect_self.other_prefix = its_prefix;
  expect_self.other_size = count;
}

static int *world_ranks(MPI_Group group, int size) {
  MPI_Group world;
  MPI_Comm_group(expect_self.world, &world);
  int *ranks = must(malloc(2 * (size_t)(size + 1) * sizeof *ranks)), *world_of = ranks + size + 1;
  for (int i = 0; i < size; i++) ranks[i] = i;
  MPI_Group_translate_ranks(group, size, ranks, world, world_of);
  memcpy(ranks, world_of, (size_t)size * sizeof *ranks);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return ranks;
}

struct expect_comm *expect_communicator(MPI_Comm comm, const char *name) {
  struct expect_comm *c = must(calloc(1, sizeof *c));
  int inter;
  MPI_Group group;
  c->comm = comm;
  for (int q = 0; q < QUEUES; q++) c->last[q] = &c->first[q];
  if (name) {
    char got[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm_set_name(comm, name);
    MPI_Comm_get_name(comm, got, &length);
    c->name = must(strdup(got));
  }
  MPI_Comm_rank(comm, &c->rank);
  MPI_Comm_size(comm, &c->size);
  MPI_Comm_group(comm, &group);
  c->group = world_ranks(group, c->size);
  c->remote_size = -1;
  MPI_Comm_test_inter(comm, &inter);
  if (inter) {
    MPI_Comm_remote_size(comm, &c->remote_size);
    MPI_Comm_remote_group(comm, &group);
    c->remote_group = world_ranks(group, c->remote_size);
  }
  *last_comm = c;
  last_comm = &c->next;
  return c;
}

void expect_forget(void) {
  for (struct expect_comm *c = expect_self.comms, *next; c; c = next) {
    next = c->next;
    for (int q = 0; q < QUEUES; q++)
      for (struct expect_op *op = c->first[q], *after; op; op = after) {
        after = op->next;
        free(op->memory);
        free(op);
      }
    free(c->name);
    free(c->group);
    free(c->remote_group);
    free(c);
  }
  expect_self.comms = NULL;
  last_comm = &expect_self.comms;
}

void expect_freed(struct expect_comm *c) { c->freed = true; }

/* Operations */

static struct expect_op *append(struct expect_comm *c, enum expect_queue queue) {
  struct expect_op *op = must(calloc(1, sizeof *op));
  *c->last[queue] = op;
  c->last[queue] = &op->next;
  return op;
}

struct expect_op *expect_note(struct expect_comm *c, const char *kind, int count,
                              MPI_Datatype type, int peer, int tag) {
  int length;
  struct expect_op *op = append(c, strstr(kind, "send") ? SENDS : RECEIVES);
  op->kind = kind;
  op->peer = peer;
  op->tag = tag;
  op->count = count;
  op->type = type;
  MPI_Type_size(type, &op->type_size);
  MPI_Type_get_name(type, op->type_name, &length);
  op->request = MPI_REQUEST_NULL;
  op->actual_length = -1;
  return op;
}

void expect_make(const char *kind, void *b, int n, MPI_Datatype type, int peer, int tag,
                 MPI_Comm comm, MPI_Request *r) {
  if (!strcmp(kind, "isend")) MPI_Isend(b, n, type, peer, tag, comm, r);
  else if (!strcmp(kind, "issend")) MPI_Issend(b, n, type, peer, tag, comm, r);
  else if (!strcmp(kind, "irsend")) MPI_Irsend(b, n, type, peer, tag, comm, r);
  else if (!strcmp(kind, "ibsend")) MPI_Ibsend(b, n, type, peer, tag, comm, r);
  else if (!strcmp(kind, "irecv")) MPI_Irecv(b, n, type, peer, tag, comm, r);
  else if (!strcmp(kind, "persistent_send")) MPI_Send_init(b, n, type, peer, tag, comm, r);
  else if (!strcmp(kind, "persistent_ssend")) MPI_Ssend_init(b, n, type, peer, tag, comm, r);
  else if (!strcmp(kind, "persistent_bsend")) MPI_Bsend_init(b, n, type, peer, tag, comm, r);
  else if (!strcmp(kind, "persistent_rsend")) MPI_Rsend_init(b, n, type, peer, tag, comm, r);
  else if (!strcmp(kind, "persistent_recv")) MPI_Recv_init(b, n, type, peer, tag, comm, r);
  else expect_die("no operation %s", kind);
}

struct expect_op *expect_post(struct expect_comm *c, const char *kind, int n, MPI_Datatype type,
                              int peer, int tag) {
  struct expect_op *op = expect_note(c, kind, n, type, peer, tag);
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  /* To one that is vast nothing comes, and its pages would be in core files. */
  size_t bytes = ((size_t)n + 1) * (size_t)extent;
  op->buffer = op->memory = must(calloc(1, bytes <= 64 << 20 ? bytes : 64));
  expect_make(kind, op->buffer, n, type, peer, tag, c->comm, &op->request);
  if (!strncmp(kind, "persistent", 10)) MPI_Start(&op->request);
  /* Whether a buffered send used the attached buffer is for its caller to say. */
  if (strstr(kind, "bsend")) op->system_buffer = -1;
  return op;
}

void expect_unexpected(struct expect_comm *c, int source, int tag, long bytes) {
  struct expect_op *op = append(c, UNEXPECTED);
  op->peer = source;
  op->tag = tag;
  op->count = -1;
  op->request = MPI_REQUEST_NULL;
  expect_actual(op, source, tag, bytes);
}

void expect_actual(struct expect_op *op, int source, int tag, long bytes) {
  op->actual_source = source;
  op->actual_tag = tag;
  op->actual_length = bytes;
}

bool expect_complete(struct expect_op *op, enum expect_queue queue) {
  MPI_Status status;
  int flag, bytes;
  if (op->request == MPI_REQUEST_NULL) return op->state == EXPECT_COMPLETE;
  MPI_Request_get_status(op->request, &flag, &status);
  if (!flag) return false;
  if (queue == RECEIVES && !op->cancelled && op->actual_length < 0) {
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    expect_actual(op, status.MPI_SOURCE, status.MPI_TAG, bytes);
  }
  return true;
}

bool expect_taken(const struct expect_op *op, enum expect_queue queue) {
  if (!getenv("EXPECT_TAKEN") || queue == UNEXPECTED || op->request == MPI_REQUEST_NULL) return false;
  if (queue == RECEIVES) return op->state == EXPECT_MATCHED;
  return !strcmp(op->kind, "isend") || !strcmp(op->kind, "persistent_send");
}

static bool arrived(struct expect_comm *c, const struct expect_op *op) {
  MPI_Status status;
  int flag, bytes;
  MPI_Iprobe(op->peer, op->tag, c->comm, &flag, &status);
  if (!flag) return false;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  if (bytes != op->actual_length)
    expect_die("tag %d from %d has %d bytes, not %ld", op->tag, op->peer, bytes,
               op->actual_length);
  return true;
}

void expect_settle(MPI_Comm comm) {
  for (struct expect_comm *c = expect_self.comms; c; c = c->next) {
    if (c->freed) continue;
    for (struct expect_op *op = c->first[UNEXPECTED]; op; op = op->next)
      while (!op->unprobed && !arrived(c, op)) continue;
    for (enum expect_queue q = SENDS; q <= RECEIVES; q++)
      for (struct expect_op *op = c->first[q]; op; op = op->next) {
        if (op->state == EXPECT_COMPLETE || expect_taken(op, q))
          while (!expect_complete(op, q)) continue;
        /* Give a send that may go its chance to have gone. */
        for (int i = 0; op->state == EXPECT_LEFT && i < 1000; i++)
          if (expect_complete(op, q)) break;
      }
  }
  MPI_Barrier(comm);
}
