/*
 * The MPI message queue interface (MQS), as vendors compile it, on LP64: what a
 * queue DLL and a debugger have in common.
 *
 * Written for this project's tests from the interface's description, and held
 * to it by the sizes at the end. The parts of version 3 (process creation) are
 * always declared: a DLL of version 2 doesn't define those entry points, and
 * doesn't look at the entries at the end of the tables.
 */
#ifndef MQS_H
#define MQS_H

#include <stddef.h>
#include <stdio.h> /* FILENAME_MAX */

/* Everything else in a DLL of ours is hidden, so that what it exports is what is tested. */
#define MQS_ENTRY __attribute__((visibility("default")))

/* Objects of the debugger. A DLL sees pointers to them and never inside. */
typedef struct mqs_image_ mqs_image;     /* a program's file */
typedef struct mqs_process_ mqs_process; /* a process that runs it */
typedef struct mqs_type_ mqs_type;       /* a type of the program's */
typedef struct mqs_job_ mqs_job;         /* version 3: all processes of one MPI job */

/* Objects of the DLL, which the debugger keeps for it. */
typedef struct _mqs_image_info mqs_image_info;
typedef struct _mqs_process_info mqs_process_info;
typedef struct _mqs_job_info mqs_job_info;

typedef unsigned long mqs_taddr_t; /* an address in the process */
typedef long mqs_tword_t;          /* a word of the process */

/* Results. From mqs_first_user_code on, each side has its own. */
enum { mqs_ok, mqs_no_information, mqs_end_of_list, mqs_first_user_code = 100 };
enum { MQS_INVALID_PROCESS = -1 };

typedef enum {
  mqs_lang_c = 'c',
  mqs_lang_cplus = 'C',
  mqs_lang_f77 = 'f',
  mqs_lang_f90 = 'F'
} mqs_lang_code;

typedef enum { mqs_pending_sends, mqs_pending_receives, mqs_unexpected_messages } mqs_op_class;
enum mqs_status { mqs_st_pending, mqs_st_matched, mqs_st_complete };

/* Five, whatever a vendor's private copy has behind them. */
typedef struct {
  int short_size, int_size, long_size, long_long_size, pointer_size;
} mqs_target_type_sizes;

typedef struct {
  mqs_taddr_t unique_id;
  mqs_tword_t local_rank;
  mqs_tword_t size;
  char name[64]; /* without a terminator if it fills it */
} mqs_communicator;

typedef struct {
  int status;                        /* enum mqs_status */
  mqs_tword_t desired_local_rank;    /* of the target or source, -1 for any */
  mqs_tword_t desired_global_rank;   /* the same in MPI_COMM_WORLD */
  int tag_wild;
  mqs_tword_t desired_tag;           /* unless tag_wild */
  mqs_tword_t desired_length;        /* of the buffer, in bytes */
  int system_buffer;
  mqs_taddr_t buffer;
  /* Of a send, and of what has matched. */
  mqs_tword_t actual_local_rank;
  mqs_tword_t actual_global_rank;
  mqs_tword_t actual_tag;
  mqs_tword_t actual_length;
  char extra_text[5][64];            /* up to the first that is empty */
} mqs_pending_operation;

/* Version 3: where a process is that the job has created. */
typedef struct mqs_process_location {
  long pid;
  char image_name[FILENAME_MAX];
  char host_name[64];
} mqs_process_location;

/* Call-backs, from the DLL into the debugger, in the order of their tables. */
typedef void *(*mqs_malloc_ft)(size_t);
typedef void (*mqs_free_ft)(void *);
typedef void (*mqs_dprints_ft)(const char *);
typedef char *(*mqs_errorstring_ft)(int);
typedef void (*mqs_put_image_info_ft)(mqs_image *, mqs_image_info *);
typedef mqs_image_info *(*mqs_get_image_info_ft)(mqs_image *);
typedef void (*mqs_put_process_info_ft)(mqs_process *, mqs_process_info *);
typedef mqs_process_info *(*mqs_get_process_info_ft)(mqs_process *);
typedef void (*mqs_put_job_info_ft)(mqs_job *, mqs_job_info *);
typedef mqs_job_info *(*mqs_get_job_info_ft)(mqs_job *);

typedef struct mqs_basic_callbacks {
  mqs_malloc_ft mqs_malloc_fp;
  mqs_free_ft mqs_free_fp;
  mqs_dprints_ft mqs_dprints_fp;
  mqs_errorstring_ft mqs_errorstring_fp;
  mqs_put_image_info_ft mqs_put_image_info_fp;
  mqs_get_image_info_ft mqs_get_image_info_fp;
  mqs_put_process_info_ft mqs_put_process_info_fp;
  mqs_get_process_info_ft mqs_get_process_info_fp;
  mqs_put_job_info_ft mqs_put_job_info_fp; /* version 3 */
  mqs_get_job_info_ft mqs_get_job_info_fp; /* version 3 */
} mqs_basic_callbacks;

