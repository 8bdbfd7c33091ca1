/*
 * many: a great many pending receives on rank 0, for 2 ranks.
 *
 *   mpirun -n 2 many OUTDIR N [wild | specific | mixed]
 *
 * Rank 0 has N pending receives of 1 to 4 ints on MPI_COMM_WORLD, with tags 0
 * to 999 in turn. specific: from rank 0 and 1 in turn; wild: all from any
 * source, every tenth with any tag too; mixed (the default): both kinds, with
 * every seventh wild. Rank 1 has none. For benchmarks, and for bounds.
 */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3 || argc > 4) expect_die("usage: many OUTDIR N [wild | specific | mixed]");
  expect_begin(argv[1], "rank");
  const char *mode = argc > 3 ? argv[3] : "mixed";
  bool wild = !strcmp(mode, "wild"), mixed = !strcmp(mode, "mixed");
  if (!wild && !mixed && strcmp(mode, "specific")) expect_die("no mode %s", mode);
  if (expect_self.world_size < 2) expect_die("many is for 2 ranks");
  long n = strtol(argv[2], NULL, 10);

  struct expect_comm *world = expect_communicator(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  for (long i = 0; expect_self.world_rank == 0 && i < n; i++) {
    bool any_source = wild || (mixed && i % 7 == 6), any_tag = wild && i % 10 == 9;
    expect_post(world, "irecv", 1 + (int)(i % 4), MPI_INT,
                any_source ? MPI_ANY_SOURCE : (int)(i / 2 % 2),
                any_tag ? MPI_ANY_TAG : (int)(i % 1000));
  }
  expect_finish();
}
