/*
 * The entry points of the reference DLL: see reference.h.
 *
 * rogue.c includes this file, with an ENTRY of its own.
 */
#include "reference.h"

#include <string.h>

#ifndef ENTRY
#define ENTRY(name) name
#endif

const mqs_basic_callbacks *basic;

/* What has been handed to the debugger. Nothing else may come back. */
enum { MOST = 1000 };
static mqs_image_info *images[MOST];
static mqs_process_info *processes[MOST];
static int image_count, process_count;
static mqs_job_info *job;
static bool named, asked; /* the version functions have been called */

char *ENTRY(mqs_version_string)(void) {
  enter();
  log_entry("mqs_version_string");
  named = true;
  leave(0);
  return "reference DLL of mpi-queues";
}

int ENTRY(mqs_version_compatibility)(void) {
  enter();
  log_entry("mqs_version_compatibility");
  asked = true;
  return leave(COMPATIBILITY);
}

int ENTRY(mqs_dll_taddr_width)(void) {
  enter();
  log_entry("mqs_dll_taddr_width");
  return leave(sizeof(mqs_taddr_t));
}

void ENTRY(mqs_setup_basic_callbacks)(const mqs_basic_callbacks *callbacks) {
  enter();
  log_entry("mqs_setup_basic_callbacks");
  CHECK(named && asked, "mqs_setup_basic_callbacks is called ahead of the version functions");
  CHECK(!basic, "mqs_setup_basic_callbacks is called twice");
  basic = callbacks;
  CHECK(callbacks, "mqs_setup_basic_callbacks gets NULL");
  if (callbacks) check_basic();
  leave(0);
}

char *ENTRY(mqs_dll_error_string)(int code) {
  enter();
  log_entry("mqs_dll_error_string(%d)", code);
  leave(0);
  switch (code) {
  case err_missing: return "the program has no toy MPI";
  case err_no_toy: return "the process has no toy MPI";
  case err_memory: return "the memory of the toy can't be read";
  case err_use: return "the debugger did not heed the order of calls";
  case err_low: return "a toy's code below 100";
  case err_negative: return "a toy's code below 0";
  case mqs_no_information: return "the toy knows nothing of it";
  case err_queue: return "a queue of the toy is out of order";
  default: return "an error that the reference DLL does not know";
  }
}

int ENTRY(mqs_setup_image)(mqs_image *image, const mqs_image_callbacks *callbacks) {
  enter();
  log_entry("mqs_setup_image(%d)", image_count + 1);
  CHECK(basic, "mqs_setup_image is called ahead of mqs_setup_basic_callbacks");
  CHECK(image && callbacks, "mqs_setup_image gets NULL");
  if (!basic || !image || !callbacks || image_count == MOST) return leave(err_use);
  for (int i = 0; i < image_count; i++) CHECK(!images[i] || images[i]->image != image, "mqs_setup_image is called twice for image %d", i + 1);
  mqs_image_info *info = basic->mqs_malloc_fp(sizeof *info);
  if (!info) return leave(err_memory);
  *info = (mqs_image_info){.image = image, .calls = callbacks, .number = image_count + 1};
  images[image_count++] = info;
  check_image(info);
  return leave(mqs_ok);
}

static mqs_image_info *image_of(mqs_image *image) {
  mqs_image_info *info = basic ? basic->mqs_get_image_info_fp(image) : NULL;
  for (int i = 0; i < image_count; i++)
    if (info && images[i] == info) return info;
  fail("an image comes that was not set up");
  return NULL;
}

int ENTRY(mqs_image_has_queues)(mqs_image *image, char **message) {
  enter();
  mqs_image_info *info = image_of(image);
  log_entry("mqs_image_has_queues(%d)", info ? info->number : 0);
  if (!info || !message) return leave(err_use);
  CHECK(info->asked++ == 0, "mqs_image_has_queues is called twice for image %d", info->number);
  info->has_queues = find_layout(info);
  *message = info->has_queues ? "%s is a toy, at 100% of %d %n" : "%s is no toy, at 100% of %d %n";
  return leave(info->has_queues ? mqs_ok : err_missing);
}

