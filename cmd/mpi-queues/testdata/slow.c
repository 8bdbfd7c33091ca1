/* slow FOLDER: rank 0 computes until there is a file FOLDER/go, or FOLDER is gone, and the others wait for it. Each
   rank leaves a file that is called after its process. Without FOLDER it ends at once, with 7. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char path[4096];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof path, "%s/%d", argv[1], (int)getpid());
  FILE *f = fopen(path, "w");
  if (f) fclose(f);
  snprintf(path, sizeof path, "%s/go", argv[1]);
  if (f && rank == 0) {
    volatile double sum = 0;
    while (access(path, F_OK) && !access(argv[1], F_OK)) {
      for (int i = 1; i < 100000000; i++) sum += 1.0 / i;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return f ? 0 : 7;
}
