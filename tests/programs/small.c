/*
 * small: two standard sends, of 256 and of 257 bytes, for 2 ranks.
 *
 *   mpirun -n 2 small OUTDIR
 *
 * Rank 0 sends both to rank 1, with their lengths as tags, and keeps the
 * requests. Rank 1 has not received them. The account allows both ways with
 * what the library has let go of: tests say which send it keeps.
 */
#include "expect.h"

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) expect_die("usage: small OUTDIR");
  expect_begin(argv[1], "rank");
  if (expect_self.world_size != 2) expect_die("small is for 2 ranks");
  struct expect_comm *world = expect_communicator(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  for (int bytes = 256; bytes <= 257; bytes++)
    if (expect_self.world_rank == 0)
      expect_post(world, "isend", bytes, MPI_BYTE, 1, bytes)->state = EXPECT_LEFT;
    else
      expect_unexpected(world, 0, bytes, bytes);
  expect_finish();
}
