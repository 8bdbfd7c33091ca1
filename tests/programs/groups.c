/*
 * groups: communicators of every making, for 4 or more ranks.
 *
 *   mpirun -n 4 groups OUTDIR
 *
 * MPI_COMM_WORLD renamed "my world"; sub-communicators by group (evens, all
 * backwards), nested splits, duplicates of duplicates, an intercommunicator, its
 * duplicate and its merger, communicators of one rank, with a distributed graph,
 * of one node; names of 63 bytes, in UTF-8, with quotes, empty, and the
 * library's own ("name" absent). Each has one pending receive from its last
 * rank, with a tag and a count of its own, so that no two look alike.
 * Communicators named "gone" were freed in between and must not show.
 */
#include "expect.h"

#include <stdlib.h>

static int tag = 1;

static MPI_Comm list(MPI_Comm comm, const char *name) {
  if (comm != MPI_COMM_NULL) {
    struct expect_comm *c = expect_communicator(comm, name);
    int last = (c->remote_size >= 0 ? c->remote_size : c->size) - 1;
    expect_post(c, "irecv", tag, MPI_INT, last, tag);
  }
  tag++;
  return comm;
}

static MPI_Comm dup(MPI_Comm comm) {
  MPI_Comm made;
  MPI_Comm_dup(comm, &made);
  return made;
}

static MPI_Comm split(MPI_Comm comm, int color, int key) {
  MPI_Comm made;
  MPI_Comm_split(comm, color, key, &made);
  return made;
}

/* Made, named, and freed: it leaves a gap in the library's table. */
static void come_and_go(void) {
  MPI_Comm gone = dup(MPI_COMM_WORLD);
  MPI_Comm_set_name(gone, "gone");
  MPI_Barrier(gone);
  MPI_Comm_free(&gone);
}

static MPI_Comm from_group(int first, int last, int stride) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group world, some;
  int rank;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, (int[][3]){{first, last, stride}}, &some);
  MPI_Group_rank(some, &rank);
  if (rank != MPI_UNDEFINED) MPI_Comm_create_group(MPI_COMM_WORLD, some, tag, &made);
  MPI_Group_free(&some);
  MPI_Group_free(&world);
  return made;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) expect_die("usage: groups OUTDIR");
  expect_begin(argv[1], "rank");
  int rank = expect_self.world_rank, size = expect_self.world_size;
  if (size < 4) expect_die("groups is for 4 or more ranks");
  MPI_Comm comm, half, inter;

  list(MPI_COMM_WORLD, "my world");
  come_and_go();
  list(from_group(0, size - 1, 2), "evens");
  list(from_group(size - 1, 0, -1), "backwards");
  list(from_group(size - 1, 1, -2), "odds from the back");
  come_and_go();

  half = list(split(MPI_COMM_WORLD, rank < size / 2, 0), "half");
  comm = list(split(half, 0, -rank), "half, reversed");
  list(split(comm, rank == 0 ? MPI_UNDEFINED : 1, rank), "all but world rank 0");
  list(split(comm, rank, 0), "alone");
  list(dup(MPI_COMM_SELF), "self again");

  comm = dup(MPI_COMM_WORLD); /* freed when copied */
  list(dup(list(dup(comm), NULL)), "dup of dup of dup");
  MPI_Comm_free(&comm);
  list(dup(half), NULL);

  /* Halves face each other; local rank 0 leads, and they count from different ends. */
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < size / 2 ? size / 2 : 0, tag, &inter);
  list(inter, "facing halves");
  list(dup(inter), "facing halves, again");
  MPI_Intercomm_merge(inter, rank < size / 2, &comm);
  list(comm, "merged, upper half first");
  come_and_go();

  list(dup(MPI_COMM_WORLD), "a name of sixty-three bytes, which is all that MPI allows: 63..");
  list(dup(MPI_COMM_WORLD), "Möbius–Gruppe 海洋 🌊");
  list(dup(MPI_COMM_WORLD), "\"quotes\", back\\slash, <tag> & {braces} %s");
  list(dup(MPI_COMM_WORLD), "");
  list(dup(MPI_COMM_WORLD), "twin");
  list(dup(MPI_COMM_WORLD), "twin");

  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, (int[]){(rank + 1) % size}, (int[]){1}, 1,
                                 (int[]){(rank + size - 1) % size}, (int[]){1}, MPI_INFO_NULL,
                                 0, &comm);
  list(comm, "graph");
  MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){0, 0}, 0, &comm);
  list(comm, "2 by 2");
  if (comm != MPI_COMM_NULL) MPI_Cart_sub(comm, (int[]){0, 1}, &comm);
  list(comm, "row");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  list(comm, "node");
  list(MPI_COMM_SELF, "MPI_COMM_SELF");
  expect_finish();
}
