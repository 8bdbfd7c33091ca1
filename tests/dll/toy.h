/*
 * A toy MPI: what its processes keep in memory, and what its queue DLL decodes.
 *
 * The DLL has this file too, but takes offsets and sizes from the debugger and
 * holds those against it.
 */
#ifndef TOY_H
#define TOY_H

/* The types of the process. A DLL of 64 bits that reads a process of 32 is compiled with TOY_NARROW. */
#ifdef TOY_NARROW
typedef int toy_long;
typedef unsigned toy_address;
#define TOY_POINTER(type) toy_address
#else
typedef long toy_long;
typedef unsigned long toy_address;
#define TOY_POINTER(type) type *
#endif

enum { TOY_MAGIC = 0x70791234, TOY_NAME = 64, TOY_LINES = 5, TOY_QUEUES = 3 };

typedef struct toy_operation {
  TOY_POINTER(struct toy_operation) next;
  int status;
  toy_long desired_local_rank, desired_global_rank;
  int tag_wild;
  toy_long desired_tag, desired_length;
  int system_buffer;
  toy_address buffer;
  toy_long actual_local_rank, actual_global_rank, actual_tag, actual_length;
  int lines; /* of text that the DLL hands on */
  char text[TOY_LINES][TOY_NAME];
} toy_operation_t;

typedef struct toy_comm {
  TOY_POINTER(struct toy_comm) next;
  toy_address unique_id;
  toy_long rank, size;
  char name[TOY_NAME];
  TOY_POINTER(int) group;            /* world ranks */
  int group_answer;                  /* what mqs_get_comm_group returns */
  int group_written;                 /* how many entries it writes, of size */
  int answers[TOY_QUEUES];           /* what mqs_setup_operation_iterator returns */
  TOY_POINTER(toy_operation_t) queues[TOY_QUEUES];
} toy_comm_t;

/* Its one object, toy_state, is what a toy MPI is recognised by. */
typedef struct toy_state {
  int magic;
  int world_rank, world_size;
  toy_long sequence; /* counts the changes of the list */
  TOY_POINTER(toy_comm_t) comms;
} toy_state_t;

#endif
