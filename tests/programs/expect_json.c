/* The account that a test program writes of its queues; see expect.h. */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const queue_keys[QUEUES] = {"pending_sends", "pending_receives",
                                               "unexpected_messages"};

/* Files */

static const char *path_of(char *path, const char *name) {
  if (snprintf(path, 4096, "%s/%s", expect_self.outdir, name) >= 4096)
    expect_die("OUTDIR is too long");
  return path;
}

bool expect_exists(const char *name) {
  char path[4096];
  return access(path_of(path, name), F_OK) == 0;
}

/* Opens a file under a temporary name; publish gives it the real one. */
static FILE *create(const char *name) {
  char temporary[256], path[4096];
  snprintf(temporary, sizeof temporary, ".%s.new", name);
  FILE *file = fopen(path_of(path, temporary), "w");
  if (!file) expect_die("can't write %s", path);
  return file;
}

static void publish(FILE *file, const char *name) {
  char temporary[256], from[4096], to[4096];
  snprintf(temporary, sizeof temporary, ".%s.new", name);
  if (fclose(file) != 0 || rename(path_of(from, temporary), path_of(to, name)) != 0)
    expect_die("can't write %s/%s", expect_self.outdir, name);
}

void expect_touch(const char *name) { publish(create(name), name); }

/* Whenever it is stopped, it is on one line of one function, and it is asleep nearly always: who looks at it
   takes a file that it asks for to be what it waits for. */
