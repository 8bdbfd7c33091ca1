/* The toy's memory, read as a vendor's DLL does: by the debugger's word on types and bytes. */
#include "reference.h"

#include <string.h>

static mqs_type *type_of(mqs_image_info *image, char *name, size_t size, int *answer) {
  mqs_type *type = image->calls->mqs_find_type_fp(image->image, name, mqs_lang_c);
  if (!type) return NULL;
  *answer = image->calls->mqs_sizeof_fp(type);
  CHECK(*answer == (int)size, "sizeof(%s) is %d, not %zu", name, *answer, size);
  return type;
}

static struct place member(mqs_image_info *image, mqs_type *type, char *name, size_t offset, size_t size) {
  int answer = image->calls->mqs_field_offset_fp(type, name);
  CHECK(answer == (int)offset, "the offset of %s is %d, not %zu", name, answer, offset);
  return (struct place){answer, (int)size};
}

#define MEMBER_AS(type, name, as) l->as = member(image, t, #name, offsetof(type, name), sizeof((type *)0)->name)
#define MEMBER(type, name) MEMBER_AS(type, name, name)

/* Fills in the image's layout; false if this is no toy, or the debugger has not its types. */
bool find_layout(mqs_image_info *image) {
  struct layout *l = &image->layout;
  mqs_type *t;
  if (image->calls->mqs_find_symbol_fp(image->image, "toy_state", &image->state) != mqs_ok) return false;
  if (!(t = type_of(image, "toy_state_t", sizeof(toy_state_t), &l->state_size))) return false;
  MEMBER(toy_state_t, magic);
  MEMBER(toy_state_t, world_rank);
  MEMBER(toy_state_t, world_size);
  MEMBER(toy_state_t, sequence);
  MEMBER(toy_state_t, comms);
  if (!(t = type_of(image, "toy_comm_t", sizeof(toy_comm_t), &l->comm_size))) return false;
  MEMBER(toy_comm_t, next);
  MEMBER(toy_comm_t, unique_id);
  MEMBER(toy_comm_t, rank);
  MEMBER(toy_comm_t, size);
  MEMBER(toy_comm_t, name);
  MEMBER(toy_comm_t, group);
  MEMBER(toy_comm_t, group_answer);
  MEMBER(toy_comm_t, group_written);
  MEMBER(toy_comm_t, answers);
  MEMBER(toy_comm_t, queues);
  if (!(t = type_of(image, "toy_operation_t", sizeof(toy_operation_t), &l->operation_size))) return false;
  MEMBER_AS(toy_operation_t, next, o_next);
  MEMBER(toy_operation_t, status);
  MEMBER(toy_operation_t, desired_local_rank);
  MEMBER(toy_operation_t, desired_global_rank);
  MEMBER(toy_operation_t, tag_wild);
  MEMBER(toy_operation_t, desired_tag);
  MEMBER(toy_operation_t, desired_length);
  MEMBER(toy_operation_t, system_buffer);
  MEMBER(toy_operation_t, buffer);
  MEMBER(toy_operation_t, actual_local_rank);
  MEMBER(toy_operation_t, actual_global_rank);
  MEMBER(toy_operation_t, actual_tag);
  MEMBER(toy_operation_t, actual_length);
  MEMBER(toy_operation_t, lines);
  MEMBER(toy_operation_t, text);
  return true;
}

static int fetch(mqs_process_info *p, mqs_taddr_t from, int size, void *into) {
  return p->calls->mqs_fetch_data_fp(p->process, from, size, into) == mqs_ok ? mqs_ok : err_memory;
}

/* value takes an int, a long or a pointer out of what has been fetched. */
static long value(mqs_process_info *p, const char *bytes, struct place at) {
  int narrow = 0;
  long wide = 0;
  if (at.size == sizeof narrow) {
    p->calls->mqs_target_to_host_fp(p->process, bytes + at.offset, &narrow, at.size);
    return narrow;
  }
  p->calls->mqs_target_to_host_fp(p->process, bytes + at.offset, &wide, at.size);
  return wide;
}

/* A pointer, which is not signed. */
static mqs_taddr_t address(mqs_process_info *p, const char *bytes, struct place at) {
  return (toy_address)value(p, bytes, at);
}

static struct place element(struct place of, int i, size_t size) {
  return (struct place){of.offset + i * (int)size, (int)size};
}

#define VALUE(name) value(p, bytes, l->name)
#define ADDRESS(name) address(p, bytes, l->name)

int read_state(mqs_process_info *p) {
  const struct layout *l = &p->image->layout;
  char bytes[sizeof(toy_state_t)];
  if (fetch(p, p->image->state, l->state_size, bytes)) return err_memory;
  return VALUE(magic) == TOY_MAGIC ? mqs_ok : err_no_toy;
}

/*
 * As the DLL of MPICH 1 has it: the rank in a communicator is the place in its group
 * of the rank that the debugger gives the process.
 */
