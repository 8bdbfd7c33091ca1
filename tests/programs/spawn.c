/*
 * spawn: operations between two worlds, for 1 or 2 ranks, which spawn 2 more.
 *
 *   mpirun -n 2 spawn OUTDIR [COMMAND...]
 *
 * COMMAND, if any, starts the children: this program and OUTDIR are its last
 * arguments.
 *
 * "to the others" is the intercommunicator from MPI_Comm_spawn, "family" the
 * merged one, parents first; on both, receives and synchronous and large sends
 * across. The other world's ranks have no global rank here (null). The parents
 * write rank-N.json and ready-N, the children child-N.json and ready-child-N.
 *
 * Open MPI 5 has only TCP between the two worlds on one machine, and doesn't
 * find itself on every network card, though always on the loopback:
 * options: --mca btl_tcp_if_include 127.0.0.0/8
 */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

enum { CHILDREN = 2 };

/* Exchanges with each rank of the other world, which has ranks from..to - 1. */
static void exchange(struct expect_comm *c, int base, int from, int to) {
  for (int peer = from; peer < to; peer++) {
    int tag = base + 10 * c->rank, its = base + 10 * peer;
    expect_post(c, "irecv", 3, MPI_INT, peer, base + 100);
    expect_post(c, "issend", 4, MPI_INT, peer, tag);
    struct expect_op *large = expect_post(c, "isend", 200000, MPI_DOUBLE, peer, tag + 1);
#ifdef MPICH_VERSION
    /* Between two worlds it leaves everything to its network library, which may
     * take in what nobody has received. */
    large->state = EXPECT_LEFT;
#else
    (void)large;
#endif
    expect_unexpected(c, peer, its, 4 * (long)sizeof(int));
    expect_unexpected(c, peer, its + 1, 200000 * (long)sizeof(double));
  }
  expect_post(c, "irecv", 5, MPI_INT, MPI_ANY_SOURCE, base + 101);
}

/* Ranks from..to - 1 of a group are of the other world. MPICH's ch4 takes them
 * for ranks of this one when it is asked. */
static struct expect_comm *mark(struct expect_comm *c, int *group, int from, int to) {
  for (int i = from; i < to; i++) group[i] = MPI_UNDEFINED;
  return c;
}

int main(int argc, char **argv) {
  MPI_Comm others, family;
  int rank, parents;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&others);
  bool child = others != MPI_COMM_NULL;
  if (argc < 2 || argc > 10) expect_die("usage: spawn OUTDIR [COMMAND...]");
  expect_begin(argv[1], child ? "child" : "rank");
  if (!child) {
    char *command[12] = {NULL};
    memcpy(command, argv + 2, (size_t)(argc - 2) * sizeof *command);
    memcpy(command + argc - 2, argv, 2 * sizeof *command);
    MPI_Comm_spawn(command[0], command + 1, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others,
                   MPI_ERRCODES_IGNORE);
  }
  MPI_Intercomm_merge(others, child, &family);
  MPI_Comm_size(family, &parents);
  parents -= CHILDREN;
  expect_also(child ? "rank" : "child", child ? parents : CHILDREN);

  struct expect_comm *world = expect_communicator(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect_post(world, "irecv", 1, MPI_INT, rank, 1);
  struct expect_comm *c = expect_communicator(others, "to the others");
  exchange(mark(c, c->remote_group, 0, c->remote_size), 1000, 0, c->remote_size);
  int from = child ? 0 : parents, to = child ? parents : parents + CHILDREN;
  c = expect_communicator(family, "family");
  exchange(mark(c, c->group, from, to), 2000, from, to);
  expect_settle(family);
  expect_write();
  expect_ready(true);
  expect_hold();
}
