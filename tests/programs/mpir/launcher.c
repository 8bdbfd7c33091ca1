/*
 * launcher: starts ranks as a launcher with the MPIR Process Acquisition
 * Interface does, and records what a debugger does to it, and when.
 *
 *   launcher FOLDER OPTION... -- RANK-PROGRAM [ARGUMENT]...
 *
 * Options:
 *   n=N          ranks (2)
 *   hold         each rank is stopped on the return from exec
 *   barrier      each rank waits (it reads a pipe, $BARRIER) until
 *                MPIR_Breakpoint has returned, and the launcher until each is in
 *                init(), unless it is held
 *   null         MPIR_Breakpoint is called once before, with MPIR_NULL
 *   more         one more rank, which waits for a debugger's gate, is started and
 *                told of when the first ones are
 *   remote       the table has one more rank, on another host
 *   abort=TEXT   behind it all the job is aborted, for this reason
 *   late=LIBRARY a library is loaded before anything is looked at
 *   linger       it waits for the file FOLDER/go before it ends, and then calls
 *                MPIR_Breakpoint once more, with MPIR_NULL
 *
 * Which members of the interface it has is decided when it is compiled; see
 * members.h. In FOLDER/launcher are lines of what it has seen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "members.h"

enum { max_ranks = 16 };

static FILE *record;
static pid_t pids[max_ranks];
static int count = 2;

/* The process that traces another, 0 if there is none. */
static int tracer(pid_t pid) {
  char path[64], line[256];
  int out = -1;
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *status = fopen(path, "r");
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "TracerPid: %d", &out) == 1) break;
  if (status) fclose(status);
  return out;
}

static void note(const char *when) {
  fprintf(record, "%s: being_debugged=%d traced=%d", when, being_debugged(), tracer(getpid()) > 0);
  members_note(record);
  for (int i = 0; i < count; i++)
    if (pids[i]) fprintf(record, " rank%d=%s", i, pids[i] == getpid() ? "self" : tracer(pids[i]) > 0 ? "traced" : "free");
  fprintf(record, "\n");
  fflush(record);
}

static void stop_in_breakpoint(int state, const char *when) {
#ifndef NO_INTERFACE
  MPIR_debug_state = state;
  MPIR_Breakpoint();
#endif
  note(when);
}

static pid_t start(int rank, int hold, int barrier, char **argv) {
  pid_t child = fork();
  if (child < 0) exit(1);
  if (child == 0) {
    char text[32];
    snprintf(text, sizeof text, "%d", rank);
    setenv("RANK", text, 1);
    if (barrier >= 0) {
      snprintf(text, sizeof text, "%d", barrier);
      setenv("BARRIER", text, 1);
    }
    if (hold) ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
  }
  if (hold) {
    int status;
    if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status)) exit(1);
    kill(child, SIGSTOP);
    ptrace(PTRACE_DETACH, child, NULL, NULL);
    waitpid(child, &status, WUNTRACED);
  }
  return child;
}

/* Waits until a rank has noted that it is in init(). */
static void await_init(const char *folder, int rank) {
  char path[4096], line[256];
  for (snprintf(path, sizeof path, "%s/rank-%d", folder, rank);; usleep(1000)) {
    FILE *notes = fopen(path, "r");
    int is_there = 0;
    while (notes && !is_there && fgets(line, sizeof line, notes)) is_there = !strncmp(line, "init:", 5);
    if (notes) fclose(notes);
    if (is_there) return;
  }
}

int main(int argc, char **argv) {
  int hold = 0, null = 0, remote = 0, more = 0, linger = 0, barrier[2] = {-1, -1}, i = 2;
  char *reason = NULL, path[4096];
  if (argc < 4) return 2;
  snprintf(path, sizeof path, "%s/launcher", argv[1]);
  if (!(record = fopen(path, "w"))) return 1;
  for (; i < argc && strcmp(argv[i], "--"); i++) {
    char *word = argv[i];
    if (!strncmp(word, "n=", 2)) count = atoi(word + 2);
    else if (!strcmp(word, "hold")) hold = 1;
    else if (!strcmp(word, "barrier")) { if (pipe(barrier)) return 1; }
    else if (!strcmp(word, "null")) null = 1;
    else if (!strcmp(word, "remote")) remote = 1;
    else if (!strcmp(word, "more")) more = 1;
    else if (!strcmp(word, "linger")) linger = 1;
    else if (!strncmp(word, "abort=", 6)) reason = word + 6;
    else if (!strncmp(word, "late=", 5)) { if (!dlopen(word + 5, RTLD_NOW | RTLD_GLOBAL)) return 3; }
    else return 2;
  }
  note("main");
  if (null) stop_in_breakpoint(0, "null");
  setenv("FOLDER", argv[1], 1);
  int self = -1;
#ifdef IS_RANK
  self = IS_RANK; /* this process is that rank itself */
#endif
  for (int r = 0; r < count; r++) pids[r] = r == self ? getpid() : start(r, hold, barrier[0], argv + i + 1);
  for (int r = 0; r < count && barrier[0] >= 0 && !hold; r++)
    if (r != self) await_init(argv[1], r);
#ifndef NO_INTERFACE
  static MPIR_PROCDESC table[max_ranks + 1];
  static char host[256];
  gethostname(host, sizeof host - 1);
  for (int r = 0; r < count; r++) table[r] = (MPIR_PROCDESC){host, r == self ? argv[0] : argv[i + 1], pids[r]};
  table[count] = (MPIR_PROCDESC){"far.example", argv[i + 1], 4242};
  MPIR_proctable = table;
  MPIR_proctable_size = count + remote;
#endif
  note("started");
  stop_in_breakpoint(1, "spawned");
#ifndef NO_INTERFACE
  if (more) {
    static char *waiting[] = {NULL, "gate", NULL};
    waiting[0] = argv[i + 1];
    pids[count] = start(count, 0, -1, waiting);
    await_init(argv[1], count);
    table[count] = (MPIR_PROCDESC){host, waiting[0], pids[count]};
    MPIR_proctable_size = ++count;
    stop_in_breakpoint(1, "more");
  }
#endif
  if (barrier[1] >= 0) {
    close(barrier[0]);
    close(barrier[1]);
  }
  int code = 0;
  for (int r = 0; r < count; r++) {
    int status;
    if (r == self) continue;
    while (waitpid(pids[r], &status, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(status)) code |= WEXITSTATUS(status);
    pids[r] = 0;
  }
  if (reason) {
#ifndef NO_ABORT_STRING
    MPIR_debug_abort_string = *reason ? reason : NULL;
#endif
    stop_in_breakpoint(2, "aborted");
  }
  snprintf(path, sizeof path, "%s/go", argv[1]);
  while (linger && access(path, F_OK)) usleep(10000);
  if (linger) stop_in_breakpoint(0, "again");
  note("end");
  return code;
}
