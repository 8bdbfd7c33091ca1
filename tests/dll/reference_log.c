/* The account of what the debugger called, and of what it did wrong. */
#include "reference.h"

#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A line fits into an extra_text with its terminator. What is too much is counted. */
enum { LINES = 4096, WIDTH = 64, FAILURES = 256, LENGTH = 5 * WIDTH };

static char lines[LINES][WIDTH];
static int line_count, times;
static char last[WIDTH]; /* the last line without its count */
static char failures[FAILURES][LENGTH];
static int failure_count;

/* The same call again is counted, so that long queues leave a short log. */
void log_entry(const char *format, ...) {
  char line[WIDTH];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  if (line_count > 0 && !strcmp(line, last)) {
    snprintf(lines[line_count - 1], WIDTH, "%.45s x %d", line, ++times);
    return;
  }
  times = 1;
  strcpy(last, line);
  if (line_count < LINES) strcpy(lines[line_count++], line);
}

void fail(const char *format, ...) {
  char text[LENGTH + 32] = "FAILED: ";
  size_t start = strlen(text);
  va_list args;
  va_start(args, format);
  vsnprintf(text + start, LENGTH, format, args);
  va_end(args);
  if (failure_count < FAILURES) strcpy(failures[failure_count++], text + start);
  strcat(text, "\n");
  if (basic && basic->mqs_dprints_fp) basic->mqs_dprints_fp(text);
}

int log_lines(void) { return line_count; }
int failed_checks(void) { return failure_count; }
const char *log_line(int i) { return lines[i]; }
const char *failed_check(int i) { return failures[i]; }

/* Not from two threads, says the interface, and not from within a call-back. */
static long thread;
static int inside;

void enter(void) {
  long now = syscall(SYS_gettid);
  CHECK(thread == 0 || thread == now, "an entry point is called from a second thread");
  thread = now;
  CHECK(inside == 0, "an entry point is called while another one runs");
  inside++;
}

int leave(int result) {
  inside--;
  return result;
}
