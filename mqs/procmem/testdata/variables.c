/* Variables for another process to read, until standard input ends. */
#include <stdio.h>

char *peek_text = "read while it runs";
int peek_number = 4711;

int peek_function(void) { return peek_number; }

int main(void) {
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
