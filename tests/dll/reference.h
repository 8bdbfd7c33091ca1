/*
 * The reference DLL's inside: it decodes toy processes (toy.h), and checks on
 * the way what the debugger does.
 *
 *   reference.c         the entry points, and the order that they are called in
 *   reference_walk.c    the toy's memory
 *   reference_checks.c  what the call-backs give
 *   reference_log.c     the account of it all
 *
 * A DLL may be barred from writing files, so the account leaves the way that
 * queues do: behind the toy's communicators stands one more, "calls". Its sends
 * are the entry points that were called, in order, and its receives the checks
 * that failed: none, if all is well. Failed checks go to dprints too.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#define _GNU_SOURCE

#include "mqs.h"
#include "toy.h"

#include <stdbool.h>

/* 3 adds process creation. */
#ifndef COMPATIBILITY
#define COMPATIBILITY 2
#endif

/* Errors of this DLL's own. */
enum {
  err_missing = 101,
  err_no_toy = 102,
  err_memory = 103,
  err_use = 104,
  err_low = 42,    /* below the codes that the interface leaves to DLLs */
  err_negative = -7,
  err_queue = 105, /* a toy's queue may answer with it: see toy_content.h */
};

/* reference_log.c */
void log_entry(const char *format, ...) __attribute__((format(printf, 1, 2)));
void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define CHECK(condition, ...) ((condition) ? (void)0 : fail(__VA_ARGS__))
/* enter stands at the start of each entry point: nobody may be in one already. */
void enter(void);
int leave(int result);
int log_lines(void), failed_checks(void);
const char *log_line(int i), *failed_check(int i);

/* Where a member stands, as the debugger says. */
struct place {
  int offset, size;
};

struct layout {
  int state_size, comm_size, operation_size;
  struct place magic, world_rank, world_size, sequence, comms;
  struct place next, unique_id, rank, size, name, group, group_answer, group_written, answers, queues;
  struct place o_next, status, desired_local_rank, desired_global_rank, tag_wild, desired_tag, desired_length,
      system_buffer, buffer, actual_local_rank, actual_global_rank, actual_tag, actual_length, lines, text;
};

/* What the debugger keeps for this DLL. */
struct _mqs_image_info {
  mqs_image *image;
  int number;
  const mqs_image_callbacks *calls;
  int asked;          /* how often mqs_image_has_queues has been called */
  bool has_queues;
  int processes;      /* that are set up and not destroyed */
  mqs_taddr_t state;  /* of toy_state, 0 if it isn't there */
  struct layout layout;
};

struct comm {
  mqs_communicator shown;
  mqs_taddr_t group;
  int group_answer, group_written;
  int answers[TOY_QUEUES];
  mqs_taddr_t queues[TOY_QUEUES];
};

struct _mqs_process_info {
  mqs_process *process;
  int number;
  mqs_image_info *image;
  const mqs_process_callbacks *calls;
  int asked;
  bool has_queues;
  bool updated;       /* since the last iteration */
  struct comm *comms; /* of the last update */
  int count;
  int at;             /* the communicator iterator: -1 before it is set up, count is "calls" */
  bool got;           /* mqs_get_communicator has been called here */
  int class;          /* the operation iterator: -1 before it is set up */
  mqs_taddr_t next;
  int line, lines;    /* the same for "calls", whose log may not grow while it is read */
  int new_processes;  /* of version 3: that the iterator has left, -1 before it is set up */
};

struct _mqs_job_info {
  mqs_job *job;
  const mqs_job_callbacks *calls;
};

extern const mqs_basic_callbacks *basic;

/* reference_walk.c */
bool find_layout(mqs_image_info *);
int read_state(mqs_process_info *);
int read_comms(mqs_process_info *);
int read_group(mqs_process_info *, const struct comm *, int *ranks);
int read_operation(mqs_process_info *, mqs_pending_operation *);
/* Whether a toy keeps its sends, which one that asks for a debugger does for that only. */
bool keeps_sends(mqs_process_info *);

/* reference_checks.c */
void check_basic(void);
void check_image(mqs_image_info *);
void check_process(mqs_process_info *);
void check_memory(mqs_process_info *);
void check_job(mqs_job_info *, mqs_process *);

#endif
