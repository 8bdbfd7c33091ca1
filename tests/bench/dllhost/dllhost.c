/*
 * dllhost: lists pending receives with an MPI's own message queue DLL.
 *
 *   dllhost PID LAYOUT
 *
 * What the product is measured against: the DLL runs in this process, and each
 * of its fetches is one process_vm_readv. The library being stripped, types and
 * offsets come from the file LAYOUT, made by the benchmark:
 *
 *   type NAME SIZE
 *   field TYPE NAME OFFSET
 *
 * Symbols come from the .dynsym of the files that PID has mapped. A receive is
 * a line on stdout; at the end "dllhost: N receives, F fetches" is on stderr.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static _Noreturn void die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("dllhost: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  exit(1);
}

/* The interface, on LP64. */
typedef unsigned long taddr;
typedef long tword;
enum { mqs_ok, mqs_no_information, mqs_end_of_list, mqs_first_user_code = 100 };
enum { mqs_pending_sends, mqs_pending_receives, mqs_unexpected_messages };

struct type_sizes {
  int short_size, int_size, long_size, long_long_size, pointer_size;
};
struct communicator {
  taddr unique_id;
  tword local_rank, size;
  char name[64];
};
struct operation {
  int status;
  tword desired_local_rank, desired_global_rank;
  int tag_wild;
  tword desired_tag, desired_length;
  int system_buffer;
  taddr buffer;
  tword actual_local_rank, actual_global_rank, actual_tag, actual_length;
  char extra_text[5][64];
};
_Static_assert(sizeof(struct communicator) == 88, "mqs_communicator");
_Static_assert(sizeof(struct operation) == 416, "mqs_pending_operation");

/* The debugger's objects. The DLL keeps one pointer of its own with each. */
struct image {
  void *info;
};
struct process {
  void *info;
  struct image *image;
  pid_t pid;
  long fetches;
};
struct field {
  struct field *next;
  char name[64];
  int offset;
};
struct type {
  struct type *next;
  char name[64];
  int size;
  struct field *fields;
};

struct mapping {
  char path[512];
  unsigned long start;
};

static struct type *types;
static struct mapping mappings[512];
static int mapping_count;

/* Basic call-backs. */
static void *cb_malloc(size_t size) { return malloc(size); }
static void cb_free(void *p) { free(p); }
static void cb_dprints(const char *text) { fputs(text, stderr); }
static char *cb_errorstring(int code) {
  static char text[32];
  snprintf(text, sizeof text, "error %d", code);
  return text;
}
static void cb_put_image_info(struct image *i, void *info) { i->info = info; }
static void *cb_get_image_info(struct image *i) { return i->info; }
static void cb_put_process_info(struct process *p, void *info) { p->info = info; }
static void *cb_get_process_info(struct process *p) { return p->info; }

static const struct {
  void *(*malloc)(size_t);
  void (*free)(void *);
  void (*dprints)(const char *);
  char *(*errorstring)(int);
  void (*put_image_info)(struct image *, void *);
  void *(*get_image_info)(struct image *);
  void (*put_process_info)(struct process *, void *);
  void *(*get_process_info)(struct process *);
} basic_callbacks = {cb_malloc,         cb_free,           cb_dprints,          cb_errorstring,
                     cb_put_image_info, cb_get_image_info, cb_put_process_info, cb_get_process_info};

/* Image call-backs. */
static taddr symbol_in(const struct mapping *m, const char *name) {
  int fd = open(m->path, O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0) return 0;
  if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr)) {
    close(fd);
    return 0;
  }
  const char *base = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (base == MAP_FAILED) return 0;
  taddr found = 0;
  const Elf64_Ehdr *e = (const void *)base;
  if (!memcmp(e->e_ident, ELFMAG, SELFMAG) && e->e_ident[EI_CLASS] == ELFCLASS64) {
    const Elf64_Phdr *ph = (const void *)(base + e->e_phoff);
    unsigned long lowest = -1UL;
    for (int i = 0; i < e->e_phnum; i++)
      if (ph[i].p_type == PT_LOAD && ph[i].p_vaddr < lowest) lowest = ph[i].p_vaddr;
    const Elf64_Shdr *sh = (const void *)(base + e->e_shoff);
    for (int i = 0; e->e_shoff && i < e->e_shnum; i++) {
      if (sh[i].sh_type != SHT_DYNSYM) continue;
      const Elf64_Sym *sym = (const void *)(base + sh[i].sh_offset);
      const char *strings = base + sh[sh[i].sh_link].sh_offset;
      for (size_t k = 0; !found && k < sh[i].sh_size / sizeof *sym; k++)
        if (sym[k].st_shndx != SHN_UNDEF && !strcmp(strings + sym[k].st_name, name))
          found = m->start - (lowest & ~4095UL) + sym[k].st_value;
    }
  }
  munmap((void *)base, (size_t)st.st_size);
  return found;
}

