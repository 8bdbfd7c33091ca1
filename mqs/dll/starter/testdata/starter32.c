/* The same in 32 bits, without a library of C, which may not be there for it. */
char MPIR_dll_name[512] = "/opt/array32.so";
char *place = "/opt/one32.so";
char *places[] = {"/opt/one32.so", 0};
char **mpimsgq_dll_locations = places;

static int call(int number, int a, const void *b, int c) {
  int r;
  __asm__ volatile("int $0x80" : "=a"(r) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
  return r;
}

void _start(void) {
  char c, digits[12];
  int child = call(2, 0, 0, 0); /* fork */
  if (child == 0) {
    call(172, 1, (void *)9, 0); /* prctl(PR_SET_PDEATHSIG, SIGKILL) */
    for (;;) call(29, 0, 0, 0); /* pause */
  }
  int at = sizeof digits;
  digits[--at] = '\n';
  for (int n = child; n > 0; n /= 10) digits[--at] = '0' + n % 10;
  call(4, 1, digits + at, sizeof digits - at); /* write */
  while (call(3, 0, &c, 1) > 0) {              /* read */
  }
  call(1, 0, 0, 0); /* exit */
}
