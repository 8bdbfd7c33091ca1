/*
 * The entry points that version 3 adds: the job, and processes that it creates.
 * A part of reference.c.
 */
#ifndef REFERENCE_JOB_H
#define REFERENCE_JOB_H

int ENTRY(mqs_setup_job)(mqs_job *new_job, const mqs_job_callbacks *callbacks) {
  enter();
  log_entry("mqs_setup_job");
  CHECK(basic, "mqs_setup_job is called ahead of mqs_setup_basic_callbacks");
  for (int i = 0; i < process_count; i++) CHECK(!processes[i], "mqs_setup_job is called behind mqs_setup_process");
  CHECK(!job, "mqs_setup_job is called for a second job");
  CHECK(new_job && callbacks && callbacks->mqs_get_process_fp, "mqs_setup_job gets NULL");
  if (!basic || !new_job || !callbacks) return leave(err_use);
  CHECK(basic->mqs_put_job_info_fp && basic->mqs_get_job_info_fp, "an entry of version 3 of mqs_basic_callbacks is NULL");
  CHECK(!basic->mqs_get_job_info_fp(new_job), "a new job has information");
  job = basic->mqs_malloc_fp(sizeof *job);
  if (!job) return leave(err_memory);
  *job = (mqs_job_info){.job = new_job, .calls = callbacks};
  basic->mqs_put_job_info_fp(new_job, job);
  check_job(job, NULL);
  return leave(mqs_ok);
}

int ENTRY(mqs_destroy_job_info)(mqs_job_info *info) {
  enter();
  log_entry("mqs_destroy_job_info");
  CHECK(info && info == job, "mqs_destroy_job_info gets what is no job's information");
  if (info && info == job) {
    basic->mqs_free_fp(job);
    job = NULL;
  }
  return leave(mqs_ok);
}

/* There is one process to be found, on a machine of its own unless the test says where. */
#ifndef NEW_PID
#define NEW_PID 4242
#define NEW_HOST "elsewhere"
#endif

int ENTRY(mqs_setup_new_process_iterator)(mqs_process *process) {
  ON_PROCESS("mqs_setup_new_process_iterator");
  p->new_processes = 1;
  return leave(mqs_ok);
}

int ENTRY(mqs_next_new_process)(mqs_process *process, mqs_process_location *location) {
  ON_PROCESS("mqs_next_new_process");
  CHECK(p->new_processes >= 0, "mqs_next_new_process is called without an iterator");
  if (p->new_processes <= 0) return leave(mqs_end_of_list);
  p->new_processes--;
  location->pid = NEW_PID;
  strcpy(location->image_name, "/nowhere/toy_child");
  strcpy(location->host_name, NEW_HOST);
  return leave(mqs_ok);
}

int ENTRY(mqs_set_process_identity)(mqs_process *process, int identity) {
  ON_PROCESS("mqs_set_process_identity");
  CHECK(identity >= 0, "a process gets the identity %d", identity);
  return leave(mqs_ok);
}

#endif
