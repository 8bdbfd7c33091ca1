/*
 * toy: a process of the toy MPI of toy.h, which waits with what toy_content.h
 * has pending. No MPI is needed.
 *
 *   toy OUTDIR [DLL [receives N | bare]]
 *
 * DLL is the path of its queue DLL. N more receives stand on its last
 * communicator but one; bare: there is no communicator at all. The account that
 * it writes tells its process id only. Under a launcher each of its ranks writes one.
 *
 * A file OUTDIR/change makes it change its lists and call toy_changed: the first
 * time it frees the communicator "no group" and posts a receive, the second time
 * it makes a communicator. It ends on OUTDIR/stop.
 *
 * How it tells where the DLL is, which differs between vendors:
 *
 *   (default)          char MPIR_dll_name[]
 *   NAME_POINTER       char *MPIR_dll_name
 *   NAME_LOCATIONS     char **mpimsgq_dll_locations, whose first candidates are
 *                      not there; MPIR_dll_name is not either
 *   NAME_BARE          the array, and no debug information on it
 *   NAME_BARE_POINTER  the pointer, and no debug information on it
 *   NAME_NONE          it does not
 *
 * One that asks for a debugger (ASKS) has MPIR_being_debugged.
 */
#define _POSIX_C_SOURCE 200809L
#include "toy_content.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

toy_state_t toy_state = {.magic = TOY_MAGIC, .world_rank = 1, .world_size = 4, .comms = comms};

enum { PATH = 4096 };

#if defined NAME_POINTER
char *MPIR_dll_name;
#define NAME_IS_A_POINTER
#elif defined NAME_LOCATIONS
char MPIR_dll_name[PATH] = "/nowhere/libold.so";
char **mpimsgq_dll_locations;
#elif defined NAME_BARE || defined NAME_BARE_POINTER
/* In assembler, since a compiler describes all that it makes. */
#ifdef NAME_BARE
#define SIZE "4096"
extern char plain_name[PATH] __asm__("MPIR_dll_name");
#else
#define SIZE "8"
extern char *plain_name __asm__("MPIR_dll_name");
#define NAME_IS_A_POINTER
#endif
__asm__(".pushsection .bss\n.balign 16\n.globl MPIR_dll_name\n.type MPIR_dll_name, @object\n"
        ".size MPIR_dll_name, " SIZE "\nMPIR_dll_name: .zero " SIZE "\n.popsection");
#define MPIR_dll_name plain_name
#elif !defined NAME_NONE
char MPIR_dll_name[PATH];
#endif

#ifdef ASKS
volatile int MPIR_being_debugged;
#endif

static const char *outdir;

static FILE *file(const char *name, const char *mode) {
  char path[PATH];
  snprintf(path, sizeof path, "%s/%s", outdir, name);
  return fopen(path, mode);
}

static void write_file(const char *name, const char *text) {
  FILE *f = file(name, "w");
  if (!f || fputs(text, f) < 0 || fclose(f)) {
    perror(name);
    exit(1);
  }
}

static int is_there(const char *name) {
  FILE *f = file(name, "r");
  if (f) fclose(f);
  return f != NULL;
}

static void tell_dll(const char *path) {
#if defined NAME_NONE
  (void)path;
#elif defined NAME_LOCATIONS
  static char place[PATH];
  static char *places[] = {"/nowhere/libtoy.so", "", "/nowhere/else/libtoy.so", place, NULL};
  snprintf(place, sizeof place, "%s", path);
  mpimsgq_dll_locations = places;
#elif defined NAME_IS_A_POINTER
  static char place[PATH];
  snprintf(place, sizeof place, "%s", path);
  MPIR_dll_name = place;
#else
  snprintf(MPIR_dll_name, sizeof MPIR_dll_name, "%s", path);
#endif
}

/* Where a debugger can stop behind a change, and find_function has something to find. */
void toy_changed(void);
void toy_changed(void) { __asm__ volatile(""); }

static void change(void) {
  switch (toy_state.sequence++) {
  case 0:
    comms[NO_GROUP - 1].next = comms[NO_GROUP].next;
    memset(&comms[NO_GROUP], 0xdd, sizeof comms[NO_GROUP]);
    world_receives[0].next = &new_receive;
    new_receive.next = &world_receives[1];
    break;
  case 1:
    new_comm.next = toy_state.comms;
    toy_state.comms = &new_comm;
    break;
  }
}

static void post(long count) {
  toy_operation_t *all = calloc((size_t)count, sizeof *all);
  if (!all) exit(1);
  for (long i = 0; i < count; i++)
    all[i] = (toy_operation_t){.next = i + 1 < count ? &all[i + 1] : NULL, .desired_local_rank = i % 4,
                               .desired_global_rank = i % 4, .desired_tag = i, .desired_length = 4 * i,
                               .buffer = 0x7f1000000000 + 4096 * (unsigned long)i};
  comms[TROUBLED - 1].queues[RECEIVES] = all;
}

static _Noreturn void usage(void) {
  fputs("usage: toy OUTDIR [DLL [receives N | bare]]\n", stderr);
  exit(1);
}

/* What a launcher says: Open MPI's, or hydra. Nobody else knows. */
static int launched_rank(void) {
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  if (!rank) rank = getenv("PMI_RANK");
  return rank ? atoi(rank) : 0;
}

int main(int argc, char **argv) {
  if (argc < 2) usage();
  outdir = argv[1];
  if (argc > 2) tell_dll(argv[2]);
  if (argc == 5 && !strcmp(argv[3], "receives")) post(atol(argv[4]));
  else if (argc == 4 && !strcmp(argv[3], "bare")) toy_state.comms = NULL;
  else if (argc > 3) usage();

  char account[128];
  snprintf(account, sizeof account, "{\"pid\":%ld,\"global_rank\":null,\"world_size\":null,\"communicators\":[]}\n",
           (long)getpid());
  alarm(600);
  char name[32];
  snprintf(name, sizeof name, "rank-%d.json", launched_rank());
  write_file(name, account);
  snprintf(name, sizeof name, "ready-%d", launched_rank());
  write_file(name, "");
  while (!is_there("stop")) {
    if (is_there("change")) {
      char path[PATH];
      snprintf(path, sizeof path, "%s/change", outdir);
      remove(path);
      change();
      toy_changed();
    }
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  }
}
