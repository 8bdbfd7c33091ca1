/*
 * oracle: jobs that are made from seeds, one after the other in the same processes.
 *
 *   mpirun -n RANKS oracle OUTDIR FIRST COUNT CHILDREN THREADS [ITEM...]
 *   oracle - SEED RANKS
 *
 * For each seed from FIRST on, the ranks write what they have done into the folder
 * OUTDIR/SEED (see expect.h) and stay as they are until there is a file "next" in it. They
 * then tidy up and go on to the next seed. CHILDREN more processes are spawned, of
 * which the plans are as well. Where THREADS is not 0, every other job has several threads.
 * With ITEMs, only those of a plan are done. The second form prints the plan of a seed
 * for all of its processes.
 *
 * parts: family.c plan.c making.c perform.c partitioned.c ends.c
 */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"
#include "perform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct plan plan;

static int print(const char *seed, const char *ranks) {
  plan_make(&plan, strtoul(seed, NULL, 10), atoi(ranks));
  plan_print(&plan);
  printf("%d items and ends\n", plan.items + plan.ranks);
  return 0;
}

static void run(const char *outdir, unsigned long seed, bool threads, int count, char **items) {
  static char folder[4096];
  snprintf(folder, sizeof folder, "%s/%lu", outdir, seed);
  mkdir(folder, 0755);
  expect_self.outdir = folder;
  plan_make(&plan, seed, family.size);
  plan.threads = threads;
  if (count > 0) plan_keep(&plan, count, items);
  perform(&plan);
  expect_write();
  expect_ready(false);
  perform_block(&plan);
  expect_await("next");
  perform_tidy(&plan);
}

int main(int argc, char **argv) {
  if (argc == 4 && !strcmp(argv[1], "-")) return print(argv[2], argv[3]);
  int provided;
  unsigned long first = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
  MPI_Init_thread(&argc, &argv, first % 2 && argc > 5 && atoi(argv[5]) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (argc < 6) expect_die("usage: oracle OUTDIR FIRST COUNT CHILDREN THREADS [ITEM...]");
  family_begin(argv[1], atoi(argv[4]), argv);
  perform_begin();
  for (int i = 0; i < atoi(argv[3]); i++) run(argv[1], first + (unsigned long)i, provided == MPI_THREAD_MULTIPLE, argc - 6, argv + 6);
  family_end();
  MPI_Finalize();
  return 0;
}