void ENTRY(mqs_destroy_image_info)(mqs_image_info *info) {
  enter();
  for (int i = 0; i < image_count; i++) {
    if (!info || images[i] != info) continue;
    log_entry("mqs_destroy_image_info(%d)", i + 1);
    CHECK(info->processes == 0, "image %d goes ahead of its processes", i + 1);
    images[i] = NULL;
    basic->mqs_free_fp(info);
    leave(0);
    return;
  }
  log_entry("mqs_destroy_image_info(?)");
  fail("mqs_destroy_image_info gets what is no image's information");
  leave(0);
}

int ENTRY(mqs_setup_process)(mqs_process *process, const mqs_process_callbacks *callbacks) {
  enter();
  log_entry("mqs_setup_process(%d)", process_count + 1);
  CHECK(process && callbacks, "mqs_setup_process gets NULL");
  if (!basic || !process || !callbacks || process_count == MOST) return leave(err_use);
  mqs_image_info *image = image_of(callbacks->mqs_get_image_fp(process));
  CHECK(image && image->has_queues, "mqs_setup_process is called on an image without queues");
  if (!image) return leave(err_use);
  for (int i = 0; i < process_count; i++)
    CHECK(!processes[i] || processes[i]->process != process, "mqs_setup_process is called twice for process %d", i + 1);
  mqs_process_info *info = basic->mqs_malloc_fp(sizeof *info);
  if (!info) return leave(err_memory);
  *info = (mqs_process_info){.process = process, .image = image, .calls = callbacks, .at = -1, .class = -1,
                             .number = process_count + 1, .new_processes = -1};
  image->processes++;
  processes[process_count++] = info;
  check_process(info);
  log_entry("  of image %d, rank %d", image->number, callbacks->mqs_get_global_rank_fp(process));
  if (job) check_job(job, process);
  return leave(mqs_ok);
}

static mqs_process_info *process_of(mqs_process *process) {
  mqs_process_info *info = basic ? basic->mqs_get_process_info_fp(process) : NULL;
  for (int i = 0; i < process_count; i++)
    if (info && processes[i] == info) return info;
  fail("a process comes that was not set up");
  return NULL;
}

/* Each entry point on a process starts with this. */
#define ON_PROCESS(name)                                        \
  enter();                                                      \
  mqs_process_info *p = process_of(process);                    \
  log_entry(name "(%d)", p ? p->number : 0);                    \
  if (!p) return leave(err_use)

int ENTRY(mqs_process_has_queues)(mqs_process *process, char **message) {
  ON_PROCESS("mqs_process_has_queues");
  CHECK(p->asked++ == 0, "mqs_process_has_queues is called twice for process %d", p->number);
  if (message) *message = NULL;
  check_memory(p);
  int result = read_state(p);
  p->has_queues = result == mqs_ok;
  return leave(result);
}

void ENTRY(mqs_destroy_process_info)(mqs_process_info *info) {
  enter();
  for (int i = 0; i < process_count; i++) {
    if (!info || processes[i] != info) continue;
    log_entry("mqs_destroy_process_info(%d)", i + 1);
    processes[i] = NULL;
    info->image->processes--;
    if (info->comms) basic->mqs_free_fp(info->comms);
    basic->mqs_free_fp(info);
    leave(0);
    return;
  }
  log_entry("mqs_destroy_process_info(?)");
  fail("mqs_destroy_process_info gets what is no process's information");
  leave(0);
}

int ENTRY(mqs_update_communicator_list)(mqs_process *process) {
  ON_PROCESS("mqs_update_communicator_list");
  CHECK(p->has_queues, "mqs_update_communicator_list is called on a process without queues");
  p->updated = true;
  p->at = p->class = -1;
  return leave(read_comms(p));
}

int ENTRY(mqs_setup_communicator_iterator)(mqs_process *process) {
  ON_PROCESS("mqs_setup_communicator_iterator");
  CHECK(p->updated, "communicators are iterated without an update before");
  p->updated = p->got = false;
  p->at = 0;
  p->class = -1;
  return leave(mqs_ok);
}

