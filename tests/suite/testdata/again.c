/*
 * again: makes a short MPI program long, without a change to it. Preloaded, it calls main
 * again and again between one MPI_Init and one MPI_Finalize, until $AGAIN_FOLDER/stop
 * exists or main has been called $AGAIN_MOST times. With $AGAIN_SLOW set, ranks sleep
 * before some of their calls.
 *
 * Each rank makes $AGAIN_FOLDER/rank-N, with its process id, when it has initialised MPI.
 * Rank 0 writes how often main has been called to $AGAIN_FOLDER/calls: through its memory, since who
 * looks is to find the program's own calls, and not one on a file.
 *
 * A process that a rank has spawned calls main once, and main is called again when all that it
 * has spawned have ended. For that they must not stay connected: with $AGAIN_SPAWNS set, who
 * frees a communicator disconnects it.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int main_function(int, char **, char **);

static main_function *program;
static bool up, inside; /* MPI is initialised; the program thinks so */
static bool spawned, spawns; /* this process is; its program does */
static int level, rank;
static MPI_Comm own; /* for what ranks agree on between two calls of main */

static const char *path_of(const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", getenv("AGAIN_FOLDER"), name);
  return path;
}

/* Writes a number to a file, which comes to be with all that is in it. */
static void write_number(const char *name, long number) {
  char unready[4096];
  snprintf(unready, sizeof unready, "%s.%ld", path_of(name), (long)getpid());
  FILE *file = fopen(unready, "w");
  if (!file || fprintf(file, "%ld", number) < 0 || fclose(file) || rename(unready, path_of(name)))
    perror(unready);
}

/* Memory that is a file, and that ends with a byte of zero. */
static char *map_file(const char *name, size_t size) {
  int file = open(path_of(name), O_RDWR | O_CREAT, 0600);
  char *map = MAP_FAILED;
  if (file >= 0 && ftruncate(file, (off_t)size) == 0)
    map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (map == MAP_FAILED) {
    perror(name);
    exit(1);
  }
  close(file);
  return map;
}

/* The function that MPI_Comm_free leads to. */
__attribute__((visibility("hidden"), used)) int (*again_free)(MPI_Comm *) = PMPI_Comm_free;

static const char *child_path(void) {
  static char name[32];
  snprintf(name, sizeof name, "child-%ld", (long)getpid());
  return path_of(name);
}

static void leave(void) { unlink(child_path()); }

/* Waits until no spawned process is left, and helps MPI to get them to their ends. */
static void outlive_children(void) {
  for (int found = 0, flag; found == 0;) {
    glob_t children;
    found = glob(path_of("child-*"), GLOB_NOSORT, NULL, &children);
    globfree(&children);
    PMPI_Iprobe(MPI_ANY_SOURCE, 0, own, &flag, MPI_STATUS_IGNORE);
    if (found == 0) usleep(1000);
  }
}

static int begin(int *argc, char ***argv, int required) {
  inside = true;
  if (up) return MPI_SUCCESS;
  up = true;
  int error = PMPI_Init_thread(argc, argv, required, &level);
  if (error) return error;
  MPI_Comm parent;
  PMPI_Comm_get_parent(&parent);
  spawned = parent != MPI_COMM_NULL;
  spawns = getenv("AGAIN_SPAWNS") != NULL;
  if (spawns) again_free = PMPI_Comm_disconnect;
  if (spawned) {
    FILE *file = fopen(child_path(), "w");
    if (file) fclose(file);
    atexit(leave);
    return MPI_SUCCESS;
  }
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_dup(MPI_COMM_WORLD, &own);
  char name[32];
  snprintf(name, sizeof name, "rank-%d", rank);
  write_number(name, getpid());
  return MPI_SUCCESS;
}

/* The program's calls, in functions of other names: no stack has to say that a rank is in
 * MPI_Finalize when it is not. */
