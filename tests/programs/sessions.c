/*
 * sessions: a job that never calls MPI_Init, for 3 ranks.
 *
 *   mpirun -n 3 sessions OUTDIR
 *
 * Its communicators are made of a session's process sets: one of all processes,
 * whose ranks are those that count as global, one of two of them in the other order,
 * and one of the process alone. Each has a receive pending, and the first one a
 * message that nothing has received.
 *
 * parts: handles_account.c
 */
#include "expect.h"
#include "handles_account.h"

#include <stdlib.h>

static MPI_Group process_set(MPI_Session session, const char *name) {
  MPI_Group group;
  MPI_Group_from_session_pset(session, name, &group);
  return group;
}

static MPI_Comm communicator(MPI_Group group, const char *tag) {
  MPI_Comm comm;
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  return comm;
}

int main(int argc, char **argv) {
  MPI_Session session, null_session = MPI_SESSION_NULL;
  if (argc != 2) expect_die("usage: sessions OUTDIR");
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group whole = process_set(session, "mpi://WORLD"), alone = process_set(session, "mpi://SELF"), pair;
  MPI_Comm all = communicator(whole, "all"), self = communicator(alone, "self"), swapped = MPI_COMM_NULL;
  expect_begin_in(all, argv[1], "rank");
  const int rank = expect_self.world_rank, size = expect_self.world_size;
  if (size != 3) expect_die("sessions is for 3 ranks");
  MPI_Group_incl(whole, 2, (int[]){2, 1}, &pair);
  if (rank > 0) swapped = communicator(pair, "swapped");

  struct expect_comm *c = expect_communicator(all, "all of the session");
  expect_post(c, "irecv", 3, MPI_INT, (rank + 1) % size, 7);
  expect_post(c, "isend", 1, MPI_INT, (rank + 1) % size, 8)->state = EXPECT_LEFT;
  expect_unexpected(c, (rank + 2) % size, 8, sizeof(int));
  if (swapped != MPI_COMM_NULL)
    expect_post(expect_communicator(swapped, "swapped"), "irecv", 5, MPI_DOUBLE, MPI_ANY_SOURCE, 9);
  expect_post(expect_communicator(self, "self"), "irecv", 1, MPI_CHAR, 0, 4);
  expect_settle(all);

  account("session", NULL, "\"kind\":\"session\",\"state\":\"live\"");
  account("null_session", NULL, "\"kind\":\"session\",\"state\":\"null\",\"name\":\"MPI_SESSION_NULL\"");
  account_comm("all", NULL, all);
  account_comm("self", NULL, self);
  if (swapped != MPI_COMM_NULL) account_comm("swapped", NULL, swapped);
  account_group("whole", NULL, whole);
  account_group("pair", NULL, pair);
  account_write();
  MPI_Barrier(all);
  expect_write();
  expect_ready(false);
  expect_hold();
  return null_session == session;
}
