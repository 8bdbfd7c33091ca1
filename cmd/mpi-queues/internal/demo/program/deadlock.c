/*
 * A halo exchange on a ring of three ranks that hangs: one tag is wrong.
 *
 * Each rank passes its edge on to the one below it: 2 to 1, 1 to 0, 0 to 2.
 * Rank 1 is early: it starts its send, and the receive from 2, and waits for
 * both. Ranks 0 and 2 first receive and then send. It is rank 1's send that
 * gets the chain going, and rank 0 never takes it.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define EDGE 65536

enum { TAG_EDGE = 7, TAG_OLD_EDGE = 8 };

static double mine[EDGE], theirs[EDGE];

/* Tells the demo, which waits for it, that this rank is about to block. */
static void ready(const char *folder, int rank) {
  char path[4096];
  snprintf(path, sizeof path, "%s/ready-%d", folder, rank);
  FILE *file = fopen(path, "w");
  if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file)) MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  alarm(600); /* ends by itself, should nobody be left to end it */
#ifdef PR_SET_PTRACER
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* gdb may attach, as on Ubuntu it else may not */
#endif
  MPI_Comm halo;
  MPI_Comm_dup(MPI_COMM_WORLD, &halo);
  MPI_Comm_set_name(halo, "halo exchange");
  if (argc == 2) ready(argv[1], rank);

  if (rank == 1) {
    MPI_Request requests[2];
    MPI_Irecv(theirs, EDGE, MPI_DOUBLE, 2, TAG_EDGE, halo, &requests[0]);
    MPI_Isend(mine, EDGE, MPI_DOUBLE, 0, TAG_OLD_EDGE, halo, &requests[1]); /* the bug: TAG_EDGE is meant */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    int above = (rank + 1) % 3, below = (rank + 2) % 3;
    MPI_Recv(theirs, EDGE, MPI_DOUBLE, above, TAG_EDGE, halo, MPI_STATUS_IGNORE);
    MPI_Send(mine, EDGE, MPI_DOUBLE, below, TAG_EDGE, halo);
  }
  MPI_Finalize();
  return 0;
}