static taddr find_symbol(const char *name) {
  for (int i = 0; i < mapping_count; i++) {
    taddr a = symbol_in(&mappings[i], name);
    if (a) return a;
  }
  return 0;
}

static void cb_get_type_sizes(struct process *p, struct type_sizes *s) {
  (void)p;
  *s = (struct type_sizes){sizeof(short), sizeof(int), sizeof(long), sizeof(long long), sizeof(void *)};
}
static int cb_find_symbol(struct image *i, char *name, taddr *address) {
  (void)i;
  taddr a = find_symbol(name);
  if (a && address) *address = a;
  return a ? mqs_ok : mqs_no_information;
}
static int cb_find_function(struct image *i, char *name, int language, taddr *address) {
  (void)language;
  return cb_find_symbol(i, name, address);
}
static struct type *cb_find_type(struct image *i, char *name, int language) {
  (void)i;
  (void)language;
  for (struct type *t = types; t; t = t->next)
    if (!strcmp(t->name, name)) return t;
  return NULL;
}
static int cb_field_offset(struct type *t, char *name) {
  for (struct field *f = t->fields; f; f = f->next)
    if (!strcmp(f->name, name)) return f->offset;
  return -1;
}
static int cb_sizeof(struct type *t) { return t->size; }

static const struct {
  void (*get_type_sizes)(struct process *, struct type_sizes *);
  int (*find_function)(struct image *, char *, int, taddr *);
  int (*find_symbol)(struct image *, char *, taddr *);
  struct type *(*find_type)(struct image *, char *, int);
  int (*field_offset)(struct type *, char *);
  int (*sizeof_type)(struct type *);
} image_callbacks = {cb_get_type_sizes, cb_find_function, cb_find_symbol,
                     cb_find_type,      cb_field_offset,  cb_sizeof};

/* Process call-backs. */
static int cb_get_global_rank(struct process *p) {
  (void)p;
  return 0;
}
static struct image *cb_get_image(struct process *p) { return p->image; }
static int cb_fetch_data(struct process *p, taddr address, int size, void *into) {
  struct iovec local = {into, (size_t)size}, remote = {(void *)address, (size_t)size};
  p->fetches++;
  return process_vm_readv(p->pid, &local, 1, &remote, 1, 0) == size ? mqs_ok : mqs_no_information;
}
static void cb_target_to_host(struct process *p, const void *in, void *out, int size) {
  (void)p;
  memcpy(out, in, (size_t)size);
}

static const struct {
  int (*get_global_rank)(struct process *);
  struct image *(*get_image)(struct process *);
  int (*fetch_data)(struct process *, taddr, int, void *);
  void (*target_to_host)(struct process *, const void *, void *, int);
} process_callbacks = {cb_get_global_rank, cb_get_image, cb_fetch_data, cb_target_to_host};

static void read_layout(const char *path) {
  FILE *f = fopen(path, "r");
  if (!f) die("can't read %s", path);
  char line[256], type[64], name[64];
  int n;
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "type %63s %d", name, &n) == 2) {
      struct type *t = calloc(1, sizeof *t);
      strcpy(t->name, name);
      t->size = n;
      t->next = types;
      types = t;
    } else if (sscanf(line, "field %63s %63s %d", type, name, &n) == 3 && types && !strcmp(types->name, type)) {
      struct field *new = calloc(1, sizeof *new);
      strcpy(new->name, name);
      new->offset = n;
      new->next = types->fields;
      types->fields = new;
    } else {
      die("%s: what is this: %s", path, line);
    }
  }
  fclose(f);
}

