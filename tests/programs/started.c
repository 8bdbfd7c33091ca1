/*
 * started: ranks for a debugger that starts them.
 *
 *   mpirun -n 4 started OUTDIR [finish|wait]
 *
 * A constructor runs before main. Each rank then measures the square of its
 * rank. The job ends with exit code 7, which is rank 0's: it waits for those on
 * its host to end, since launchers kill whoever runs still when one ends so.
 * With "wait", each rank receives what no rank sends: that is a deadlock of
 * all. A rank that is about to do so has written ready-N in OUTDIR.
 */
#include <mpi.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64 };

static int begun;

__attribute__((constructor)) static void begin(void) { begun = 42; }

/* Says whether a process runs still: launchers may leave what has ended unnoticed. */
static int runs(int pid) {
  char name[32], state = 'Z';
  snprintf(name, sizeof name, "/proc/%d/stat", pid);
  FILE *file = fopen(name, "r");
  if (!file) return 0;
  if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
  fclose(file);
  return state != 'Z' && state != 'X';
}

static int measure(int rank) {
  int value = rank * rank;
  value += begun;
  return value;
}

int main(int argc, char **argv) {
  int rank, size, received = 0, own = getpid(), pids[MOST];
  char host[64] = "", hosts[MOST][sizeof host];
  gethostname(host, sizeof host - 1);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int measured = measure(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 2 && strcmp(argv[2], "wait") == 0) {
    char name[4096];
    snprintf(name, sizeof name, "%s/ready-%d", argv[1], rank);
    fclose(fopen(name, "w"));
    MPI_Recv(&received, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Gather(&own, 1, MPI_INT, pids, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gather(host, sizeof host, MPI_CHAR, hosts, sizeof host, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank > 0 || measured != begun) return 0;
  for (int other = 1; other < size; other++)
    while (strcmp(hosts[other], host) == 0 && runs(pids[other])) usleep(10000);
  return 7;
}
