/*
 * What the call-backs give, checked on everything that can be known, and on
 * handles that are not what they should be: NULL, another kind's, and no
 * handles at all. Those must get an error, and never end in a crash.
 */
#include "reference.h"

#include <stdint.h>
#include <string.h>

/* Pointers of this DLL's own, which no debugger has given out. */
static char own[64];
static void *const strangers[] = {NULL, own, (void *)0x1234, (void *)UINTPTR_MAX};
enum { STRANGERS = sizeof strangers / sizeof *strangers };

static char no_name[] = "toy_no_such_name";

void check_basic(void) {
  CHECK(basic->mqs_malloc_fp && basic->mqs_free_fp && basic->mqs_dprints_fp && basic->mqs_errorstring_fp &&
            basic->mqs_put_image_info_fp && basic->mqs_get_image_info_fp && basic->mqs_put_process_info_fp &&
            basic->mqs_get_process_info_fp,
        "an entry of mqs_basic_callbacks is NULL");
  for (size_t size = 1; size <= 1 << 20; size *= 32) {
    char *block = basic->mqs_malloc_fp(size);
    CHECK(block && (uintptr_t)block % 16 == 0, "mqs_malloc(%zu) gives %p", size, (void *)block);
    if (!block) continue;
    memset(block, 0xa5, size);
    basic->mqs_free_fp(block);
  }
  basic->mqs_free_fp(basic->mqs_malloc_fp(0));
  basic->mqs_free_fp(NULL);
  basic->mqs_dprints_fp("the reference DLL says 100%s of %n %d\n");
  basic->mqs_dprints_fp("");
  static const int codes[] = {mqs_ok, mqs_no_information, mqs_end_of_list, mqs_first_user_code, -1, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    const char *words = basic->mqs_errorstring_fp(codes[i]);
    CHECK(words && strnlen(words, 4096) < 4096, "mqs_errorstring(%d) is no string", codes[i]);
  }
  for (int i = 0; i < STRANGERS; i++) {
    basic->mqs_put_image_info_fp(strangers[i], (mqs_image_info *)own);
    CHECK(!basic->mqs_get_image_info_fp(strangers[i]), "the stranger %p has image information", strangers[i]);
    basic->mqs_put_process_info_fp(strangers[i], (mqs_process_info *)own);
    CHECK(!basic->mqs_get_process_info_fp(strangers[i]), "the stranger %p has process information", strangers[i]);
  }
}

/* What is put must come back, whatever it was before. */
static void check_image_info(mqs_image_info *info) {
  CHECK(basic->mqs_get_image_info_fp(info->image) == NULL, "a new image has information");
  basic->mqs_put_image_info_fp(info->image, (mqs_image_info *)own);
  CHECK(basic->mqs_get_image_info_fp(info->image) == (mqs_image_info *)own, "mqs_get_image_info does not give what was put");
  basic->mqs_put_image_info_fp(info->image, NULL);
  CHECK(basic->mqs_get_image_info_fp(info->image) == NULL, "mqs_get_image_info does not give the NULL that was put");
  basic->mqs_put_image_info_fp(info->image, info);
  CHECK(basic->mqs_get_image_info_fp(info->image) == info, "mqs_get_image_info does not give what was put last");
}

