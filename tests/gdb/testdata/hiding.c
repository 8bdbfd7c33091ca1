/* hiding: shadow with a static variable of the library's name; see "expect.h". */
#define HIDING
#include "shadow.c"