void expect_await(const char *name) {
  char path[4096];
  path_of(path, name);
  while (access(path, F_OK) != 0) nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

/* The account */

static void put_string(FILE *f, const char *s) {
  fputc('"', f);
  for (; *s; s++) {
    if (*s == '"' || *s == '\\') fprintf(f, "\\%c", *s);
    else if ((unsigned char)*s < 0x20) fprintf(f, "\\u%04x", (unsigned char)*s);
    else fputc(*s, f);
  }
  fputc('"', f);
}

static void put_rank(FILE *f, int rank) {
  if (rank == MPI_UNDEFINED) fputs("null", f);
  else fprintf(f, "%d", rank);
}

static void put_group(FILE *f, const int *ranks, int size) {
  for (int i = 0; i < size; i++) {
    fputs(i ? "," : "[", f);
    put_rank(f, ranks[i]);
  }
  fputs(size > 0 ? "]" : size == 0 ? "[]" : "null", f);
}

/* Writes WHICH_local_rank and WHICH_global_rank, with no comma after. */
static void put_peer(FILE *f, const struct expect_comm *c, const char *which, int rank) {
  const int *ranks = c->remote_size >= 0 ? c->remote_group : c->group;
  bool any = rank == MPI_ANY_SOURCE;
  fprintf(f, "\"%s_local_rank\":%d,\"%s_global_rank\":", which, any ? -1 : rank, which);
  put_rank(f, any ? -1 : ranks[rank]);
}

static enum expect_state check(struct expect_op *op, enum expect_queue q) {
  bool done = q == UNEXPECTED ? false : expect_complete(op, q);
  if (op->state == EXPECT_LEFT) return done ? EXPECT_COMPLETE : EXPECT_PENDING;
  if (op->state == EXPECT_MATCHED && done) {
    fprintf(stderr, "%s %d: %s with tag %d is complete: this MPI needs no help of the sender\n",
            expect_self.prefix, expect_self.world_rank, op->kind, op->tag);
    return EXPECT_COMPLETE;
  }
  if (done && expect_taken(op, q)) return EXPECT_COMPLETE;
  if (done != (op->state == EXPECT_COMPLETE))
    expect_die("%s with tag %d is %scomplete", op->kind, op->tag, done ? "" : "not ");
  return op->state;
}

static void put_op(FILE *f, const struct expect_comm *c, struct expect_op *op,
                   enum expect_queue q) {
  static const char *const states[] = {"pending", "matched", "complete"};
  enum expect_state state = check(op, q);
  fputc('{', f);
  bool asked = op->state != EXPECT_LEFT || op->request != MPI_REQUEST_NULL; /* else its state is its call's own */
  if (q != UNEXPECTED && asked) fprintf(f, "\"status\":\"%s\",", states[state]);
  if (q != UNEXPECTED) fprintf(f, "\"tag_wild\":%s,", op->tag == MPI_ANY_TAG ? "true" : "false");
  put_peer(f, c, "desired", op->peer);
  if (op->tag == MPI_ANY_TAG) fputs(",\"desired_tag\":null", f);
  else fprintf(f, ",\"desired_tag\":%d", op->tag);
  long length = op->count < 0 ? op->actual_length : (long)op->count * op->type_size;
  if (length >= 0 && (op->count >= 0 || q != RECEIVES))
    fprintf(f, ",\"desired_length\":%ld", length);
  if (q == SENDS) expect_actual(op, op->peer, op->tag, length);
  if (op->actual_length >= 0) {
    fputc(',', f);
    put_peer(f, c, "actual", op->actual_source);
    fprintf(f, ",\"actual_tag\":%d,\"actual_length\":%ld", op->actual_tag, op->actual_length);
  } else if (state == EXPECT_PENDING || op->cancelled) {
    fputs(",\"actual_local_rank\":null,\"actual_global_rank\":null,\"actual_tag\":null,"
          "\"actual_length\":null", f);
  }
  if (op->kind) fprintf(f, ",\"kind\":\"%s\"", op->kind);
  if (op->buffer) fprintf(f, ",\"buffer\":\"%p\"", op->buffer);
  if (op->kind && op->system_buffer >= 0)
    fprintf(f, ",\"system_buffer\":%s", op->system_buffer ? "true" : "false");
  if (op->kind && op->count >= 0) fprintf(f, ",\"count\":%d", op->count);
  if (op->count >= 0) { /* an empty name is one too: the type has none */
    fputs(",\"datatype\":", f);
    put_string(f, op->type_name);
  }
  if (op->cancelled) fputs(",\"cancelled\":true", f);
  if (op->optional || op->state == EXPECT_LEFT) fputs(",\"optional\":true", f);
  fputc('}', f);
}

static void put_calls(FILE *f) {
  const char *before = "";
  fprintf(f, "\"endless\":%s,\"hangs\":%s,\"calls\":[", expect_self.endless ? "true" : "false", expect_self.hangs ? "true" : "false");
  for (const struct expect_call *call = expect_self.calls; call < expect_self.calls + MOST_CALLS && call->name; call++) {
    int at = 0;
    for (const struct expect_comm *c = expect_self.comms; c != call->comm; c = c->next) at++;
    fprintf(f, "%s{\"call\":\"%s\",\"communicator\":%d}", before, call->name, at);
    before = ",";
  }
  fputs("],", f);
}

void expect_write(void) {
  char name[64];
  snprintf(name, sizeof name, "%s-%d.json", expect_self.prefix, expect_self.world_rank);
  FILE *f = create(name);
  fprintf(f, "{\"pid\":%ld,\"global_rank\":%d,\"world_size\":%d,", (long)getpid(),
          expect_self.world_rank, expect_self.world_size);
  put_calls(f);
  fputs("\"communicators\":[", f);
  for (struct expect_comm *c = expect_self.comms; c; c = c->next) {
    fputs(c == expect_self.comms ? "\n{" : ",\n{", f);
    if (c->name) {
      fputs("\"name\":", f);
      put_string(f, c->name);
      fputc(',', f);
    }
    if (c->freed) fputs("\"freed\":true,", f);
    fprintf(f, "\"local_rank\":%d,\"size\":%d,\"group\":", c->rank, c->size);
    put_group(f, c->group, c->size);
    fputs(",\"remote_group\":", f);
    put_group(f, c->remote_group, c->remote_size);
    for (enum expect_queue q = SENDS; q < QUEUES; q++) {
      fprintf(f, ",\n \"%s\":[", queue_keys[q]);
      for (struct expect_op *op = c->first[q]; op; op = op->next) {
        put_op(f, c, op, q);
        if (op->next) fputs(",\n  ", f);
      }
      fputc(']', f);
    }
    fputc('}', f);
  }
  fputs("\n]}\n", f);
  publish(f, name);
}

static void await_account(const char *whose, int rank, bool progress) {
  char name[64];
  int flag;
  snprintf(name, sizeof name, "%s-%d.json", whose, rank);
  while (!expect_exists(name)) {
    if (progress) MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    else nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  }
}

void expect_ready(bool progress) {
  char name[64];
  const struct expect_self *me = &expect_self;
  for (int i = 0; i < me->world_size; i++) await_account(me->prefix, i, progress);
  for (int i = 0; i < me->other_size; i++) await_account(me->other_prefix, i, progress);
  bool child = strcmp(expect_self.prefix, "rank") != 0;
  snprintf(name, sizeof name, child ? "ready-child-%d" : "ready-%d", expect_self.world_rank);
  expect_touch(name);
}

void expect_hold(void) {
  expect_await("stop");
  MPI_Abort(expect_self.world, 0);
}

void expect_finish(void) {
  expect_settle(expect_self.world);
  expect_write();
  expect_ready(true);
  expect_hold();
}
