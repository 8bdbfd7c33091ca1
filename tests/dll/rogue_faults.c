/* What a DLL can do wrong by itself: see rogue.h. */
#include "rogue.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

char *garbage(void) { return (char *)0x10; }

/* A text that goes on up to the end of all that is readable. */
char *unterminated(void) {
  enum { PAGE = 4096 };
  static char *at;
  if (!at) {
    at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) abort();
    memset(at, 'x', PAGE);
    munmap(at + PAGE, PAGE);
  }
  return at;
}

static void doze(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

static void crash(void) {
  volatile int *volatile nowhere = NULL;
  *nowhere = 1;
}

static void divide(void) {
  volatile int nothing = 0;
  nothing = 4711 / nothing;
}

/* Through a pointer, lest the compiler should see what comes of it. */
static int recurse(volatile int *);
static int (*volatile again)(volatile int *) = recurse;

static int recurse(volatile int *above) {
  volatile int block[1024];
  block[0] = above ? above[0] + 1 : 0;
  return again(block) + block[0];
}

static void print(void) {
  static char line[1024];
  memset(line, '#', sizeof line - 1);
  line[sizeof line - 1] = '\n';
  /* What looks like a message of the helper's own is no better. */
  static const char message[] = "Content-Length: 1000000\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}\n";
  for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
    for (int i = 0; i < 1024; i++)
      if (write(fd, line, sizeof line) < 0) break;
    if (write(fd, message, sizeof message - 1) < 0) log_entry("try print: %s", strerror(errno));
  }
  printf("printed by the rogue DLL\n");
  fflush(stdout);
}

/*
 * Every call-back with handles that are none, or of another kind than it takes.
 * Those that write get somewhere to write to.
 */
static void call_all(void *handle, const char *kind) {
  char room[64];
  mqs_taddr_t address;
  mqs_target_type_sizes sizes;
  if (basic) {
    /* What is no stranger would lose its information. */
    if (strcmp(kind, "image")) basic->mqs_put_image_info_fp(handle, NULL);
    basic->mqs_get_image_info_fp(handle);
    if (strcmp(kind, "process")) basic->mqs_put_process_info_fp(handle, NULL);
    basic->mqs_get_process_info_fp(handle);
    basic->mqs_errorstring_fp(4711);
  }
  if (image_calls) {
    image_calls->mqs_get_type_sizes_fp(handle, &sizes);
    image_calls->mqs_find_function_fp(handle, "main", mqs_lang_c, &address);
    image_calls->mqs_find_symbol_fp(handle, "main", &address);
    image_calls->mqs_find_type_fp(handle, "int", mqs_lang_c);
    image_calls->mqs_field_offset_fp(handle, "next");
    image_calls->mqs_sizeof_fp(handle);
  }
  if (process_calls) {
    process_calls->mqs_get_global_rank_fp(handle);
    process_calls->mqs_get_image_fp(handle);
    process_calls->mqs_fetch_data_fp(handle, 0x1000, sizeof room, room);
    process_calls->mqs_target_to_host_fp(handle, room, room, 4);
    process_calls->mqs_get_process_job_fp(handle);
    process_calls->mqs_get_process_identity_fp(handle);
  }
  log_entry("try %s: survived", kind);
}

/* With NULL in the place of everything else, too. */
static void call_with_null(void) {
  if (basic) {
    basic->mqs_dprints_fp(NULL);
    basic->mqs_free_fp(NULL);
  }
  if (image_calls) {
    image_calls->mqs_get_type_sizes_fp(NULL, NULL);
    image_calls->mqs_find_function_fp(NULL, NULL, mqs_lang_c, NULL);
    image_calls->mqs_find_symbol_fp(NULL, NULL, NULL);
    image_calls->mqs_find_type_fp(NULL, NULL, mqs_lang_c);
    image_calls->mqs_field_offset_fp(NULL, NULL);
  }
  if (process_calls) {
    process_calls->mqs_fetch_data_fp(NULL, 0, 8, NULL);
    process_calls->mqs_target_to_host_fp(NULL, NULL, NULL, 8);
  }
  call_all(NULL, "null");
}

static struct {
  mqs_image *image;
  mqs_process *process;
  bool late;
} task;

/* A thread of the DLL's own, in call-backs that ask the debugger. */
static void *work(void *unused) {
  mqs_taddr_t address;
  char byte;
  for (int i = 0; i < 200; i++) {
    if (task.late) doze();
    if (basic) basic->mqs_free_fp(basic->mqs_malloc_fp(100));
    if (task.image) image_calls->mqs_find_symbol_fp(task.image, i % 2 ? "toy_state" : "main", &address);
    if (task.process) process_calls->mqs_fetch_data_fp(task.process, (mqs_taddr_t)(0x1000 * i), 1, &byte);
  }
  return unused;
}

static void start_thread(bool late, mqs_image *image, mqs_process *process) {
  static pthread_t thread;
  task.image = image;
  task.process = process;
  task.late = late;
  int code = pthread_create(&thread, NULL, work, NULL);
  log_entry("try thread: %s", code ? strerror(code) : "started");
  if (!code && !late) pthread_join(thread, NULL);
}

