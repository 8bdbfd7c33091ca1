/*
 * notmpi: a program that has nothing to do with MPI, and doesn't link with it.
 *
 *   notmpi OUTDIR
 *
 * Writes the account of a process with no communicators, and ends on "stop".
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static FILE *file_in(const char *directory, const char *name, const char *mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return fopen(path, mode);
}

int main(int argc, char **argv) {
  FILE *account, *ready;
  if (argc != 2) {
    fputs("usage: notmpi OUTDIR\n", stderr);
    return 1;
  }
  alarm(1800);
  account = file_in(argv[1], "rank-0.json", "w");
  if (!account) {
    perror(argv[1]);
    return 1;
  }
  fprintf(account, "{\"pid\":%ld,\"global_rank\":null,\"world_size\":null,\"communicators\":[]}\n",
          (long)getpid());
  fclose(account);
  ready = file_in(argv[1], "ready-0", "w");
  if (ready) fclose(ready);
  for (FILE *stop = NULL; !stop; stop = file_in(argv[1], "stop", "r"))
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}