static void check_names(mqs_image_info *info) {
  const mqs_image_callbacks *c = info->calls;
  mqs_image *image = info->image;
  mqs_taddr_t address = 0;
  int code = c->mqs_find_symbol_fp(image, "toy_state", NULL);
  CHECK(code == mqs_ok, "mqs_find_symbol(toy_state, NULL) is %d", code);
  code = c->mqs_find_function_fp(image, "toy_changed", mqs_lang_c, NULL);
  CHECK(code == mqs_ok, "mqs_find_function(toy_changed, NULL) is %d", code);
  code = c->mqs_find_function_fp(image, "toy_changed", mqs_lang_c, &address);
  CHECK(code == mqs_ok && address, "mqs_find_function(toy_changed) is %d, at %#lx", code, address);
  code = c->mqs_find_symbol_fp(image, no_name, &address);
  CHECK(code == mqs_no_information, "mqs_find_symbol of no symbol is %d", code);
  code = c->mqs_find_symbol_fp(image, no_name, NULL);
  CHECK(code == mqs_no_information, "mqs_find_symbol(no symbol, NULL) is %d", code);
  static const mqs_lang_code languages[] = {mqs_lang_c, mqs_lang_cplus, mqs_lang_f77, mqs_lang_f90};
  for (int i = 0; i < 4; i++) {
    code = c->mqs_find_function_fp(image, no_name, languages[i], &address);
    CHECK(code == mqs_no_information, "mqs_find_function of no function in language %c is %d", languages[i], code);
    CHECK(!c->mqs_find_type_fp(image, no_name, languages[i]), "mqs_find_type finds no type in language %c", languages[i]);
  }
  CHECK(!c->mqs_find_type_fp(image, "", mqs_lang_c), "mqs_find_type finds a type without a name");
  code = c->mqs_find_symbol_fp(image, NULL, &address);
  CHECK(code != mqs_ok, "mqs_find_symbol finds NULL");
  CHECK(!c->mqs_find_type_fp(image, NULL, mqs_lang_c), "mqs_find_type finds NULL");
}

static void check_type(const mqs_image_callbacks *c, mqs_type *type, const char *what) {
  int answer = c->mqs_field_offset_fp(type, "comms");
  CHECK(answer == -1, "mqs_field_offset in %s is %d", what, answer);
  answer = c->mqs_sizeof_fp(type);
  CHECK(answer <= 0, "mqs_sizeof of %s is %d", what, answer);
}

void check_image(mqs_image_info *info) {
  const mqs_image_callbacks *c = info->calls;
  CHECK(c->mqs_get_type_sizes_fp && c->mqs_find_function_fp && c->mqs_find_symbol_fp && c->mqs_find_type_fp &&
            c->mqs_field_offset_fp && c->mqs_sizeof_fp,
        "an entry of mqs_image_callbacks is NULL");
  check_image_info(info);
  check_names(info);
  for (int i = 0; i < STRANGERS; i++) {
    mqs_taddr_t address;
    CHECK(c->mqs_find_symbol_fp(strangers[i], "toy_state", &address) != mqs_ok, "there is a symbol in the stranger %p", strangers[i]);
    CHECK(c->mqs_find_function_fp(strangers[i], "toy_changed", mqs_lang_c, &address) != mqs_ok,
          "there is a function in the stranger %p", strangers[i]);
    CHECK(!c->mqs_find_type_fp(strangers[i], "toy_state_t", mqs_lang_c), "there is a type in the stranger %p", strangers[i]);
    check_type(c, strangers[i], "a stranger");
  }
  check_type(c, (mqs_type *)info->image, "an image");
  mqs_type *type = c->mqs_find_type_fp(info->image, "toy_state_t", mqs_lang_c);
  if (type) {
    int answer = c->mqs_field_offset_fp(type, no_name);
    CHECK(answer == -1, "mqs_field_offset of no field is %d", answer);
    answer = c->mqs_field_offset_fp(type, NULL);
    CHECK(answer == -1, "mqs_field_offset of NULL is %d", answer);
    CHECK(c->mqs_find_symbol_fp((mqs_image *)type, "toy_state", NULL) != mqs_ok, "there is a symbol in a type");
    CHECK(!basic->mqs_get_image_info_fp((mqs_image *)type), "a type has image information");
  }
}

/* What the process's ABI has, and whether its byte order is the other one: a test may make up
   processes that this machine can't run. */
#ifndef LONG_SIZE
#define LONG_SIZE (int)sizeof(toy_long)
#endif
#ifndef OTHER_ORDER
#define OTHER_ORDER 0
#endif

