/*
 * toy_narrow: a process of the toy MPI (toy.h) of 32 bits, with one communicator on which one receive is pending. It is linked
 * without a C library, since there may be none of 32 bits. It ends when its standard input does.
 */
#include "toy.h"

static int everyone[] = {0, 1};
static toy_operation_t receive = {.desired_local_rank = 1, .desired_global_rank = 1, .desired_tag = 4711, .desired_length = 64,
                                  .buffer = 0xf0001000};
static toy_comm_t comm = {.unique_id = 0x81002000, .rank = 0, .size = 2, .name = "narrow world", .group = everyone, .group_written = 2,
                          .queues = {0, &receive, 0}};

toy_state_t toy_state = {.magic = TOY_MAGIC, .world_size = 2, .comms = &comm};

void toy_changed(void) { __asm__ volatile(""); }

void _start(void) {
  char c;
  for (int n = 1; n > 0;) __asm__ volatile("int $0x80" : "=a"(n) : "a"(3), "b"(0), "c"(&c), "d"(1) : "memory"); /* read */
  __asm__ volatile("int $0x80" ::"a"(1), "b"(0));                                                              /* exit */
}