static void read_mappings(pid_t pid) {
  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  FILE *f = fopen(path, "r");
  if (!f) die("no process %d", (int)pid);
  while (fgets(line, sizeof line, f)) {
    unsigned long start, offset;
    char file[512];
    if (sscanf(line, "%lx-%*x %*s %lx %*s %*s %511s", &start, &offset, file) != 3 || file[0] != '/' || offset)
      continue;
    if (mapping_count == sizeof mappings / sizeof *mappings) die("too many files are mapped");
    strcpy(mappings[mapping_count].path, file);
    mappings[mapping_count++].start = start;
  }
  fclose(f);
}

#define ENTRY(name, result, ...)                              \
  result (*name)(__VA_ARGS__) = (result(*)(__VA_ARGS__))dlsym(dll, #name); \
  if (!name) die("%s has no %s", path, #name)

int main(int argc, char **argv) {
  if (argc != 3) die("usage: dllhost PID LAYOUT");
  static struct image image;
  static struct process process = {.image = &image};
  process.pid = atoi(argv[1]);
  read_mappings(process.pid);
  read_layout(argv[2]);

  char path[512] = "";
  taddr name = find_symbol("MPIR_dll_name");
  if (!name || cb_fetch_data(&process, name, sizeof path - 1, path)) die("process %s has no MPIR_dll_name", argv[1]);
  void *dll = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!dll) die("%s", dlerror());

  ENTRY(mqs_setup_basic_callbacks, void, const void *);
  ENTRY(mqs_version_compatibility, int, void);
  ENTRY(mqs_setup_image, int, struct image *, const void *);
  ENTRY(mqs_image_has_queues, int, struct image *, char **);
  ENTRY(mqs_setup_process, int, struct process *, const void *);
  ENTRY(mqs_process_has_queues, int, struct process *, char **);
  ENTRY(mqs_update_communicator_list, int, struct process *);
  ENTRY(mqs_setup_communicator_iterator, int, struct process *);
  ENTRY(mqs_get_communicator, int, struct process *, struct communicator *);
  ENTRY(mqs_next_communicator, int, struct process *);
  ENTRY(mqs_setup_operation_iterator, int, struct process *, int);
  ENTRY(mqs_next_operation, int, struct process *, struct operation *);

  char *message = NULL;
  mqs_setup_basic_callbacks(&basic_callbacks);
  int version = mqs_version_compatibility();
  if (version < 2 || version > 3) die("%s is of version %d", path, version);
  if (mqs_setup_image(&image, &image_callbacks)) die("no image");
  if (mqs_image_has_queues(&image, &message)) die("no queues in the image: %s", message ? message : "");
  if (mqs_setup_process(&process, &process_callbacks)) die("no process");
  if (mqs_process_has_queues(&process, &message)) die("no queues in the process: %s", message ? message : "");

  long receives = 0;
  mqs_update_communicator_list(&process);
  for (int r = mqs_setup_communicator_iterator(&process); r == mqs_ok; r = mqs_next_communicator(&process)) {
    struct communicator c;
    if (mqs_get_communicator(&process, &c)) die("no communicator where there should be one");
    printf("%.64s (0x%lx): rank %ld of %ld\n", c.name, c.unique_id, c.local_rank, c.size);
    if (mqs_setup_operation_iterator(&process, mqs_pending_receives)) continue;
    struct operation op;
    while (mqs_next_operation(&process, &op) == mqs_ok) {
      receives++;
      printf("  %d from %d tag %d%s bytes %ld buffer 0x%lx", op.status, (int)op.desired_local_rank,
             (int)op.desired_tag, op.tag_wild ? " (any)" : "", op.desired_length, op.buffer);
      for (int i = 0; i < 5 && op.extra_text[i][0]; i++) printf(" %.64s", op.extra_text[i]);
      putchar('\n');
    }
  }
  if (fflush(stdout)) die("the output can't be written");
  fprintf(stderr, "dllhost: %ld receives, %ld fetches\n", receives, process.fetches);
  return 0;
}