/* A table of five ints, with guards behind them: some hosts know seven. */
static void check_sizes(mqs_process_info *p) {
  struct {
    mqs_target_type_sizes sizes;
    int guards[2];
  } given = {.guards = {0x5a5a5a5a, 0x5a5a5a5a}};
  p->image->calls->mqs_get_type_sizes_fp(p->process, &given.sizes);
  mqs_target_type_sizes s = given.sizes;
  CHECK(s.short_size == 2 && s.int_size == 4 && s.long_size == LONG_SIZE && s.long_long_size == 8 && s.pointer_size == (int)sizeof(toy_address),
        "mqs_get_type_sizes gives %d %d %d %d %d", s.short_size, s.int_size, s.long_size, s.long_long_size, s.pointer_size);
  CHECK(given.guards[0] == 0x5a5a5a5a && given.guards[1] == 0x5a5a5a5a, "mqs_get_type_sizes writes more than five");
  for (int i = 0; i < STRANGERS; i++) p->image->calls->mqs_get_type_sizes_fp(strangers[i], &given.sizes);
}

void check_process(mqs_process_info *p) {
  const mqs_process_callbacks *c = p->calls;
  CHECK(c->mqs_get_global_rank_fp && c->mqs_get_image_fp && c->mqs_fetch_data_fp && c->mqs_target_to_host_fp,
        "an entry of mqs_process_callbacks is NULL");
  CHECK(basic->mqs_get_process_info_fp(p->process) == NULL, "a new process has information");
  basic->mqs_put_process_info_fp(p->process, (mqs_process_info *)own);
  CHECK(basic->mqs_get_process_info_fp(p->process) == (mqs_process_info *)own, "mqs_get_process_info does not give what was put");
  basic->mqs_put_process_info_fp(p->process, p);
  CHECK(basic->mqs_get_process_info_fp(p->process) == p, "mqs_get_process_info does not give what was put last");
  CHECK(basic->mqs_get_image_info_fp(p->image->image) == p->image, "the image has lost its information");
  check_sizes(p);

  mqs_image *as_image = (mqs_image *)p->process;
  mqs_process *as_process = (mqs_process *)p->image->image;
  CHECK(!basic->mqs_get_image_info_fp(as_image), "a process has image information");
  CHECK(!basic->mqs_get_process_info_fp(as_process), "an image has process information");
  basic->mqs_put_process_info_fp(as_process, (mqs_process_info *)own);
  CHECK(basic->mqs_get_image_info_fp(p->image->image) == p->image, "an image takes process information");
  CHECK(p->image->calls->mqs_find_symbol_fp(as_image, "toy_state", NULL) != mqs_ok, "there is a symbol in a process");
  CHECK(!p->image->calls->mqs_find_type_fp(as_image, "toy_state_t", mqs_lang_c), "there is a type in a process");
  CHECK(!c->mqs_get_image_fp(as_process), "an image has an image");
  check_type(p->image->calls, (mqs_type *)p->process, "a process");
  char byte;
  CHECK(c->mqs_fetch_data_fp(as_process, p->image->state, 1, &byte) != mqs_ok, "an image has memory");
  for (int i = 0; i < STRANGERS; i++) {
    CHECK(!c->mqs_get_image_fp(strangers[i]), "the stranger %p has an image", strangers[i]);
    CHECK(c->mqs_get_global_rank_fp(strangers[i]) < 0, "the stranger %p has a rank", strangers[i]);
    CHECK(c->mqs_fetch_data_fp(strangers[i], p->image->state, 1, &byte) != mqs_ok, "the stranger %p has memory", strangers[i]);
  }
}

