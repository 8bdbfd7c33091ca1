/*
 * starter: starts a toy process and knows where its DLL is, as mpirun does.
 *
 *   starter OUTDIR TOY DLL
 *
 * TOY is the path of a toy that does not tell (toy_none.c). The process ends
 * with the starter, and the starter with the process.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The process acquisition interface (MPIR), as far as a debugger reads it here. */
typedef struct {
  char *host_name, *executable_name;
  int pid;
} MPIR_PROCDESC;

char MPIR_dll_name[4096];
MPIR_PROCDESC *MPIR_proctable;
int MPIR_proctable_size;
volatile int MPIR_debug_state, MPIR_being_debugged;
int MPIR_i_am_starter;
void *MPIR_Breakpoint(void);
void *MPIR_Breakpoint(void) { return NULL; }

int main(int argc, char **argv) {
  if (argc != 4) {
    fputs("usage: starter OUTDIR TOY DLL\n", stderr);
    return 1;
  }
  static MPIR_PROCDESC table[1];
  static char host[256];
  gethostname(host, sizeof host - 1);
  snprintf(MPIR_dll_name, sizeof MPIR_dll_name, "%s", argv[3]);
  /* The child says that it is ready: all must stand before there is one. */
  int gate[2];
  if (pipe(gate)) return 1;
  pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    char go;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(gate[1]);
    if (read(gate[0], &go, 1) != 1) _exit(1);
    execl(argv[2], argv[2], argv[1], (char *)NULL);
    perror(argv[2]);
    _exit(1);
  }
  table[0] = (MPIR_PROCDESC){host, argv[2], child};
  MPIR_proctable_size = 1;
  MPIR_proctable = table;
  MPIR_debug_state = 1;
  MPIR_Breakpoint();
  if (write(gate[1], "", 1) != 1) return 1;
  int status;
  if (waitpid(child, &status, 0) != child) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
