/* A function that is compiled without debug information. */

void trap(void) { __builtin_trap(); }
