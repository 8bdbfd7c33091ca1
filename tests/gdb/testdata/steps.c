/* steps: ranks that call step again and again, until OUTDIR/stop exists. */
#include "expect.h"

#include <unistd.h>

static int step(int number) { return number + 1; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  expect_begin(argv[1], "rank");
  expect_write();
  expect_ready(false);
  for (int number = 0; !expect_exists("stop"); number = step(number)) usleep(10000);
  MPI_Finalize();
}
