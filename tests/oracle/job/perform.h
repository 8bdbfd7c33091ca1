/* perform: what one rank does of a plan. */
#ifndef PERFORM_H
#define PERFORM_H

#include "expect.h"
#include "family.h"
#include "plan.h"

/* Whether the name that the MPI library gives of itself has a word in it. */
bool perform_library_has(const char *word);

/* Makes the datatypes and attaches the buffer, once. */
void perform_begin(void);

/* Makes the communicators, posts all, waits until all is as planned, and notes what the
 * call at the end will leave. */
void perform(const struct plan *plan);

/* Is in the call at the end, if there is one, until it is released. */
void perform_block(const struct plan *plan);

/* Releases others, and completes or cancels all that is open. */
void perform_tidy(const struct plan *plan);

/* Waits for a request, cancelled or not, and frees it. */
void perform_finish(MPI_Request *request, bool cancel);

/* What the call at the end leaves of itself before it is made: on one communicator of the first threads,
 * on the other of the second ones. */
void end_prepare(const struct plan *plan, struct expect_comm *control, struct expect_comm *aside);

/* What the call leaves once it has been made. */
void end_note(const struct plan *plan);

/* Releases those that this rank is to release. */
void end_release(const struct plan *plan);

/* Makes a communicator of its parent, as all members of that do; of is the parent's plan. */
MPI_Comm make_communicator(MPI_Comm parent, const struct plan_comm *of, const struct plan_comm *c);

/* Partitioned operations, which are none where the MPI has none. The first posts and notes what this rank has of an item;
 * the second makes a request of one side of it; the third says that partitions FROM..TO - 1 of a send are ready; the last notes
 * that a receive has matched a send that was made and has not been started. */
void partitioned_post(struct expect_comm *c, const struct plan_comm *pc, const struct plan_item *t, MPI_Datatype type, struct expect_comm *control,
                      struct expect_op **sent, struct expect_op **received);
void partitioned_init(const struct plan_comm *pc, const struct plan_item *t, bool sends, void *buffer, MPI_Datatype type, MPI_Comm comm, MPI_Request *r);
void partitioned_ready(int from, int to, MPI_Request r);
void partitioned_match(const struct plan_comm *pc, const struct plan_item *t, struct expect_comm *control, struct expect_op *received);

#endif
