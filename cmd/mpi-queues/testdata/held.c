/* Rank 0 sleeps as where a file system does not answer: in vfork, until its child ends. The others wait for it. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char name[4096];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "%s/ready-%d", argv[1], rank);
  FILE *ready = fopen(name, "w");
  fprintf(ready, "%d\n", getpid());
  fclose(ready);
  if (rank == 0 && vfork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