static void allocate(const char *fault) {
  static char room[64];
  if (!strcmp(fault, "leak"))
    for (int i = 0; i < 1000; i++) basic->mqs_malloc_fp(100);
  if (!strcmp(fault, "overrun_block")) {
    enum { ROOM = 9 * sizeof(int) }; /* longs for ints: with few, they fit into what C rounds up to */
    char *block = basic->mqs_malloc_fp(ROOM), *next = basic->mqs_malloc_fp(ROOM);
    memset(block, 0, 2 * ROOM);
    basic->mqs_free_fp(next);
    basic->mqs_free_fp(block);
  }
  if (!strcmp(fault, "free_twice")) {
    void *block = basic->mqs_malloc_fp(100);
    basic->mqs_free_fp(block);
    basic->mqs_free_fp(block);
    log_entry("try free_twice: survived");
  }
  if (!strcmp(fault, "free_wild")) {
    char *block = basic->mqs_malloc_fp(100), on_stack[64], *own = malloc(100);
    void *wild[] = {block + 16, block + 1, on_stack, room, own, (void *)0x10, (void *)UINTPTR_MAX, crash};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) basic->mqs_free_fp(wild[i]);
    memset(block, 0, 100);
    basic->mqs_free_fp(block);
    free(own);
    log_entry("try free_wild: survived");
  }
  if (!strcmp(fault, "malloc_huge")) {
    static const size_t sizes[] = {(size_t)1 << 40, (size_t)1 << 62, SIZE_MAX, SIZE_MAX - 15};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
      log_entry("try malloc %zu: %s", sizes[i], basic->mqs_malloc_fp(sizes[i]) ? "given" : "refused");
  }
}

static void fetch(const char *fault, mqs_process *process) {
  static char room[64];
  mqs_taddr_t here = 0;
  mqs_image *image = process_calls->mqs_get_image_fp(process);
  image_calls->mqs_find_symbol_fp(image, "toy_state", &here);
  if (!strcmp(fault, "fetch_huge"))
    log_entry("try fetch 2 GiB: %d", process_calls->mqs_fetch_data_fp(process, here, INT32_MAX, room));
  else
    log_entry("try fetch to nowhere: %d", process_calls->mqs_fetch_data_fp(process, here, 64, (void *)0x10));
}

/* Says whether it was allowed, which a host may not be. */
static void tried(const char *what, bool allowed) { log_entry("try %s: %s", what, allowed ? "ALLOWED" : strerror(errno)); }

static void escape(void) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  /* A socket alone reaches nobody; that nobody listens is no refusal. */
  tried("socket", fd >= 0 && (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 || errno == ECONNREFUSED));
  fd = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0mpi-queues-rogue"};
  tried("unix socket", fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
  char path[64];
  snprintf(path, sizeof path, "/tmp/mpi-queues-rogue-%d", (int)getpid());
  fd = open(path, O_CREAT | O_WRONLY, 0600);
  tried("write", fd >= 0);
  if (fd >= 0) unlink(path);
  tried("make a folder", mkdir(path, 0700) == 0 && rmdir(path) == 0);
  tried("remove", unlink("/tmp/mpi-queues-rogue-victim") == 0);
  pid_t parent = getppid();
  tried("signal the parent", kill(parent, SIGURG) == 0);
  bool held = ptrace(PTRACE_ATTACH, parent, NULL, NULL) == 0;
  tried("ptrace the parent", held);
  if (held) {
    waitpid(parent, NULL, __WALL);
    ptrace(PTRACE_DETACH, parent, NULL, NULL);
  }
  snprintf(path, sizeof path, "/proc/%d/mem", (int)parent);
  tried("write to the parent", open(path, O_RDWR) >= 0);
  /* Children are no way out either. */
  pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exec 2>/dev/null; : >/tmp/mpi-queues-rogue-child && rm -f /tmp/mpi-queues-rogue-child", (char *)NULL);
    _exit(1);
  }
  int status = 1;
  if (child > 0) {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    errno = EPERM;
  }
  tried("write by a child", child > 0 && status == 0);
}

/* A child that would stay for ever, with all that its parent has open; -1 if it may not. */
static void leave_orphan(void) {
  pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  log_entry("try orphan: %d", (int)child);
}

/* All that could keep its process when the debugger's helper is killed. Its thread's name says when it has tried. */
static void outlive(void) {
  tried("session", setsid() >= 0);
  tried("no signal at the parent's death", prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) == 0);
  int nothing = open("/dev/null", O_RDONLY), taken = 0;
  for (int fd = 0; fd < 64; fd++)
    if (fd != nothing && dup2(nothing, fd) >= 0) taken++;
  tried("the stream", taken > 0);
  prctl(PR_SET_NAME, "outlive", 0, 0, 0);
  for (;;) raise(SIGSTOP); /* so that nobody in it sees the stream's end */
}

void strike(const char *fault, mqs_image *image, mqs_process *process) {
#define IS(name) (!strcmp(fault, name))
  if (IS("crash")) crash();
  if (IS("abort")) abort();
  if (IS("divide")) divide();
  if (IS("recurse")) again(NULL);
  if (IS("spin"))
    for (volatile int going = 1; going;) {}
  if (IS("sleep"))
    for (;;) pause();
  if (IS("exit")) exit(0);
  if (IS("_exit")) _exit(3);
  if (IS("print")) print();
  if (IS("close"))
    for (int fd = 3; fd < 1024; fd++) close(fd);
  if (IS("null")) call_with_null();
  if (IS("foreign")) {
    static char own[4096];
    call_all(own, "own");
    call_all((void *)0x1234, "small");
    call_all((void *)UINTPTR_MAX, "large");
    if (image) call_all(image, "image");
    if (process) call_all(process, "process");
  }
  if (IS("thread") || IS("late")) start_thread(IS("late"), image, process);
  if (IS("leak") || IS("overrun_block") || IS("free_twice") || IS("free_wild") || IS("malloc_huge")) allocate(fault);
  if (IS("fetch_huge") || IS("fetch_wild")) fetch(fault, process);
  if (IS("escape")) escape();
  if (IS("orphan")) leave_orphan();
  if (IS("outlive")) outlive();
}
