/* A page of memory, and a page of a file beside it. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

char *pages;

int main(int argc, char **argv) {
  long size = sysconf(_SC_PAGESIZE);
  int file = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
  if (argc < 2 || file < 0 || ftruncate(file, size))
    return 1;
  pages = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, 'a', size);
  if (mmap(pages + size, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    return 1;
  abort();
}
