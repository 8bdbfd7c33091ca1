/* The processes of a job; see family.h. */
#include "family.h"

#include <stdlib.h>

struct family family;

void family_begin(const char *outdir, int children, char **argv) {
  MPI_Comm parents, others;
  MPI_Comm_get_parent(&parents);
  bool child = parents != MPI_COMM_NULL;
  expect_begin(outdir, child ? "child" : "rank");
  family = (struct family){MPI_COMM_WORLD, MPI_COMM_NULL, expect_self.world_rank, expect_self.world_size, 0};
  if (children == 0) return;
  others = parents;
  if (!child) MPI_Comm_spawn(argv[0], argv + 1, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
  family.others = others;
  MPI_Intercomm_merge(others, child, &family.comm);
  MPI_Comm_rank(family.comm, &family.rank);
  MPI_Comm_size(family.comm, &family.size);
  family.base = child ? family.size - children : 0;
  expect_also(child ? "rank" : "child", family.size - expect_self.world_size);
}

void family_end(void) {
  if (family.others == MPI_COMM_NULL) return;
  MPI_Comm_free(&family.comm);
  MPI_Comm_disconnect(&family.others);
}

int *family_ranks(MPI_Comm comm, bool remote, int size) {
  MPI_Group all, group;
  int *ranks = malloc(2 * (size_t)(size + 1) * sizeof *ranks), *own = ranks + size + 1;
  if (!ranks) expect_die("out of memory");
  for (int i = 0; i < size; i++) own[i] = i;
  if (remote) MPI_Comm_remote_group(comm, &group);
  else MPI_Comm_group(comm, &group);
  MPI_Comm_group(family.comm, &all);
  MPI_Group_translate_ranks(group, size, own, all, ranks);
  MPI_Group_free(&group);
  MPI_Group_free(&all);
  return ranks;
}

/* Those that are of another MPI_COMM_WORLD have no global rank here. */
static void mark(int *to, MPI_Comm comm, bool remote, int size) {
  int *ranks = family_ranks(comm, remote, size);
  for (int i = 0; i < size; i++) {
    int rank = ranks[i] - family.base;
    to[i] = rank >= 0 && rank < expect_self.world_size ? rank : MPI_UNDEFINED;
  }
  free(ranks);
}

struct expect_comm *family_communicator(MPI_Comm comm, const char *name) {
  struct expect_comm *c = expect_communicator(comm, name);
  mark(c->group, comm, false, c->size);
  if (c->remote_size >= 0) mark(c->remote_group, comm, true, c->remote_size);
  return c;
}
