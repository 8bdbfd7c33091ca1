/*
 * starting: the other ranks wait for rank 1, which
 *   before  has not called MPI_Init
 *   gone    has exited without MPI_Finalize
 *   again   has executed this program again, after MPI_Init
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  const char *rank = getenv("PMI_RANK");
  int self;
  alarm(1800);
  if (argc != 2) return 1;
  if (rank && !strcmp(rank, "1") && (!strcmp(argv[1], "before") || !strcmp(argv[1], "waits"))) pause();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Barrier(MPI_COMM_WORLD);
  if (self == 1 && !strcmp(argv[1], "gone")) _exit(1);
  if (self == 1) execl("/proc/self/exe", argv[0], "waits", NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