typedef void (*mqs_get_type_sizes_ft)(mqs_process *, mqs_target_type_sizes *);
typedef int (*mqs_find_function_ft)(mqs_image *, char *, mqs_lang_code, mqs_taddr_t *);
typedef int (*mqs_find_symbol_ft)(mqs_image *, char *, mqs_taddr_t *);
typedef mqs_type *(*mqs_find_type_ft)(mqs_image *, char *, mqs_lang_code);
typedef int (*mqs_field_offset_ft)(mqs_type *, char *);
typedef int (*mqs_sizeof_ft)(mqs_type *);

typedef struct mqs_image_callbacks {
  mqs_get_type_sizes_ft mqs_get_type_sizes_fp;
  mqs_find_function_ft mqs_find_function_fp;
  mqs_find_symbol_ft mqs_find_symbol_fp;
  mqs_find_type_ft mqs_find_type_fp;
  mqs_field_offset_ft mqs_field_offset_fp;
  mqs_sizeof_ft mqs_sizeof_fp;
} mqs_image_callbacks;

typedef int (*mqs_get_global_rank_ft)(mqs_process *);
typedef mqs_image *(*mqs_get_image_ft)(mqs_process *);
typedef int (*mqs_fetch_data_ft)(mqs_process *, mqs_taddr_t, int, void *);
typedef void (*mqs_target_to_host_ft)(mqs_process *, const void *, void *, int);
typedef mqs_job *(*mqs_get_process_job_ft)(mqs_process *);
/* It is of a process, and its prototype takes a job: a DLL may pass either. */
typedef int (*mqs_get_process_identity_ft)(mqs_job *);

typedef struct mqs_process_callbacks {
  mqs_get_global_rank_ft mqs_get_global_rank_fp;
  mqs_get_image_ft mqs_get_image_fp;
  mqs_fetch_data_ft mqs_fetch_data_fp;
  mqs_target_to_host_ft mqs_target_to_host_fp;
  mqs_get_process_job_ft mqs_get_process_job_fp;           /* version 3 */
  mqs_get_process_identity_ft mqs_get_process_identity_fp; /* version 3 */
} mqs_process_callbacks;

typedef mqs_process *(*mqs_get_process_ft)(mqs_job *, int);

typedef struct mqs_job_callbacks {
  mqs_get_process_ft mqs_get_process_fp;
} mqs_job_callbacks;

/* Entry points, from the debugger into the DLL. */
MQS_ENTRY char *mqs_version_string(void);
MQS_ENTRY int mqs_version_compatibility(void);
MQS_ENTRY int mqs_dll_taddr_width(void);
MQS_ENTRY void mqs_setup_basic_callbacks(const mqs_basic_callbacks *);
MQS_ENTRY char *mqs_dll_error_string(int);

MQS_ENTRY int mqs_setup_image(mqs_image *, const mqs_image_callbacks *);
MQS_ENTRY int mqs_image_has_queues(mqs_image *, char **);
MQS_ENTRY void mqs_destroy_image_info(mqs_image_info *);

MQS_ENTRY int mqs_setup_process(mqs_process *, const mqs_process_callbacks *);
MQS_ENTRY int mqs_process_has_queues(mqs_process *, char **);
MQS_ENTRY void mqs_destroy_process_info(mqs_process_info *);

MQS_ENTRY int mqs_update_communicator_list(mqs_process *);
MQS_ENTRY int mqs_setup_communicator_iterator(mqs_process *);
MQS_ENTRY int mqs_get_communicator(mqs_process *, mqs_communicator *);
MQS_ENTRY int mqs_get_comm_group(mqs_process *, int *);
MQS_ENTRY int mqs_next_communicator(mqs_process *);
MQS_ENTRY int mqs_setup_operation_iterator(mqs_process *, int);
MQS_ENTRY int mqs_next_operation(mqs_process *, mqs_pending_operation *);

/* Of version 3. */
MQS_ENTRY int mqs_setup_job(mqs_job *, const mqs_job_callbacks *);
MQS_ENTRY int mqs_destroy_job_info(mqs_job_info *);
MQS_ENTRY int mqs_setup_new_process_iterator(mqs_process *);
MQS_ENTRY int mqs_next_new_process(mqs_process *, mqs_process_location *);
MQS_ENTRY int mqs_set_process_identity(mqs_process *, int);

_Static_assert(sizeof(mqs_target_type_sizes) == 20, "mqs_target_type_sizes");
_Static_assert(sizeof(mqs_communicator) == 88, "mqs_communicator");
_Static_assert(sizeof(mqs_pending_operation) == 416, "mqs_pending_operation");
_Static_assert(offsetof(mqs_pending_operation, extra_text) == 96, "extra_text");

#endif
