/*
 * expect: a test program's own account of the queues it made.
 *
 * A program posts its operations through this helper, which does the MPI call
 * and notes what a debugger ought to show for it. expect_finish then waits for
 * the described state, writes it to OUTDIR/rank-N.json (child-N.json in a
 * spawned world) with the keys of `mpi-queues --json`, makes OUTDIR/ready-N
 * (ready-child-N) when every rank has done so, and stays out of MPI until
 * OUTDIR/stop exists.
 *
 * Keys that are absent from an operation are not to be compared. Beyond the
 * product's keys: "optional" (an MPI may rightly not show it), "cancelled",
 * and on a communicator "freed" (MPI_Comm_free was called, operations remain).
 */
#ifndef EXPECT_H
#define EXPECT_H

#include <mpi.h>
#include <stdbool.h>

/* How far an operation has come when the program is ready. */
enum expect_state {
  EXPECT_PENDING,   /* unmatched, and the program has made sure of it */
  EXPECT_MATCHED,   /* matched; the data can't all have moved */
  EXPECT_COMPLETE,  /* complete in MPI's sense and not yet collected */
  EXPECT_LEFT       /* a send that the MPI may have let go of: optional */
};

/* One operation. A program may change the members before expect_settle. */
struct expect_op {
  struct expect_op *next;
  const char *kind;        /* "isend", "persistent_recv", ... */
  enum expect_state state;
  int peer, tag;           /* as posted, MPI_ANY_SOURCE and MPI_ANY_TAG too */
  void *buffer;            /* made by expect_post; NULL: not compared */
  void *memory;            /* what expect_post has allocated */
  int count;               /* -1: neither count nor datatype is compared */
  MPI_Datatype type;
  char type_name[MPI_MAX_OBJECT_NAME];
  int type_size;
  MPI_Request request;     /* MPI_REQUEST_NULL where there is none to ask */
  bool optional;
  bool cancelled;
  bool unprobed; /* a message that has the tag of one before it: known to be there */
  int system_buffer;       /* 1, 0, or -1: not compared */
  int actual_source, actual_tag;
  long actual_length;      /* bytes; -1 until known */
};

/* What a debugger shows of a communicator, in this order. */
enum expect_queue { SENDS, RECEIVES, UNEXPECTED, QUEUES };

/* One communicator, its queues in the order of posting or arrival. */
struct expect_comm {
  struct expect_comm *next;
  MPI_Comm comm;
  bool freed;
  char *name; /* NULL: not compared */
  int rank, size, remote_size; /* remote_size is -1 for an intracommunicator */
  int *group, *remote_group;   /* global ranks or MPI_UNDEFINED */
  struct expect_op *first[QUEUES], **last[QUEUES];
};

enum { MOST_CALLS = 2 };

/* This process. */
extern struct expect_self {
  const char *outdir, *prefix;
  MPI_Comm world; /* whose ranks are global */
  int world_rank, world_size;
  const char *other_prefix;
  int other_size;
  struct expect_comm *comms;
  struct expect_call {
    const char *name; /* "MPI_Recv" */
    const struct expect_comm *comm;
  } calls[MOST_CALLS]; /* what its threads are in once it is ready; name NULL: none */
  bool endless, hangs; /* some ranks, and this one, wait for what never comes */
} expect_self;

/* Forgets all communicators and operations, and frees the memory of their buffers. */
void expect_forget(void);

/* Starts the account of this process; call it right after MPI_Init. prefix is
 * "rank", or "child" in a spawned world. Exits after 1800 s whatever happens. */
void expect_begin(const char *outdir, const char *prefix);

/* The same for a program that has no MPI_COMM_WORLD, but a communicator of all processes. */
void expect_begin_in(MPI_Comm all, const char *outdir, const char *prefix);

/* Another world of count processes that must be ready too. */
void expect_also(const char *prefix, int count);

/* Lists a communicator; name is set on it, or NULL: the default, not compared. */
struct expect_comm *expect_communicator(MPI_Comm comm, const char *name);

/* Posts (for persistent_*: makes and starts) an operation with a buffer of its
 * own, and notes it, PENDING unless the program changes that. */
struct expect_op *expect_post(struct expect_comm *comm, const char *kind, int count,
                              MPI_Datatype type, int peer, int tag);

/* Makes the call of a kind; a persistent operation is not started. */
void expect_make(const char *kind, void *buffer, int count, MPI_Datatype type, int peer, int tag,
                 MPI_Comm comm, MPI_Request *request);

/* Notes an operation without posting it, in the queue of receives or sends. */
struct expect_op *expect_note(struct expect_comm *comm, const char *kind, int count,
                              MPI_Datatype type, int peer, int tag);

/* Notes a message that will come and find no receive. */
void expect_unexpected(struct expect_comm *comm, int source, int tag, long bytes);

/* A receive's message, once matched; a complete receive's is asked of MPI. */
void expect_actual(struct expect_op *op, int source, int tag, long bytes);

/* The communicator was freed: MPI is no longer asked about it. */
void expect_freed(struct expect_comm *comm);

/* Asks MPI, without collecting the request, whether op is complete. */
bool expect_complete(struct expect_op *op, enum expect_queue queue);

/* Whether op gets complete without the other rank's help, since messages of any length are taken before they are
 * received: over some providers of libfabric's, as the environment says. */
bool expect_taken(const struct expect_op *op, enum expect_queue queue);

/* Makes progress until all noted messages are there and all operations meant
 * to be complete are so, then meets the others in a barrier on comm. */
void expect_settle(MPI_Comm comm);

/* Checks every operation's state and writes the account. */
void expect_write(void);

/* Waits for all accounts (making progress for others' sake if asked to) and
 * says ready. From here on no MPI call is made. */
void expect_ready(bool progress);

/* Waits for OUTDIR/stop, then aborts the job, since operations are open. */
void expect_hold(void);

/* expect_settle, expect_write, expect_ready and expect_hold, for all processes. */
void expect_finish(void);

/* Files in OUTDIR, for what ranks must agree on outside MPI. */
void expect_touch(const char *name);
bool expect_exists(const char *name);
void expect_await(const char *name);

/* Ends the job with a message; printf's arguments. */
_Noreturn void expect_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
