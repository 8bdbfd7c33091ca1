/*
 * queues: every kind of pending send, pending receive and unexpected message,
 * on six communicators, for 3 ranks.
 *
 *   mpirun -n 3 queues OUTDIR
 *
 * MPI_COMM_WORLD, "ocean model" (a duplicate), "reversed" (a split with the
 * ranks turned round), "bridge" (an intercommunicator, world rank 0 against 1
 * and 2, its local sides "shore"), "grid" (Cartesian, a ring): all with the
 * whole series of sends, tag 1000 * communicator + 0 to 8, and receives that
 * nothing matches. "wild": receives of every wildness mixed, and no message.
 * MPI_COMM_SELF: one of each. Operations with MPI_PROC_NULL leave nothing.
 *
 * The ranks send in turn, and a turn ends when its messages have been seen, so
 * that the order of the unexpected messages is known across senders too.
 */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

enum audience { EVERYONE, NEXT };

static MPI_Datatype column, particle;

static void make_types(void) {
  /* 40 blocks of 16 floats: 2560 bytes of data, with gaps. */
  MPI_Type_vector(40, 16, 50, MPI_FLOAT, &column);
  MPI_Type_commit(&column);
  /* 36 bytes of data in 40; a name of 63 characters, the most there is. */
  struct layout { double mass, position[3]; int charge; };
  MPI_Datatype bare;
  MPI_Type_create_struct(3, (int[]){1, 3, 1}, (MPI_Aint[]){0, 8, 32},
                         (MPI_Datatype[]){MPI_DOUBLE, MPI_DOUBLE, MPI_INT}, &bare);
  MPI_Type_create_resized(bare, 0, sizeof(struct layout), &particle);
  MPI_Type_set_name(particle,
                    "particle with a mass, a position and a charge, name 63 chars ..");
  MPI_Type_commit(&particle);
  MPI_Type_free(&bare);
}

/* The series, by tag less base; each count says who sent it. */
static const struct message {
  const char *kind;
  int count;
  enum expect_state state;
} series[] = {
    {"isend", 4, EXPECT_LEFT},          /* MPI_INT, 16 bytes and more */
    {"isend", 131072, EXPECT_PENDING},  /* MPI_DOUBLE, 1 MiB: rendezvous */
    {"isend", 2000, EXPECT_LEFT},       /* MPI_BYTE: eager, more than inline */
    {"issend", 3, EXPECT_PENDING},      /* MPI_LONG */
    {"ibsend", 8, EXPECT_LEFT},         /* MPI_SHORT */
    {"ibsend", 65536, EXPECT_COMPLETE}, /* MPI_CHAR: in the attached buffer */
    {"isend", 60, EXPECT_PENDING},      /* column, 150 KiB, not contiguous */
    {"issend", 2, EXPECT_PENDING},      /* particle */
    {"isend", 0, EXPECT_LEFT},          /* MPI_INT, nothing */
};
enum { SERIES = sizeof series / sizeof *series, BUFFERED_LARGE = 5, WITH_GAPS = 6 };

/* UCX's new protocols, up to 1.15, know no rendezvous for what is not contiguous. */
static enum expect_state state_of(int i) {
  const char *new_protocols = getenv("UCX_PROTO_ENABLE");
  return i == WITH_GAPS && new_protocols && *new_protocols == 'y' ? EXPECT_LEFT : series[i].state;
}

static MPI_Datatype type_of(int i) {
  const MPI_Datatype types[SERIES] = {MPI_INT,   MPI_DOUBLE, MPI_BYTE, MPI_LONG, MPI_SHORT,
                                      MPI_CHAR, column,     particle, MPI_INT};
  return types[i];
}

static int count_of(int i, int world_sender) {
  return series[i].count + (series[i].count ? world_sender : 0);
}

static int peers(const struct expect_comm *c) {
  return c->remote_size >= 0 ? c->remote_size : c->size;
}

static int peer_in_world(const struct expect_comm *c, int peer) {
  return c->remote_size >= 0 ? c->remote_group[peer] : c->group[peer];
}

static bool talks(const struct expect_comm *c, enum audience audience, int from, int to) {
  if (c->remote_size >= 0) return true;
  return audience == NEXT ? to == (from + 1) % c->size : to != from;
}

/* Sends the series, or notes the one that the rank whose turn it is sends. */
static void turn(struct expect_comm *c, int base, enum audience audience, int sender) {
  for (int peer = 0; peer < peers(c); peer++)
    for (int i = 0; i < SERIES; i++) {
      if (sender == expect_self.world_rank && talks(c, audience, c->rank, peer)) {
        struct expect_op *op = expect_post(c, series[i].kind, count_of(i, sender), type_of(i),
                                           peer, base + i);
        op->state = state_of(i);
        /* Complete for the sender, while the copy waits in the attached buffer;
         * whether its address or the user's shows is not compared. */
        if (i == BUFFERED_LARGE) {
          op->system_buffer = 1;
          op->buffer = NULL;
        }
      }
      if (peer_in_world(c, peer) == sender && sender != expect_self.world_rank &&
          talks(c, audience, peer, c->rank)) {
        int size;
        MPI_Type_size(type_of(i), &size);
        expect_unexpected(c, peer, base + i, (long)size * count_of(i, sender));
      }
    }
}

