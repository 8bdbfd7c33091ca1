/*
 * failed: a job of which one process has failed, and a communicator was revoked, for 4 ranks.
 *
 *   mpirun --with-ft ulfm -n 4 failed OUTDIR
 *   mpiexec.hydra -disable-auto-cleanup -genv MPIR_CVAR_ENABLE_FT 1 -n 4 failed OUTDIR
 *
 * Rank 3 writes its account and dies. The others wait until they
 * know of that. Rank 0 revokes a communicator of theirs, and the others are told.
 *
 * options: --with-ft ulfm
 * parts: handles_account.c
 */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"
#include "handles_account.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { VICTIM = 3 };

/* The victim dies while nobody is in a call together with it. */
_Noreturn static void die(void) {
  expect_write();
  for (int i = 0; i < VICTIM; i++) expect_await((char[]){'m', 'a', 'd', 'e', '-', (char)('0' + i), 0});
  expect_touch("ready-3");
#ifdef MPICH_VERSION
  _exit(1); /* Hydra kills the others of one that a signal has ended */
#endif
  raise(SIGKILL);
  abort();
}

/* Receives on a communicator until that can't be. */
static void receive_in_vain(MPI_Comm comm, int source, int expected) {
  int nothing, class;
  MPI_Error_class(MPI_Recv(&nothing, 1, MPI_INT, source, 99, comm, MPI_STATUS_IGNORE), &class);
  if (class != expected) expect_die("a receive fails with %d, not %d", class, expected);
}

/* Waits until the library knows that one of the members has failed. */
static void learn(MPI_Comm comm) {
  for (int size = 0; size == 0;) {
    MPI_Group failed;
    MPIX_Comm_failure_ack(comm);
    MPIX_Comm_failure_get_acked(comm, &failed);
    MPI_Group_size(failed, &size);
    if (failed != MPI_GROUP_EMPTY) MPI_Group_free(&failed);
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  expect_begin(argv[1], "rank");
  const int rank = expect_self.world_rank;
  if (expect_self.world_size != 4) expect_die("failed is for 4 ranks");
  MPI_Comm world = MPI_COMM_WORLD, backwards, living, revoked;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  MPI_Comm_set_name(backwards, "backwards");
  MPI_Comm_split(MPI_COMM_WORLD, rank == VICTIM, rank, &living);
  MPI_Comm_set_name(living, "living");
  MPI_Comm_dup(living, &revoked);
  MPI_Comm_set_name(revoked, "given up");
  if (rank == VICTIM) die();
  expect_touch((char[]){'m', 'a', 'd', 'e', '-', (char)('0' + rank), 0});
  receive_in_vain(MPI_COMM_WORLD, VICTIM, MPIX_ERR_PROC_FAILED);
  learn(MPI_COMM_WORLD);
  if (rank == 0) MPIX_Comm_revoke(revoked);
  else receive_in_vain(revoked, 0, MPIX_ERR_REVOKED);

  account("world", NULL, "\"communicator\":{\"name\":\"MPI_COMM_WORLD\",\"revoked\":false,\"failed\":[3]}");
  account("backwards", NULL, "\"communicator\":{\"name\":\"backwards\",\"revoked\":false,\"failed\":[0]}");
  account("living", NULL, "\"communicator\":{\"name\":\"living\",\"revoked\":false,\"failed\":[]}");
  account("revoked", NULL, "\"communicator\":{\"name\":\"given up\",\"revoked\":true,\"failed\":[]}");
  account_write();
  MPI_Barrier(living);
  expect_write();
  expect_ready(false);
  expect_hold();
  return world != MPI_COMM_WORLD;
}