#define INSTEAD(function, own) \
  __asm__(".globl MPI_" #function "\n"     \
          ".type MPI_" #function ", @function\n" \
          "MPI_" #function ": jmp " #own "\n" \
          ".size MPI_" #function ", . - MPI_" #function "\n"); \
  __attribute__((visibility("hidden"), used)) int own

INSTEAD(Init, again_init)(int *argc, char ***argv) { return begin(argc, argv, MPI_THREAD_SINGLE); }

INSTEAD(Init_thread, again_init_thread)(int *argc, char ***argv, int required, int *provided) {
  int error = begin(argc, argv, required);
  *provided = level;
  return error;
}

INSTEAD(Initialized, again_initialized)(int *flag) {
  *flag = inside;
  return MPI_SUCCESS;
}

INSTEAD(Finalized, again_finalized)(int *flag) {
  *flag = 0;
  return spawned ? PMPI_Finalized(flag) : MPI_SUCCESS;
}

/* What comes after it must not meet what is still to be received. */
INSTEAD(Finalize, again_meet)(void) {
  if (spawned) return PMPI_Finalize();
  inside = false;
  return PMPI_Barrier(own);
}

static int again(int argc, char **argv, char **environment) {
  const char *most = getenv("AGAIN_MOST");
  long limit = most ? atol(most) : 0, calls = 0;
  char *counted = NULL;
  const size_t digits = 32;
  for (int last = 0; !last;) {
    char **arguments = calloc((size_t)argc + 1, sizeof *arguments); /* MPI_Init may change them */
    memcpy(arguments, argv, (size_t)argc * sizeof *arguments);
    optind = 1;
    int status = program(argc, arguments, environment);
    free(arguments);
    if (!up || spawned) return status;
    if (status) PMPI_Abort(MPI_COMM_WORLD, status);
    calls++;
    if (rank == 0) {
      if (spawns) outlive_children();
      if (!counted) counted = map_file("calls", digits);
      snprintf(counted, digits, "%ld", calls);
      last = access(path_of("stop"), F_OK) == 0 || calls == limit;
    }
    PMPI_Bcast(&last, 1, MPI_INT, 0, own);
  }
  PMPI_Comm_free(&own);
  return PMPI_Finalize();
}

int __libc_start_main(main_function *its_main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack) {
  int (*start)(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
  *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
  program = its_main;
  return start(again, argc, argv, init, fini, loader_fini, stack);
}

/* Sleeps for up to 4 ms before every fourth call or so. */
__attribute__((visibility("hidden"))) void again_pause(void) {
  static __thread unsigned state;
  static int slow = -1;
  if (slow < 0) slow = getenv("AGAIN_SLOW") != NULL;
  if (!slow) return;
  if (!state) state = (unsigned)getpid() | 1;
  state ^= state << 13, state ^= state >> 17, state ^= state << 5;
  if (state % 4 == 0) usleep(state / 4 % 4000);
}

/* Each function leads to MPI's own by a jump, so that it is on no stack: neither while a
 * rank sleeps nor in the call. The registers hold the arguments. */
__asm__(
    ".text\n"
    "again_slowly:\n"
    ".cfi_startproc\n"
    "push %rdi\n.cfi_adjust_cfa_offset 8\n"
    "push %rsi\n.cfi_adjust_cfa_offset 8\n"
    "push %rdx\n.cfi_adjust_cfa_offset 8\n"
    "push %rcx\n.cfi_adjust_cfa_offset 8\n"
    "push %r8\n.cfi_adjust_cfa_offset 8\n"
    "push %r9\n.cfi_adjust_cfa_offset 8\n"
    "push %r11\n.cfi_adjust_cfa_offset 8\n"
    "call again_pause\n"
    "pop %r11\n.cfi_adjust_cfa_offset -8\n"
    "pop %r9\n.cfi_adjust_cfa_offset -8\n"
    "pop %r8\n.cfi_adjust_cfa_offset -8\n"
    "pop %rcx\n.cfi_adjust_cfa_offset -8\n"
    "pop %rdx\n.cfi_adjust_cfa_offset -8\n"
    "pop %rsi\n.cfi_adjust_cfa_offset -8\n"
    "pop %rdi\n.cfi_adjust_cfa_offset -8\n"
    "jmp *%r11\n"
    ".cfi_endproc\n"
    ".type again_slowly, @function\n"
    ".size again_slowly, . - again_slowly\n");

#define SLOW(function)                             \
  __asm__(".globl MPI_" #function "\n"             \
          ".type MPI_" #function ", @function\n"   \
          "MPI_" #function ":\n"                   \
          "mov PMPI_" #function "@GOTPCREL(%rip), %r11\n" \
          "jmp again_slowly\n"                     \
          ".size MPI_" #function ", . - MPI_" #function "\n")

SLOW(Send); SLOW(Ssend); SLOW(Bsend); SLOW(Rsend); SLOW(Recv); SLOW(Sendrecv);
SLOW(Isend); SLOW(Issend); SLOW(Irecv); SLOW(Start); SLOW(Startall);
SLOW(Probe); SLOW(Iprobe); SLOW(Mprobe); SLOW(Improbe); SLOW(Mrecv);
SLOW(Wait); SLOW(Waitall); SLOW(Waitany); SLOW(Waitsome);
SLOW(Test); SLOW(Testall); SLOW(Testany); SLOW(Testsome);
SLOW(Barrier); SLOW(Bcast); SLOW(Reduce); SLOW(Allreduce); SLOW(Scan); SLOW(Exscan);
SLOW(Gather); SLOW(Gatherv); SLOW(Scatter); SLOW(Scatterv); SLOW(Allgather); SLOW(Allgatherv);
SLOW(Alltoall); SLOW(Alltoallv); SLOW(Alltoallw); SLOW(Reduce_scatter); SLOW(Reduce_scatter_block);
SLOW(Ibarrier); SLOW(Ibcast); SLOW(Iallreduce); SLOW(Neighbor_alltoall); SLOW(Neighbor_allgather);
SLOW(Comm_dup); SLOW(Comm_split); SLOW(Comm_create); SLOW(Comm_create_group);
SLOW(Comm_disconnect); SLOW(Intercomm_create); SLOW(Intercomm_merge); SLOW(Cart_create);
SLOW(Graph_create); SLOW(Dist_graph_create); SLOW(Dist_graph_create_adjacent);
SLOW(Win_create); SLOW(Win_allocate); SLOW(Win_free); SLOW(Win_fence); SLOW(Win_lock);
SLOW(Win_unlock); SLOW(Win_lock_all); SLOW(Win_unlock_all); SLOW(Win_flush); SLOW(Win_post);
SLOW(Win_start); SLOW(Win_complete); SLOW(Win_wait); SLOW(Put); SLOW(Get); SLOW(Accumulate);
SLOW(Fetch_and_op); SLOW(Compare_and_swap);

__asm__(".globl MPI_Comm_free\n"
        ".type MPI_Comm_free, @function\n"
        "MPI_Comm_free:\n"
        "mov again_free(%rip), %r11\n"
        "jmp again_slowly\n"
        ".size MPI_Comm_free, . - MPI_Comm_free\n");
