/*
 * What a toy process holds, of every kind that the interface has and of every
 * sloppiness that vendors' DLLs have shown. What must be shown of it stands in
 * toy.json, which was written by hand from this.
 *
 * Included by toy.c alone.
 */
#ifndef TOY_CONTENT_H
#define TOY_CONTENT_H

#include "toy.h"

/* Texts that fill their 64 bytes are meant. */
#if __GNUC__ >= 15
#pragma GCC diagnostic ignored "-Wunterminated-string-initialization"
#endif

/* Results of the interface, for the answers. 105 is an error of the DLL's own. */
enum { OK = 0, NO_INFORMATION = 1, END_OF_LIST = 2, ERROR = 105 };
enum { SENDS, RECEIVES, UNEXPECTED };
enum { PENDING, MATCHED, COMPLETE };

/* What stands in fields that mean nothing: nobody may be shown it. */
#define JUNK 0x5a5a5a5aL

/* A 32-bit -1 in a 64-bit field, as Open MPI's DLL leaves it. */
#define NARROW_ANY 4294967295L

static toy_operation_t world_sends[] = {
    {.next = &world_sends[1], .status = PENDING, .desired_local_rank = 2, .desired_global_rank = 2,
     .desired_tag = 7, .desired_length = 8, .buffer = 0x7f0000001000,
     .actual_local_rank = 2, .actual_global_rank = 2, .actual_tag = 7, .actual_length = 8},
    {.next = &world_sends[2], .status = MATCHED, .desired_local_rank = 0, .desired_global_rank = 0,
     .desired_tag = -5, .desired_length = 1L << 33, .system_buffer = 1, .buffer = 0xfffffffffffffff0,
     .actual_local_rank = 0, .actual_global_rank = 0, .actual_tag = -5, .actual_length = 12345678901,
     .lines = 1, .text = {"posted by toy_isend"}},
    {.status = COMPLETE, .desired_local_rank = 3, .desired_global_rank = 3,
     .desired_tag = 0, .desired_length = 0, .buffer = 0,
     .actual_local_rank = 3, .actual_global_rank = 3, .actual_tag = 0, .actual_length = 0,
     .lines = 5, .text = {"five lines, of which this one fills its 64 bytes up to the end..",
                          "second", "third", "fourth",
                          "and so does the last, behind which there is no byte of its own.."}},
};

static toy_operation_t world_receives[] = {
    /* From anyone, with any tag. */
    {.next = &world_receives[1], .status = PENDING, .desired_local_rank = NARROW_ANY, .desired_global_rank = NARROW_ANY,
     .tag_wild = 1, .desired_tag = JUNK, .desired_length = 4096, .buffer = 0x7f0000002000,
     .actual_local_rank = JUNK, .actual_global_rank = JUNK, .actual_tag = JUNK, .actual_length = JUNK},
    {.next = &world_receives[2], .status = PENDING, .desired_local_rank = -1, .desired_global_rank = -1,
     .desired_tag = 0x17fffffff, .desired_length = 1, .buffer = 0x7f0000003000,
     .actual_local_rank = JUNK, .actual_global_rank = JUNK, .actual_tag = JUNK, .actual_length = JUNK},
    {.next = &world_receives[3], .status = MATCHED, .desired_local_rank = 2, .desired_global_rank = 2,
     .desired_tag = 4, .desired_length = 400, .buffer = 0x7f0000004000,
     .actual_local_rank = 2, .actual_global_rank = 2, .actual_tag = 4, .actual_length = 100},
    {.next = &world_receives[4], .status = COMPLETE, .desired_local_rank = -1, .desired_global_rank = -1,
     .tag_wild = 1, .desired_tag = JUNK, .desired_length = 64, .system_buffer = 1, .buffer = 0x7f0000005000,
     .actual_local_rank = 3, .actual_global_rank = 3, .actual_tag = 2147483647, .actual_length = 64},
    /* A text that no terminal may be given as it is, and no printf. */
    {.status = PENDING, .desired_local_rank = 0, .desired_global_rank = 0,
     .desired_tag = 11, .desired_length = 16, .buffer = 0x7f0000006000,
     .lines = 1, .text = {"100%s of %n \033[31mred\033[0m \xff\xfe"}},
};

static toy_operation_t world_unexpected[] = {
    {.next = &world_unexpected[1], .status = PENDING, .desired_local_rank = 0, .desired_global_rank = 0,
     .desired_tag = 1, .desired_length = 64, .system_buffer = 1, .buffer = 0x7f0000007000,
     .actual_local_rank = 0, .actual_global_rank = 0, .actual_tag = 1, .actual_length = 64},
    {.status = COMPLETE, .desired_local_rank = 3, .desired_global_rank = 3,
     .desired_tag = 2, .desired_length = 32, .system_buffer = 1, .buffer = 0x7f0000008000,
     .actual_local_rank = 3, .actual_global_rank = 3, .actual_tag = 2, .actual_length = 32,
     .lines = 2, .text = {"first", "second"}},
};

/* A list whose second element is no address: the DLL has an error for it. */
static toy_operation_t broken[] = {
    {.next = (toy_operation_t *)0x10, .status = PENDING, .desired_local_rank = 1, .desired_global_rank = 1,
     .desired_tag = 3, .desired_length = 5, .buffer = 0x7f0000009000,
     .actual_local_rank = 1, .actual_global_rank = 1, .actual_tag = 3, .actual_length = 5},
};

static int everyone[] = {0, 1, 2, 3}, alone[] = {1}, holes[] = {0, -1};

static toy_comm_t comms[] = {
    {.next = &comms[1], .unique_id = 0x1001, .rank = 1, .size = 4, .name = "toy world",
     .group = everyone, .group_written = 4, .queues = {world_sends, world_receives, world_unexpected}},
    {.next = &comms[2], .unique_id = 0xffffffffffffffff, .rank = 0, .size = 1,
     .name = "this communicator has a name of exactly sixty-four bytes, no end",
     .group = alone, .group_written = 1, .answers = {END_OF_LIST, OK, NO_INFORMATION}},
    {.next = &comms[3], .unique_id = 0x1003, .rank = -32766, .size = 2, .name = "no group",
     .group_answer = NO_INFORMATION},
    {.next = &comms[4], .unique_id = 0x1004, .rank = 0, .size = 1, .name = "",
     .group = alone, .group_written = 1},
    {.next = &comms[5], .unique_id = 0x1005, .rank = 0, .size = 4, .name = "holes",
     .group = holes, .group_written = 2},
    {.next = &comms[6], .unique_id = 0x1006, .rank = 0, .size = (1L << 24) + 1, .name = "too large",
     .group = everyone, .group_written = 4},
    {.next = &comms[7], .unique_id = 0x1007, .rank = 0, .size = -5, .name = "negative",
     .group = everyone, .group_written = 4},
    {.unique_id = 0x1008, .rank = 0, .size = 4, .name = "troubled",
     .group = everyone, .group_written = 4, .answers = {OK, NO_INFORMATION, ERROR}, .queues = {broken}},
};
enum { NO_GROUP = 2, TROUBLED = sizeof comms / sizeof *comms - 1 };

/* What changes bring. */
static toy_operation_t new_receive = {
    .status = PENDING, .desired_local_rank = 3, .desired_global_rank = 3,
    .desired_tag = 77, .desired_length = 7, .buffer = 0x7f000000a000};
static toy_comm_t new_comm = {
    .unique_id = 0x1009, .rank = 1, .size = 4, .name = "a newcomer",
    .group = everyone, .group_written = 4};

#endif
