/*
 * modes: a program that is many small jobs, each of which hangs in its own way,
 * or does not hang at all.
 *
 *   mpirun -n RANKS PROGRAM OUTDIR MODE
 *
 * Each mode's comment says what there is to say of it; tests/internal/expect has
 * the same as a table. A call that a table names stands on a line that ends in a
 * comment with "@" and a name of its own.
 *
 * Ready is said just before a mode begins: that its ranks have come to where they
 * hang must be seen from outside. End the job from outside, or it ends after 1800 s. A
 * mode that returns does so after OUTDIR/stop has come to be; the program then ends with 0.
 */
#ifndef MODES_H
#define MODES_H

#include "expect.h"

#include <string.h>

#define SMALL 8      /* doubles: far below every eager limit */
#define LARGE 131072 /* doubles, 1 MiB: far above */
#define TAG 7

/* A receive; a send that does not wait for its receive, and two that do. */
#define RECV(from, tag, comm) MPI_Recv(in, SMALL, MPI_DOUBLE, from, tag, comm, MPI_STATUS_IGNORE)
#define SEND_SMALL(to, tag, comm) MPI_Send(out, SMALL, MPI_DOUBLE, to, tag, comm)
#define SEND_LARGE(to, tag, comm) MPI_Send(out, LARGE, MPI_DOUBLE, to, tag, comm)
#define SSEND(to, tag, comm) MPI_Ssend(out, SMALL, MPI_DOUBLE, to, tag, comm)

struct mode {
  const char *name;
  int ranks;
  void (*run)(void);
  bool threads; /* MPI_THREAD_MULTIPLE */
};

static double out[LARGE], in[LARGE];
static int rank, size, next, previous;

/* What a rank does that computes: no MPI call. */
static inline void compute(void) { expect_hold(); }

static int run_mode(int argc, char **argv, const struct mode *modes, int count) {
  const struct mode *m = modes;
  while (m < modes + count && (argc != 3 || strcmp(m->name, argv[2]))) m++;
  bool known = m < modes + count;
  int provided;
  MPI_Init_thread(&argc, &argv, known && m->threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  if (!known) expect_die("usage: %s OUTDIR MODE", argv[0]);
  expect_begin(argv[1], "rank");
  rank = expect_self.world_rank;
  size = expect_self.world_size;
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  if (size != m->ranks) expect_die("%s is for %d ranks", m->name, m->ranks);
  if (m->threads && provided != MPI_THREAD_MULTIPLE) expect_die("no MPI_THREAD_MULTIPLE");
  expect_write();
  expect_ready(true);
  m->run();
  if (!expect_exists("stop")) expect_die("%s came to an end", m->name);
  MPI_Finalize();
  return 0;
}

#endif
