/* Which fault a rogue DLL has: see rogue.h. */
#include "rogue.h"

#ifndef ANSWER
#define ANSWER 0
#endif

const char fault_kind[] = FAULT, fault_entry[] = WHERE;
const long fault_answer = ANSWER;
