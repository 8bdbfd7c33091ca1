/*
 * A starter: says where a library is, forks a child that waits, and prints the
 * child's process id. Both end with their standard input.
 *
 *   ARRAY, POINTER, LOCATIONS  the way it says it
 *   LIBRARY                    only the symbols, for a shared library
 *   USER                       only the rest
 */
#ifndef USER
#if defined ARRAY
char MPIR_dll_name[512] = "/opt/array.so";
#elif defined POINTER
char *MPIR_dll_name = "/opt/pointer.so";
#elif defined LOCATIONS
static char *places[] = {"/opt/one.so", "/opt/two.so", 0};
char **mpimsgq_dll_locations = places;
int MPIR_Ignore_queues;
#endif
int MPIR_proctable = 1;
#endif

#ifndef LIBRARY
#include <stdio.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

#ifdef USER
extern int MPIR_proctable;
#endif
int *volatile used = &MPIR_proctable;

int main(void) {
  char c;
  pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  printf("%d\n", (int)child);
  fflush(stdout);
  while (read(0, &c, 1) > 0) {
  }
  return 0;
}
#endif