/* Receives whose tags nobody sends; silent is a peer that sends nothing. */
static void receive(struct expect_comm *c, int base, int silent) {
  int last = peers(c) - 1;
  expect_post(c, "irecv", 4, MPI_INT, 0, base + 500);
  expect_post(c, "irecv", 10, MPI_DOUBLE, MPI_ANY_SOURCE, base + 501);
  expect_post(c, "irecv", 3, column, last, base + 502);
  expect_post(c, "irecv", 0, MPI_BYTE, 0, base + 503);
  expect_post(c, "irecv", 0, MPI_INT, MPI_ANY_SOURCE, base + 504);
  expect_post(c, "irecv", 7, particle, last, base + 500);
  if (silent >= 0) expect_post(c, "irecv", 100, MPI_CHAR, silent, MPI_ANY_TAG);
  expect_post(c, "irecv", 5, MPI_FLOAT, MPI_ANY_SOURCE, base + 500);
  expect_post(c, "irecv", 6, MPI_INT, 0, base + 500);
  expect_post(c, "irecv", 262144, MPI_DOUBLE, last, base + 505);
}

/* Receives of every wildness in turn; no message comes to this communicator. */
static void be_wild(struct expect_comm *c) {
  int next = (c->rank + 1) % c->size, previous = (c->rank + c->size - 1) % c->size;
  const struct { int count, peer, tag; } mix[] = {
      {1, previous, 1},        {2, MPI_ANY_SOURCE, 1},           {3, previous, 1},
      {4, MPI_ANY_SOURCE, -1}, {5, next, -1},                    {6, MPI_ANY_SOURCE, 2},
      {7, next, 2},            {8, c->rank, 3},                  {0, MPI_ANY_SOURCE, -1},
      {9, previous, -1},       {10, MPI_ANY_SOURCE, 1},          {11, next, 32767},
      {12, previous, 0},       {0, next, 0},                     {13, MPI_ANY_SOURCE, 0},
  };
  for (size_t i = 0; i < sizeof mix / sizeof *mix; i++)
    expect_post(c, "irecv", mix[i].count, i % 2 ? MPI_DOUBLE : MPI_INT, mix[i].peer,
                mix[i].tag < 0 ? MPI_ANY_TAG : mix[i].tag);
}

static void use_proc_null(MPI_Comm comm) {
  static MPI_Request requests[3]; /* never collected, and yet nothing to show */
  static int nothing;
  MPI_Isend(&nothing, 1, MPI_INT, MPI_PROC_NULL, 77, comm, &requests[0]);
  MPI_Issend(&nothing, 1, MPI_INT, MPI_PROC_NULL, 77, comm, &requests[1]);
  MPI_Irecv(&nothing, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, comm, &requests[2]);
}

static void talk_to_self(struct expect_comm *c) {
  expect_post(c, "issend", 5, MPI_INT, 0, 1);
  expect_unexpected(c, 0, 1, 20);
  expect_post(c, "irecv", 6, MPI_INT, 0, 2);
  expect_post(c, "irecv", 7, MPI_INT, MPI_ANY_SOURCE, 3);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) expect_die("usage: queues OUTDIR");
  expect_begin(argv[1], "rank");
  if (expect_self.world_size != 3) expect_die("queues is for 3 ranks");
  int rank = expect_self.world_rank;
  MPI_Comm duplicate, reversed, shore, bridge, grid, wild;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &shore);
  MPI_Intercomm_create(shore, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 9, &bridge);
  MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){3}, (int[]){1}, 1, &grid);
  MPI_Comm_dup(MPI_COMM_WORLD, &wild);

  struct expect_comm *all[] = {
      expect_communicator(MPI_COMM_WORLD, "MPI_COMM_WORLD"),
      expect_communicator(duplicate, "ocean model"),
      expect_communicator(reversed, "reversed"),
      expect_communicator(bridge, "bridge"),
      expect_communicator(grid, "grid"),
  };
  const enum audience audiences[] = {EVERYONE, EVERYONE, EVERYONE, EVERYONE, NEXT};
  enum { ALL = sizeof all / sizeof *all };
  make_types();
  MPI_Buffer_attach(malloc(8 << 20), 8 << 20);

  for (int sender = 0; sender < 3; sender++) {
    for (int i = 0; i < ALL; i++) {
      if (sender == rank) {
        /* Receives stand among the sends' turns: before, between and after. */
        int self = all[i]->rank, next = (self + 1) % 3;
        receive(all[i], 1000 * i, all[i] == all[3] ? -1 : all[i] == all[4] ? next : self);
        use_proc_null(all[i]->comm);
      }
      turn(all[i], 1000 * i, audiences[i], sender);
    }
    expect_settle(MPI_COMM_WORLD);
  }
  be_wild(expect_communicator(wild, "wild"));
  talk_to_self(expect_communicator(MPI_COMM_SELF, "MPI_COMM_SELF"));
  expect_communicator(shore, "shore");
  expect_finish();
}
