/*
 * rogue: the reference DLL with one fault in one place. rogue_fault.c says which, and is compiled with
 *
 *   -DFAULT='"crash"' -DWHERE='"mqs_setup_image"' [-DANSWER=n]
 *
 * WHERE is an entry point, or "dlopen". Before the entry point does its work:
 *
 *   crash, abort, divide, recurse   it dies of a signal
 *   spin, sleep                     it never comes back
 *   exit, _exit                     it ends the process, with 0 and with 3
 *   print                           it writes 1 MiB to stdout and to stderr each
 *   close                           it closes all file descriptors but the first three
 *   null, foreign                   it calls all call-backs with NULL, and with what are no handles
 *   thread                          it calls call-backs from a second thread, and waits for that
 *   late                            a second thread calls call-backs when it is back already
 *   leak                            it forgets 1000 blocks of 100 bytes
 *   overrun_block                   it writes twice as much into a block as the block is long
 *   free_twice, free_wild           it frees a block twice, and what is no block
 *   malloc_huge                     it asks for more memory than there is
 *   fetch_huge, fetch_wild          it fetches 2 GiB, and to where nothing is
 *   escape                          it tries what a confined process may not: see rogue_faults.c
 *   orphan                          it starts a process that never ends
 *   outlive                         it does what it can to stay when the helper is killed, and never returns
 *
 * In its stead or behind it:
 *
 *   answer                          it returns ANSWER
 *   garbage, unterminated, nothing  its strings are no addresses, without an end, NULL
 *   empty                           its strings are empty
 *   endless                         its list never ends
 *   counts                          its numbers are those of ANSWER
 *   overrun                         it writes 64 bytes more than it should
 *
 * What it finds out goes into the account of the reference DLL, as a line
 * "try socket: Operation not permitted" or the like. A function is missing
 * where the reference DLL is compiled with -Dmqs_the_function=left_out.
 */
#ifndef ROGUE_H
#define ROGUE_H

#include "reference.h"

#include <string.h>

/* rogue_fault.c */
extern const char fault_kind[], fault_entry[];
extern const long fault_answer;

/* Tells whether this is the fault, here. */
#define FAULTY(fault, entry) (!strcmp(fault_kind, fault) && !strcmp(fault_entry, entry))

/* rogue_faults.c; objects are NULL where the entry point has none. */
void strike(const char *fault, mqs_image *, mqs_process *);
char *garbage(void), *unterminated(void);

/* What the faults need of the debugger, as far as it has been given. */
extern const mqs_image_callbacks *image_calls;
extern const mqs_process_callbacks *process_calls;

#endif
