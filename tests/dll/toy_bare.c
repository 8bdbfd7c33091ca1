/* The toy process, with another way to tell where its DLL is: see toy.c. */
#define NAME_BARE
#include "toy.c"
