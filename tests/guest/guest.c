/*
 * guest: ranks that can be looked at before MPI_Init, after which MPIs may let every process of the
 * user's trace them.
 *
 *   mpirun -n 2 guest OUTDIR [wait]
 *
 * With "wait", each process writes OUTDIR/ready-PID and waits for ever, before MPI_Init.
 */
#include <mpi.h>

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc > 2) {
    char name[4096];
    snprintf(name, sizeof name, "%s/ready-%d", argv[1], (int)getpid());
    fclose(fopen(name, "w"));
    for (;;) pause();
  }
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
