/*
 * lifecycle: a process outside MPI's active time, or in it with threads; for 1
 * or more ranks.
 *
 *   mpirun -n 2 lifecycle OUTDIR before | after | threads
 *
 * before: waits ahead of MPI_Init. after: waits behind MPI_Finalize. Both have
 * no communicators to show, and end cleanly on "stop". threads: with
 * MPI_THREAD_MULTIPLE, two threads are each blocked in MPI_Recv from the next
 * rank, with tags 1 and 2, in no certain order; ready is said just before, and
 * the job must be ended from outside.
 */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A rank that MPI can't be asked for; 0 without a launcher. */
static int launcher_says(const char *const *variables, int otherwise) {
  for (; *variables; variables++)
    if (getenv(*variables)) return atoi(getenv(*variables));
  return otherwise;
}

static void *receive(void *operation) {
  const struct expect_op *op = operation;
  MPI_Recv(op->buffer, op->count, MPI_INT, op->peer, op->tag, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  expect_die("the receive with tag %d came back", op->tag);
}

static void before(int *argc, char ***argv) {
  static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", NULL};
  static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
  expect_self.outdir = (*argv)[1];
  expect_self.prefix = "rank";
  expect_self.world_rank = launcher_says(ranks, 0);
  expect_self.world_size = launcher_says(sizes, 1);
  alarm(1800);
  expect_write();
  expect_ready(false);
  expect_await("stop");
  MPI_Init(argc, argv);
  MPI_Finalize();
}

static void after(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  expect_begin((*argv)[1], "rank");
  MPI_Finalize();
  expect_write();
  expect_ready(false);
  expect_await("stop");
}

static void threads(int *argc, char ***argv) {
  int provided;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  expect_begin((*argv)[1], "rank");
  if (provided != MPI_THREAD_MULTIPLE) expect_die("this MPI has no MPI_THREAD_MULTIPLE");
  int next = (expect_self.world_rank + 1) % expect_self.world_size;
  struct expect_comm *world = expect_communicator(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  static int buffers[2][20];
  struct expect_op *ops[2];
  for (int i = 0; i < 2; i++) {
    ops[i] = expect_note(world, "recv", 10 * (i + 1), MPI_INT, next, i + 1);
    ops[i]->buffer = buffers[i];
  }
  expect_settle(MPI_COMM_WORLD);
  expect_write();
  expect_ready(true);
  pthread_t second;
  if (pthread_create(&second, NULL, receive, ops[1])) expect_die("no second thread");
  receive(ops[0]);
}

int main(int argc, char **argv) {
  const char *mode = argc == 3 ? argv[2] : "";
  if (!strcmp(mode, "before")) before(&argc, &argv);
  else if (!strcmp(mode, "after")) after(&argc, &argv);
  else if (!strcmp(mode, "threads")) threads(&argc, &argv);
  else expect_die("usage: lifecycle OUTDIR before | after | threads");
}