int ENTRY(mqs_get_communicator)(mqs_process *process, mqs_communicator *c) {
  ON_PROCESS("mqs_get_communicator");
  CHECK(p->at >= 0 && p->at <= p->count, "mqs_get_communicator is called where there is none");
  if (p->at < 0 || p->at > p->count) return leave(err_use);
  p->got = true;
  if (p->at < p->count)
    *c = p->comms[p->at].shown;
  else
    *c = (mqs_communicator){.unique_id = 0xca115, .local_rank = 0, .size = 1, .name = "calls"};
  return leave(mqs_ok);
}

int ENTRY(mqs_get_comm_group)(mqs_process *process, int *ranks) {
  ON_PROCESS("mqs_get_comm_group");
  CHECK(p->got, "mqs_get_comm_group is called ahead of mqs_get_communicator");
  if (!p->got || !ranks) return leave(err_use);
  if (p->at == p->count) {
    p->calls->mqs_target_to_host_fp(process, &(int){0}, ranks, sizeof *ranks);
    return leave(mqs_ok);
  }
  long size = p->comms[p->at].shown.size;
  CHECK(size >= 0 && size <= 1 << 24, "mqs_get_comm_group is called on a communicator of size %ld", size);
  if (size < 0 || size > 1 << 24) return leave(err_use);
  return leave(read_group(p, &p->comms[p->at], ranks));
}

int ENTRY(mqs_next_communicator)(mqs_process *process) {
  ON_PROCESS("mqs_next_communicator");
  CHECK(p->at >= 0, "mqs_next_communicator is called without an iterator");
  p->got = false;
  p->class = -1;
  if (p->at >= 0 && p->at <= p->count) p->at++;
  return leave(p->at >= 0 && p->at <= p->count ? mqs_ok : mqs_end_of_list);
}

int ENTRY(mqs_setup_operation_iterator)(mqs_process *process, int class) {
  enter();
  mqs_process_info *p = process_of(process);
  log_entry("mqs_setup_operation_iterator(%d, %d)", p ? p->number : 0, class);
  CHECK(p && p->at >= 0 && p->at <= p->count, "mqs_setup_operation_iterator is called without a communicator");
  CHECK(class >= 0 && class < TOY_QUEUES, "mqs_setup_operation_iterator is called with class %d", class);
  if (!p || p->at < 0 || p->at > p->count || class < 0 || class >= TOY_QUEUES) return leave(err_use);
  p->class = class;
  p->next = 0;
  p->line = p->lines = 0;
  if (p->at < p->count) {
    if (class == mqs_pending_sends && !keeps_sends(p)) return leave(mqs_no_information);
    p->next = p->comms[p->at].queues[class];
    return leave(p->comms[p->at].answers[class]);
  }
  if (class == mqs_pending_sends) p->lines = log_lines();
  if (class == mqs_pending_receives) p->lines = failed_checks();
  return leave(p->lines ? mqs_ok : mqs_end_of_list);
}

/* A line of the account, over as many lines of text as it takes. */
static void line_of_account(mqs_process_info *p, mqs_pending_operation *op) {
  const char *text = p->class == mqs_pending_sends ? log_line(p->line) : failed_check(p->line);
  *op = (mqs_pending_operation){.status = mqs_st_pending, .desired_tag = p->line, .actual_tag = p->line};
  p->line++;
  for (int i = 0; i < 5 && *text; i++) {
    size_t length = strnlen(text, sizeof op->extra_text[i]);
    memcpy(op->extra_text[i], text, length);
    text += length;
  }
}

int ENTRY(mqs_next_operation)(mqs_process *process, mqs_pending_operation *op) {
  ON_PROCESS("mqs_next_operation");
  CHECK(p->class >= 0, "mqs_next_operation is called without an iterator");
  if (p->class < 0) return leave(err_use);
  if (p->line < p->lines) {
    line_of_account(p, op);
    return leave(mqs_ok);
  }
  if (!p->next) return leave(mqs_end_of_list);
  return leave(read_operation(p, op));
}

#if COMPATIBILITY >= 3
#include "reference_job.h"
#endif
