/* The toy process, with another way to tell where its DLL is: see toy.c. */
#define NAME_POINTER
#include "toy.c"
