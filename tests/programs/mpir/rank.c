/*
 * rank: a rank of the launcher beside it, without MPI. It records what a
 * debugger does to it, and when, in $FOLDER/rank-$RANK.
 *
 *   rank [gate] [stay] [CODE]
 *
 * With "gate" it waits in init() until a debugger has set MPIR_debug_gate, with
 * "stay" it waits behind work() for the file $FOLDER/go.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int MPIR_being_debugged;
volatile int MPIR_debug_gate;
int rank;

static void note(const char *when) {
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%d", getenv("FOLDER"), rank);
  FILE *out = fopen(path, "a");
  if (!out) exit(1);
  fprintf(out, "%s: being_debugged=%d gate=%d\n", when, MPIR_being_debugged, MPIR_debug_gate);
  fclose(out);
}

void __attribute__((constructor)) before_main(void);
void before_main(void) {
  rank = atoi(getenv("RANK"));
  note("constructor");
}

void init(int waits);
void init(int waits) {
  char byte;
  note("init");
  while (waits && !MPIR_debug_gate) usleep(1000);
  /* It ends when the launcher closes it. */
  const char *barrier = getenv("BARRIER");
  if (barrier) {
    int fd = atoi(barrier);
    for (int i = 3; i < 64; i++)
      if (i != fd) close(i);
    while (read(fd, &byte, 1) > 0) {}
  }
  note("initialised");
}

void work(void);
void work(void) { note("work"); }

static int has(char ***words, const char *word) {
  int is_there = **words && !strcmp(**words, word);
  *words += is_there;
  return is_there;
}

int main(int argc, char **argv) {
  char go[4096], **words = argv + (argc > 0);
  int waits = has(&words, "gate"), stays = has(&words, "stay");
  init(waits);
  work();
  snprintf(go, sizeof go, "%s/go", getenv("FOLDER"));
  while (stays && access(go, F_OK)) usleep(1000);
  return *words ? atoi(*words) : 0;
}
