/*
 * crashed: a job of which one rank crashes, for 3 ranks.
 *
 *   mpirun -n 3 crashed OUTDIR fault|abort
 *
 * Ranks 0 and 2 receive from rank 1. That one waits until OUTDIR/crash is there, and writes to an address at
 * which nothing is, or aborts. A debugger that has attached to it meanwhile sees that before a handler of the MPI's.
 */
#include "expect.h"
#include "modes.h"

#include <stdlib.h>

static void receive(void) { RECV(1, TAG, MPI_COMM_WORLD); /* @crashed-recv */ }

static void fault(void) {
  if (rank != 1) receive();
  expect_await("crash");
  *(volatile int *)16 = rank; /* @crashed-fault */
}

static void end(void) {
  if (rank != 1) receive();
  expect_await("crash");
  abort(); /* @crashed-abort */
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {{"fault", 3, fault}, {"abort", 3, end}};
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
