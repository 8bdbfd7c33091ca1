/* The entry points of a DLL with one fault: see rogue.h. */
#include "rogue.h"

#define ENTRY(name) good_##name
#include "reference.c"

const mqs_image_callbacks *image_calls;
const mqs_process_callbacks *process_calls;

/* Does what stands before the entry point's own work. */
static void before(const char *entry, mqs_image *image, mqs_process *process) {
  if (!strcmp(fault_entry, entry)) strike(fault_kind, image, process);
}

__attribute__((constructor)) static void loaded(void) { before("dlopen", NULL, NULL); }

static int number(const char *entry, int result) { return FAULTY("answer", entry) ? (int)fault_answer : result; }

static char *text(const char *entry, char *result) {
  if (FAULTY("garbage", entry)) return garbage();
  if (FAULTY("unterminated", entry)) return unterminated();
  if (FAULTY("empty", entry)) return "";
  return FAULTY("nothing", entry) ? NULL : result;
}

char *mqs_version_string(void) {
  before("mqs_version_string", NULL, NULL);
  return text("mqs_version_string", good_mqs_version_string());
}

int mqs_version_compatibility(void) {
  before("mqs_version_compatibility", NULL, NULL);
  return number("mqs_version_compatibility", good_mqs_version_compatibility());
}

int mqs_dll_taddr_width(void) {
  before("mqs_dll_taddr_width", NULL, NULL);
  return number("mqs_dll_taddr_width", good_mqs_dll_taddr_width());
}

void mqs_setup_basic_callbacks(const mqs_basic_callbacks *callbacks) {
  basic = callbacks; /* for the fault */
  before("mqs_setup_basic_callbacks", NULL, NULL);
  basic = NULL;
  good_mqs_setup_basic_callbacks(callbacks);
}

char *mqs_dll_error_string(int code) {
  before("mqs_dll_error_string", NULL, NULL);
  return text("mqs_dll_error_string", good_mqs_dll_error_string(code));
}

int mqs_setup_image(mqs_image *image, const mqs_image_callbacks *callbacks) {
  image_calls = callbacks;
  before("mqs_setup_image", image, NULL);
  return number("mqs_setup_image", good_mqs_setup_image(image, callbacks));
}

int mqs_image_has_queues(mqs_image *image, char **message) {
  before("mqs_image_has_queues", image, NULL);
  int result = good_mqs_image_has_queues(image, message);
  *message = text("mqs_image_has_queues", *message);
  return number("mqs_image_has_queues", result);
}

void mqs_destroy_image_info(mqs_image_info *info) {
  before("mqs_destroy_image_info", NULL, NULL);
  good_mqs_destroy_image_info(info);
}

int mqs_setup_process(mqs_process *process, const mqs_process_callbacks *callbacks) {
  process_calls = callbacks;
  before("mqs_setup_process", NULL, process);
  return number("mqs_setup_process", good_mqs_setup_process(process, callbacks));
}

int mqs_process_has_queues(mqs_process *process, char **message) {
  before("mqs_process_has_queues", NULL, process);
  int result = good_mqs_process_has_queues(process, message);
  *message = text("mqs_process_has_queues", *message);
  return number("mqs_process_has_queues", result);
}

void mqs_destroy_process_info(mqs_process_info *info) {
  before("mqs_destroy_process_info", NULL, NULL);
  good_mqs_destroy_process_info(info);
}

#define PLAIN(name)                         \
  int name(mqs_process *process) {          \
    before(#name, NULL, process);           \
    return number(#name, good_##name(process)); \
  }
PLAIN(mqs_update_communicator_list)
PLAIN(mqs_setup_communicator_iterator)

/* Where the iterator over the communicators stands. */
static int place_of(mqs_process *process) { return basic->mqs_get_process_info_fp(process)->at; }

int mqs_next_communicator(mqs_process *process) {
  before("mqs_next_communicator", NULL, process);
  /* The third communicator has empty queues, so that only their number counts. */
  if (FAULTY("endless", "mqs_next_communicator") && place_of(process) == 2) return mqs_ok;
  return number("mqs_next_communicator", good_mqs_next_communicator(process));
}

int mqs_get_communicator(mqs_process *process, mqs_communicator *c) {
  before("mqs_get_communicator", NULL, process);
  if (FAULTY("overrun", "mqs_get_communicator")) memset(c, 0xee, sizeof *c + 64);
  int result = good_mqs_get_communicator(process, c);
  if (FAULTY("counts", "mqs_get_communicator")) c->size = fault_answer;
  if (FAULTY("unterminated", "mqs_get_communicator")) memset(c->name, 'x', sizeof c->name);
  return number("mqs_get_communicator", result);
}

int mqs_get_comm_group(mqs_process *process, int *ranks) {
  before("mqs_get_comm_group", NULL, process);
  int result = good_mqs_get_comm_group(process, ranks);
  if (FAULTY("overrun", "mqs_get_comm_group")) memset(ranks + 4, 0xee, 64);
  if (FAULTY("counts", "mqs_get_comm_group")) ranks[0] = (int)fault_answer;
  return number("mqs_get_comm_group", result);
}

int mqs_setup_operation_iterator(mqs_process *process, int class) {
  before("mqs_setup_operation_iterator", NULL, process);
  return number("mqs_setup_operation_iterator", good_mqs_setup_operation_iterator(process, class));
}

int mqs_next_operation(mqs_process *process, mqs_pending_operation *op) {
  before("mqs_next_operation", NULL, process);
  if (FAULTY("overrun", "mqs_next_operation")) memset(op, 0xee, sizeof *op + 64);
  int result = good_mqs_next_operation(process, op);
  /* On the first communicator alone: a long list takes its time. */
  if (FAULTY("endless", "mqs_next_operation") && result == mqs_end_of_list && place_of(process) == 0) {
    *op = (mqs_pending_operation){.desired_tag = 4711};
    return mqs_ok;
  }
  if (result == mqs_ok && FAULTY("counts", "mqs_next_operation")) op->desired_length = op->actual_length = (mqs_tword_t)fault_answer;
  if (result == mqs_ok && FAULTY("status", "mqs_next_operation")) op->status = (int)fault_answer;
  if (result == mqs_ok && FAULTY("unterminated", "mqs_next_operation")) memset(op->extra_text, 'y', sizeof op->extra_text);
  return number("mqs_next_operation", result);
}

#if COMPATIBILITY >= 3
int mqs_setup_job(mqs_job *new_job, const mqs_job_callbacks *callbacks) {
  before("mqs_setup_job", NULL, NULL);
  return number("mqs_setup_job", good_mqs_setup_job(new_job, callbacks));
}

int mqs_destroy_job_info(mqs_job_info *info) {
  before("mqs_destroy_job_info", NULL, NULL);
  return number("mqs_destroy_job_info", good_mqs_destroy_job_info(info));
}

PLAIN(mqs_setup_new_process_iterator)

int mqs_next_new_process(mqs_process *process, mqs_process_location *location) {
  before("mqs_next_new_process", NULL, process);
  int result = good_mqs_next_new_process(process, location);
  if (FAULTY("unterminated", "mqs_next_new_process")) memset(location, 'z', sizeof *location);
  if (FAULTY("endless", "mqs_next_new_process")) result = mqs_ok;
  return number("mqs_next_new_process", result);
}

int mqs_set_process_identity(mqs_process *process, int identity) {
  before("mqs_set_process_identity", NULL, process);
  return number("mqs_set_process_identity", good_mqs_set_process_identity(process, identity));
}
#endif
