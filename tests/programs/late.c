/*
 * late: ranks that step over a breakpoint all the time, until a file is there.
 *
 *   mpirun -n 3 late FOLDER
 *
 * A breakpoint at here whose condition is false makes gdb do so. The ranks
 * write FOLDER/ready when they begin with it, and FOLDER/again if one comes to
 * main twice. They go on when FOLDER/go is there.
 */
#include <mpi.h>

#include <stdio.h>
#include <unistd.h>

/* The program counter is elsewhere after this instruction, wherever gdb has executed a copy of it. */
void here(void);
__asm__(".globl here\n.type here, %function\nhere: ret\n");

static int mains;

/* Returns the path of a file in the folder, which is written over by the next call. */
static const char *in(const char *folder, const char *file) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  return path;
}

int main(int argc, char **argv) {
  if (++mains > 1) {
    fclose(fopen(in(argv[1], "again"), "w"));
    return 1;
  }
  fclose(fopen(in(argv[1], "ready"), "w"));
  while (access(in(argv[1], "go"), F_OK) != 0)
    for (int i = 0; i < 100; i++) here();
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return 0;
}
