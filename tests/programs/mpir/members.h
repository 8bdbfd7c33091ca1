/*
 * The members of the MPIR Process Acquisition Interface. Each NAME of
 * -DWITH_NAME and -DNO_NAME below is one that a launcher has, or lacks.
 */
#include <stdio.h>

#ifndef NO_INTERFACE
typedef struct {
  char *host_name, *executable_name;
  int pid;
} MPIR_PROCDESC;

MPIR_PROCDESC *MPIR_proctable;
int MPIR_proctable_size;
volatile int MPIR_debug_state;
void *MPIR_Breakpoint(void);
void *__attribute__((noinline)) MPIR_Breakpoint(void) {
  __asm__ volatile("");
  return NULL;
}
#endif

#ifdef LATE
/* It is in a library that the launcher loads. */
#include <dlfcn.h>
static int being_debugged(void) {
  int *it = dlsym(RTLD_DEFAULT, "MPIR_being_debugged");
  return it ? *it : -1;
}
#elif defined NO_BEING_DEBUGGED
static int being_debugged(void) { return -1; }
#else
volatile int MPIR_being_debugged;
static int being_debugged(void) { return MPIR_being_debugged; }
#endif

#ifndef NO_ABORT_STRING
char *MPIR_debug_abort_string;
#endif
#ifndef NO_I_AM_STARTER
int MPIR_i_am_starter;
#endif
#ifdef WITH_PARTIAL_ATTACH
int MPIR_partial_attach_ok;
#endif
#ifdef WITH_ACQUIRED_PRE_MAIN
int MPIR_acquired_pre_main;
#endif
#ifdef WITH_FORCE_TO_MAIN
int MPIR_force_to_main;
#endif
#ifdef WITH_IGNORE_QUEUES
void MPIR_ignore_queues(void);
void MPIR_ignore_queues(void) {} /* its presence counts, whatever it is */
#endif
#ifdef WITH_DAEMONS
char MPIR_executable_path[256], MPIR_server_arguments[1024], MPIR_attach_fifo[256];
volatile int MPIR_forward_output, MPIR_forward_comm;
#endif
#ifdef DLL
char MPIR_dll_name[] = DLL;
#endif

static void members_note(FILE *out) {
#ifdef WITH_DAEMONS
  fprintf(out, " executable_path='%s' server_arguments='%.1s%.1s' forward_output=%d", MPIR_executable_path, MPIR_server_arguments,
          MPIR_server_arguments + 1, MPIR_forward_output);
#else
  (void)out;
#endif
}
