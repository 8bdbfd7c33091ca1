/*
 * plan: what the ranks of a random job do, computed from a seed.
 *
 * All ranks compute the same plan. Its outcome follows from its making: a tag is used for
 * one item only, or for messages that stay unexpected and keep their order.
 */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>

enum { ENDLESS = 6, /* every so many seeds a plan has no end */ MOST_RANKS = 8, MOST_COMMS = 10, MOST_ITEMS = 64, NO_COMM = -1 };

/* How a communicator is made of its parent. */
enum making { WORLD, DUP, SPLIT, GROUP, CART, GRAPH, DIST_GRAPH, BETWEEN };

/* A communicator; its members are ranks of the family, in the order of its ranks. */
struct plan_comm {
  enum making making;
  int parent;
  int size, members[MOST_RANKS];
  int remote_size, remote[MOST_RANKS]; /* of an intercommunicator, the other side; else -1 */
  const char *name;                    /* NULL: the library's own */
  bool silent;                         /* no message travels on it, so any tag may be received */
  bool freed;                          /* once all has been posted */
};

enum act {
  UNEXPECTED_MESSAGE, /* sent, and no receive for it */
  UNMATCHED_RECEIVE,  /* received, and nothing sent */
  COMPLETE_PAIR,      /* both complete, neither collected */
  COLLECTED_PAIR,     /* both collected: nothing remains */
  CANCELLED_RECEIVE,
  FREED_REQUEST,      /* a receive after MPI_Request_free */
  IDLE_PERSISTENT,    /* never started: nothing to show */
  NO_PROCESS,         /* with MPI_PROC_NULL: nothing to show */
  HELD_MESSAGE,       /* taken by MPI_Improbe, and not received */
  TAKEN_MESSAGE,      /* received by MPI_Imrecv, not collected */
  PARTITIONED_SEND,   /* partitioned, and no receive for it */
  PARTITIONED_RECEIVE, /* the same, and no send */
  PARTITIONED_PAIR,   /* both; complete if all partitions are ready */
  ACTS
};

struct plan_item {
  enum act act;
  int comm, from, to; /* from and to are ranks of the family */
  int tag, type, count, spare; /* the receive is for count + spare elements */
  int pieces, landings, ready; /* of a partitioned item: partitions of its send and of its receive, and of those of the send that are ready */
  const char *send, *receive;  /* kinds, as expect_post knows them */
  bool any_source, any_tag;
  bool again;  /* its tag is that of the item before, between the same ranks */
  bool thread; /* a thread of its own posts it */
};

/* What a rank is in at the end. */
enum call {
  OUTSIDE,
  IN_RECV, IN_PROBE, IN_MPROBE, IN_SENDRECV, IN_SSEND, IN_SEND,
  IN_WAIT, IN_WAITALL, IN_WAITANY, IN_WAITSOME,
  IN_BARRIER, IN_ALLREDUCE, IN_ALLTOALL, /* no others behind these */
  CALLS
};

/* The end of a rank: by is the rank that releases it; of a call that waits for two requests
   it ends the one, and other ends the other one. hangs is true of one that nobody
   releases, since those that are to do so wait for it, or for others that do. */
struct plan_block {
  enum call call;
  int by, other;
  bool hangs;
  bool thread; /* a second thread is in MPI_Recv, and is released by the same rank */
};

struct plan {
  unsigned long seed;
  bool threads; /* the library allows them; who has made the plan may say so */
  bool endless; /* some ranks wait for each other, so it is the last of its job */
  int ranks, comms, items;
  struct plan_comm comm[MOST_COMMS];
  struct plan_item item[MOST_ITEMS];
  struct plan_block block[MOST_RANKS];
};

/* The bytes of data of each plan_item.type; perform.c makes the types. */
enum { TYPES = 12 };
extern const int plan_type_sizes[TYPES];

void plan_make(struct plan *plan, unsigned long seed, int ranks);

/* Keeps only some items, and the ends of ranks: item number plan->items + rank. */
void plan_keep(struct plan *plan, int count, char **numbers);

/* One line for each part that remains. */
void plan_print(const struct plan *plan);

bool plan_member(const struct plan_comm *comm, int rank);
/* A member's rank, on its side. */
int plan_rank_of(const struct plan_comm *comm, int rank);
bool plan_waits_for_two(enum call call);
/* Whether a communicator is made: one that an item or a child needs, or all. */
bool plan_needs(const struct plan *plan, int comm);

#endif
