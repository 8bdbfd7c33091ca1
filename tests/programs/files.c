/*
 * files: ranks that don't meet in a collective call on a file, or only look so; see modes.h.
 *
 * Files are in OUTDIR.
 */
#include "expect.h"
#include "modes.h"

#include <stdio.h>

static MPI_Comm world = MPI_COMM_WORLD;

static MPI_File file(void) {
  char name[4096];
  MPI_File f;
  snprintf(name, sizeof name, "%s/data", expect_self.outdir);
  MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
  return f;
}

static void arrange(MPI_File f) {
  MPI_File_set_view(f, rank * (MPI_Offset)sizeof out[0], MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
  MPI_Barrier(world);
}

/* All but rank 2 write, and wait for it; it waits for rank 0. */
static void missing(void) {
  MPI_File f = file();
  arrange(f);
  if (rank < 2) MPI_File_write_all(f, out, SMALL, MPI_DOUBLE, MPI_STATUS_IGNORE); /* @missing */
  else RECV(0, TAG, world); /* @missing-recv */
}

/* The same, but rank 2 closes the file. */
static void closes(void) {
  MPI_File f = file();
  arrange(f);
  if (rank < 2) MPI_File_write_all(f, out, SMALL, MPI_DOUBLE, MPI_STATUS_IGNORE); /* @closes */
  else MPI_File_close(&f); /* @closes-close */
}

/* 0 → 1 → 0: rank 1 does not close. */
static void close_missing(void) {
  MPI_File f = file();
  if (rank == 0) MPI_File_close(&f); /* @close-missing */
  else RECV(0, TAG, world); /* @close-missing-recv */
}

/* Rank 1 computes before it writes. */
static void slow(void) {
  MPI_File f = file();
  arrange(f);
  if (rank == 1) compute();
  MPI_File_write_all(f, out, SMALL, MPI_DOUBLE, MPI_STATUS_IGNORE); /* @slow */
  MPI_File_close(&f);
}

/* The ranks write one after the other, and all together, over and over. */
static void turns(void) {
  MPI_File f = file();
  for (int more = 1, stop; more;) {
    for (int i = 0; i < size; i++) {
      if (i == rank) MPI_File_write_at(f, 0, out, SMALL, MPI_DOUBLE, MPI_STATUS_IGNORE);
      MPI_Barrier(world);
    }
    MPI_File_write_at_all(f, 0, out, SMALL, MPI_DOUBLE, MPI_STATUS_IGNORE);
    stop = rank == 0 && expect_exists("stop");
    MPI_Bcast(&stop, 1, MPI_INT, 0, world);
    more = !stop;
  }
  MPI_File_close(&f);
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"missing", 3, missing},
      {"closes", 3, closes},
      {"close-missing", 2, close_missing},
      {"slow", 3, slow},
      {"turns", 3, turns},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
