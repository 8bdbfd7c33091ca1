/* The toy process, which keeps its sends for a debugger only: see toy.c. */
#define ASKS
#include "toy.c"