/* What can't be read is an error, and what can be is there byte by byte. */
void check_memory(mqs_process_info *p) {
  const mqs_process_callbacks *c = p->calls;
  const mqs_taddr_t at = p->image->state;
  char whole[sizeof(toy_state_t)] = "", piece[sizeof whole], bytes[16];
  int code = c->mqs_fetch_data_fp(p->process, at, sizeof whole, whole);
  CHECK(code == mqs_ok, "mqs_fetch_data of toy_state is %d", code);
  for (int i = 0; i < (int)sizeof piece; i++) {
    code = c->mqs_fetch_data_fp(p->process, at + (mqs_taddr_t)i, 1, &piece[i]);
    CHECK(code == mqs_ok, "mqs_fetch_data of byte %d of toy_state is %d", i, code);
  }
  CHECK(!memcmp(whole, piece, sizeof piece), "toy_state byte by byte is not toy_state");

  static const struct {
    mqs_taddr_t address;
    int size;
  } unreadable[] = {{0, 1}, {8, 8}, {0x10, 4096}, {UINT64_MAX, 1}, {UINT64_MAX - 3, 8}, {0x800000000000, 8}, {0x4141414141414141, 4}};
  for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) {
    static char room[4096];
    code = c->mqs_fetch_data_fp(p->process, unreadable[i].address, unreadable[i].size, room);
    CHECK(code != mqs_ok, "mqs_fetch_data(%#lx, %d) is %d", unreadable[i].address, unreadable[i].size, code);
  }
  memset(bytes, 'b', sizeof bytes);
  code = c->mqs_fetch_data_fp(p->process, at, 0, bytes);
  CHECK(bytes[0] == 'b', "mqs_fetch_data of 0 bytes (%d) writes", code);
  code = c->mqs_fetch_data_fp(p->process, at, -1, bytes);
  CHECK(code != mqs_ok && bytes[0] == 'b', "mqs_fetch_data of -1 bytes is %d", code);
  code = c->mqs_fetch_data_fp(p->process, at, INT32_MIN, bytes);
  CHECK(code != mqs_ok && bytes[0] == 'b', "mqs_fetch_data of %d bytes is %d", INT32_MIN, code);

  /* No size is special. */
  for (int size = 0; size <= 13; size++) {
    char want[16];
    for (int i = 0; i < size; i++) want[i] = "0123456789abcdef"[OTHER_ORDER ? size - 1 - i : i];
    memset(bytes, 'b', sizeof bytes);
    c->mqs_target_to_host_fp(p->process, "0123456789abcdef", bytes, size);
    CHECK(!memcmp(bytes, want, (size_t)size) && bytes[size] == 'b', "mqs_target_to_host of %d bytes is wrong", size);
  }
  c->mqs_target_to_host_fp(p->process, "0123456789abcdef", bytes, -1);
}

void check_job(mqs_job_info *info, mqs_process *process) {
  const mqs_job_callbacks *c = info->calls;
  CHECK(basic->mqs_get_job_info_fp(info->job) == info, "mqs_get_job_info does not give what was put");
  CHECK(!c->mqs_get_process_fp(info->job, -1), "the job has a process -1");
  CHECK(!c->mqs_get_process_fp(info->job, INT32_MAX), "the job has a process %d", INT32_MAX);
  CHECK(!basic->mqs_get_image_info_fp((mqs_image *)info->job), "a job has image information");
  CHECK(!basic->mqs_get_process_info_fp((mqs_process *)info->job), "a job has process information");
  for (int i = 0; i < STRANGERS; i++) {
    basic->mqs_put_job_info_fp(strangers[i], (mqs_job_info *)own);
    CHECK(!basic->mqs_get_job_info_fp(strangers[i]), "the stranger %p has job information", strangers[i]);
    CHECK(!c->mqs_get_process_fp(strangers[i], 0), "the stranger %p has processes", strangers[i]);
  }
  if (!process) return;
  mqs_process_info *p = basic->mqs_get_process_info_fp(process);
  CHECK(p->calls->mqs_get_process_job_fp && p->calls->mqs_get_process_identity_fp,
        "an entry of version 3 of mqs_process_callbacks is NULL");
  CHECK(p->calls->mqs_get_process_job_fp(process) == info->job, "the process is of another job");
  for (int i = 0; i < STRANGERS; i++)
    CHECK(!p->calls->mqs_get_process_job_fp(strangers[i]), "the stranger %p is of a job", strangers[i]);
  int identity = p->calls->mqs_get_process_identity_fp((mqs_job *)process);
  log_entry("  identity %d, of its job %d", identity, p->calls->mqs_get_process_identity_fp(info->job));
  CHECK(identity >= 0, "the identity of a process is %d", identity);
  if (identity >= 0)
    CHECK(c->mqs_get_process_fp(info->job, identity) == process, "mqs_get_process(%d) is not the process of this identity", identity);
}