#ifdef RANK_OF_DEBUGGER
static mqs_tword_t rank_of(mqs_process_info *p, const struct comm *c) {
  enum { MOST = 64 };
  int ranks[MOST], rank = p->calls->mqs_get_global_rank_fp(p->process);
  if (c->group_written > MOST || read_group(p, c, ranks)) return -1;
  for (int i = 0; i < c->group_written; i++)
    if (ranks[i] == rank) return i;
  return -1;
}
#endif

static void read_comm(mqs_process_info *p, const char *bytes, struct comm *c) {
  const struct layout *l = &p->image->layout;
  c->shown.unique_id = ADDRESS(unique_id);
  c->shown.local_rank = VALUE(rank);
  c->shown.size = VALUE(size);
  memcpy(c->shown.name, bytes + l->name.offset, sizeof c->shown.name);
  c->group = ADDRESS(group);
  c->group_answer = (int)VALUE(group_answer);
  c->group_written = (int)VALUE(group_written);
  for (int i = 0; i < TOY_QUEUES; i++) {
    c->answers[i] = (int)value(p, bytes, element(l->answers, i, sizeof(int)));
    c->queues[i] = address(p, bytes, element(l->queues, i, sizeof(toy_address)));
  }
#ifdef RANK_OF_DEBUGGER
  c->shown.local_rank = rank_of(p, c);
#endif
}

/* Takes the process's communicators anew into the debugger's heap. */
int read_comms(mqs_process_info *p) {
  enum { MOST = 1000 };
  const struct layout *l = &p->image->layout;
  char bytes[sizeof(toy_comm_t)];
  int room = 0;
#ifdef KEEPS
  if (p->comms) return mqs_ok;
#endif
  if (p->comms) basic->mqs_free_fp(p->comms);
  p->comms = NULL;
  p->count = 0;
  if (fetch(p, p->image->state, l->state_size, bytes)) return err_memory;
  mqs_taddr_t at = ADDRESS(comms);
  for (; at; at = ADDRESS(next)) {
    if (p->count == MOST) return err_queue;
    if (fetch(p, at, l->comm_size, bytes)) return err_memory;
    if (p->count == room) {
      struct comm *more = basic->mqs_malloc_fp(sizeof *more * (size_t)(room += 3));
      if (!more) return err_memory;
      if (p->comms) {
        memcpy(more, p->comms, sizeof *more * (size_t)p->count);
        basic->mqs_free_fp(p->comms);
      }
      p->comms = more;
    }
    read_comm(p, bytes, &p->comms[p->count++]);
  }
  return mqs_ok;
}

/* Writes as many entries as the toy has, and none behind. */
int read_group(mqs_process_info *p, const struct comm *c, int *ranks) {
  if (c->group_answer) return c->group_answer;
  for (int i = 0; i < c->group_written; i++) {
    int narrow;
    if (fetch(p, c->group + sizeof narrow * (size_t)i, sizeof narrow, &narrow)) return err_memory;
    p->calls->mqs_target_to_host_fp(p->process, &narrow, &ranks[i], sizeof narrow);
  }
  return mqs_ok;
}

/* Reads the operation that stands at p->next and steps on. */
int read_operation(mqs_process_info *p, mqs_pending_operation *op) {
  const struct layout *l = &p->image->layout;
  char bytes[sizeof(toy_operation_t)];
  int code = p->calls->mqs_fetch_data_fp(p->process, p->next, l->operation_size, bytes);
  if (code != mqs_ok) {
    char *words = basic->mqs_errorstring_fp(code);
    CHECK(words && words[0] && strnlen(words, 4096) < 4096, "mqs_errorstring has no words for fetch_data's %d", code);
    return err_memory;
  }
  p->next = ADDRESS(o_next);
  op->status = (int)VALUE(status);
  op->desired_local_rank = VALUE(desired_local_rank);
  op->desired_global_rank = VALUE(desired_global_rank);
  op->tag_wild = (int)VALUE(tag_wild);
  op->desired_tag = VALUE(desired_tag);
  op->desired_length = VALUE(desired_length);
  op->system_buffer = (int)VALUE(system_buffer);
  op->buffer = ADDRESS(buffer);
  op->actual_local_rank = VALUE(actual_local_rank);
  op->actual_global_rank = VALUE(actual_global_rank);
  op->actual_tag = VALUE(actual_tag);
  op->actual_length = VALUE(actual_length);
  long lines = VALUE(lines);
  memcpy(op->extra_text, bytes + l->text.offset, sizeof op->extra_text);
  if (lines < TOY_LINES) {
    /* What stands behind the empty line is nobody's. */
    memset(op->extra_text[lines], 'j', sizeof op->extra_text - (size_t)lines * TOY_NAME);
    op->extra_text[lines][0] = 0;
  }
  return mqs_ok;
}

bool keeps_sends(mqs_process_info *p) {
  mqs_taddr_t at;
  if (p->image->calls->mqs_find_symbol_fp(p->image->image, "MPIR_being_debugged", &at) != mqs_ok) return true;
  char bytes[sizeof(int)];
  int value = 0;
  if (p->calls->mqs_fetch_data_fp(p->process, at, sizeof bytes, bytes) != mqs_ok) return false;
  p->calls->mqs_target_to_host_fp(p->process, bytes, &value, sizeof value);
  return value != 0;
}
