/* A program with a script inside that gdb runs where it trusts the program's path. */

#include <unistd.h>

__asm__(".pushsection .debug_gdb_scripts, \"MS\", @progbits, 1\n"
        ".byte 4\n"
        ".ascii \"script\\n\"\n"
        ".ascii \"gdb.execute('set $script_has_run = 1')\\n\"\n"
        ".byte 0\n"
        ".popsection\n");

int of_scripted(void) { return write(STDOUT_FILENO, "\n", 1); }

int main(void) {
    of_scripted();
    for (;;) pause();
}
