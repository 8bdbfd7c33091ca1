/*
 * right: jobs that end by themselves, with 0, though a debugger that looks at them may
 * take them for deadlocked; see modes.h.
 *
 * A rank makes the file waiting-RANK just before the call in which it is looked at. Where
 * one rank has to be stopped there before the other one goes on, that one awaits "go".
 * With "stop", every mode comes to its end.
 */
#define _GNU_SOURCE /* pthread_timedjoin_np */
#include "expect.h"
#include "modes.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

static MPI_Comm world = MPI_COMM_WORLD;

static void waiting(void) {
  char name[32];
  snprintf(name, sizeof name, "waiting-%d", rank);
  expect_touch(name);
}

/* The freed ones: rank 0 is stopped while it waits for a message of rank 1 on a
 * communicator. Rank 1 sends it, frees the communicator, with which go MPI's counts of
 * what was sent, and waits for rank 0 on MPI_COMM_WORLD. (Where MPI's own way of freeing
 * takes an answer of rank 0, rank 1 waits for that; where it takes none, and rank 0 has
 * come to MPI_COMM_WORLD's barrier, rank 1 is past that.) */
static void first_then_second(void (*last_call)(void *), void *object) {
  if (rank == 1) expect_await("go");
  waiting();
  last_call(object);
  MPI_Barrier(world); /* @after */
  expect_await("stop");
}

static MPI_Comm copy(void) {
  MPI_Comm dup;
  MPI_Comm_dup(world, &dup);
  return dup;
}

static void pass_message(void *dup) {
  if (rank == 0) RECV(1, TAG, *(MPI_Comm *)dup); /* @message */
  else SEND_SMALL(0, TAG, *(MPI_Comm *)dup);
}

static void pass_message_and_free(void *dup) {
  pass_message(dup);
  MPI_Comm_free(dup);
}

static void p2p(void) {
  MPI_Comm dup = copy();
  first_then_second(pass_message_and_free, &dup);
}

/* The communicator stays: here the count says that a message is on its way. */
static void nofree(void) {
  MPI_Comm dup = copy();
  first_then_second(pass_message, &dup);
  MPI_Comm_free(&dup);
}

static void pass_barrier_and_free(void *dup) {
  MPI_Barrier(*(MPI_Comm *)dup); /* @barrier */
  MPI_Comm_free(dup);
}

static void comm(void) {
  MPI_Comm dup = copy();
  first_then_second(pass_barrier_and_free, &dup);
}

static void free_window(void *window) { MPI_Win_free(window); /* @win */ }

static void win(void) {
  MPI_Win window;
  MPI_Win_create(in, sizeof in, sizeof in[0], MPI_INFO_NULL, world, &window);
  first_then_second(free_window, &window);
}

static void close_file(void *file) { MPI_File_close(file); /* @file */ }

static void file(void) {
  MPI_File handle;
  char path[4096];
  snprintf(path, sizeof path, "%s/data", expect_self.outdir);
  if (MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &handle))
    expect_die("can't open %s", path);
  first_then_second(close_file, &handle);
}

static void disconnect_from(void *dup) { MPI_Comm_disconnect(dup); /* @disconnect */ }

static void disconnect(void) {
  MPI_Comm dup = copy();
  first_then_second(disconnect_from, &dup);
}

/* Rank 1 has passed a barrier and come to its MPI_Finalize, or to that of a tool, which
 * meets the others before it finalizes; rank 0 is stopped in the barrier. */
static void finalize(void) {
  if (rank == 1) expect_await("go");
  waiting();
  if (rank == 1) expect_touch("stop");
  MPI_Barrier(world); /* @finalize */
}

static bool has_tool;

int MPI_Finalize(void) {
  if (has_tool) PMPI_Barrier(world);
  return PMPI_Finalize();
}

static void tool(void) {
  has_tool = true;
  finalize();
}

/* The hybrid ones: a thread of each rank waits for a message that the other rank's main
 * thread sends when it has computed for long enough, or slept. */
static void *receive(void *unused) {
  waiting();
  RECV(1 - rank, TAG, world); /* @receive */
  return unused;
}

static void start(pthread_t *thread, void *(*body)(void *)) {
  if (pthread_create(thread, NULL, body, NULL)) expect_die("no thread");
}

static void hybrid(void (*work)(void)) {
  pthread_t helper;
  start(&helper, receive);
  work();
  SEND_SMALL(1 - rank, TAG, world);
  pthread_join(helper, NULL);
}

static void work_hard(void) {
  for (volatile long i = 0; i % 1000000 || !expect_exists("stop"); i++); /* @spin */
}

static void work_asleep(void) { expect_await("stop"); }

static void spin(void) { hybrid(work_hard); }
static void idle(void) { hybrid(work_asleep); }

static void *work_and_send(void *unused) {
  expect_await("stop");
  SEND_SMALL(1 - rank, TAG, world);
  return unused;
}

/* The same two threads, and main waits for them outside of MPI. */
static void join(void) {
  pthread_t receiver, sender;
  start(&receiver, receive);
  start(&sender, work_and_send);
  pthread_join(receiver, NULL);
  pthread_join(sender, NULL);
}

/* The receiving thread, and main waits for it a second at a time, and then sends. */
static void timed(void) {
  pthread_t receiver;
  struct timespec until;
  bool ended = false;
  start(&receiver, receive);
  while (!ended && !expect_exists("stop")) {
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    ended = !pthread_timedjoin_np(receiver, NULL, &until); /* @timed */
  }
  SEND_SMALL(1 - rank, TAG, world);
  if (!ended) pthread_join(receiver, NULL);
}

static int copy_slowly(MPI_Comm from, int key, void *extra, void *value, void *copied, int *flag) {
  work_hard();
  *flag = 0;
  return MPI_SUCCESS;
}

/* Rank 0 has begun a barrier. It is in a call on another communicator, which takes its time
 * and waits for nobody; then it sends to rank 1, which comes to the barrier after that. */
static void begun(void) {
  MPI_Request request;
  MPI_Comm copied;
  int key;
  MPI_Comm_create_keyval(copy_slowly, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  if (rank == 0) MPI_Ibarrier(world, &request);
  waiting();
  if (rank == 0) {
    MPI_Comm_dup(MPI_COMM_SELF, &copied); /* @begun */
    SEND_SMALL(1, TAG, world);
  } else {
    RECV(0, TAG, world); /* @begun-recv */
    MPI_Ibarrier(world, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Rank 0 sends to rank 2, which computes, and receives from nobody. It still has the handle of
 * a receive from rank 1 in a register, for whose message rank 1 waits for one of rank 0. */
static void nobody(void) {
  if (rank == 0) {
    MPI_Request request;
    MPI_Irecv(in, SMALL, MPI_DOUBLE, 1, TAG, world, &request);
    register MPI_Request kept = request;
    waiting();
    MPI_Sendrecv(out, LARGE, MPI_DOUBLE, 2, TAG, in, SMALL, MPI_DOUBLE, /* @nobody */
                 MPI_PROC_NULL, TAG, world, MPI_STATUS_IGNORE);
    SEND_SMALL(1, TAG, world);
    request = kept;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    waiting();
    RECV(0, TAG, world); /* @nobody-recv */
    SEND_SMALL(0, TAG, world);
  } else {
    expect_await("stop");
    MPI_Recv(in, LARGE, MPI_DOUBLE, 0, TAG, world, MPI_STATUS_IGNORE);
  }
}

/* Each receives from all others and sends to all others, and has the receives posted
 * before it sends. The messages of rank 0 say whether there is to be another round. */
static void send_to_all(int count, bool last) {
  MPI_Request requests[8];
  int posted = 0, tag = last ? TAG + 1 : TAG;
  for (int i = 0; i < size; i++)
    if (i != rank)
      MPI_Irecv(in + i * count, count, MPI_DOUBLE, i, MPI_ANY_TAG, world, &requests[posted++]);
  for (int i = 0; i < size; i++)
    if (i != rank) MPI_Send(out, count, MPI_DOUBLE, i, tag, world); /* @sendall */
  MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
}

static void sendall(void) {
  for (bool last = false; !last; ) {
    last = rank == 0 && expect_exists("stop");
    MPI_Bcast(&last, 1, MPI_C_BOOL, 0, world);
    for (int round = 0; round < 20; round++) send_to_all(round % 2 ? SMALL : LARGE / 8, last);
  }
}

/* Rank 0 posts the receives for the answers before it asks. That all functions have been
 * called before keeps the loader, which looks them up, from leaving other things on the
 * stack than the receives. */
static void ask(void) {
  MPI_Request requests[2];
  send_to_all(LARGE / 8, false);
  if (rank == 0) {
    expect_await("go");
    for (int i = 1; i < size; i++)
      MPI_Irecv(in + i * SMALL, SMALL, MPI_DOUBLE, i, TAG, world, &requests[i - 1]);
    for (int i = 1; i < size; i++) SEND_LARGE(i, TAG, world); /* @ask */
    MPI_Waitall(size - 1, requests, MPI_STATUSES_IGNORE);
  } else {
    waiting();
    MPI_Recv(in, LARGE, MPI_DOUBLE, 0, TAG, world, MPI_STATUS_IGNORE); /* @answer */
    SEND_SMALL(0, TAG, world);
  }
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"p2p", 2, p2p},
      {"nofree", 2, nofree},
      {"comm", 2, comm},
      {"win", 2, win},
      {"file", 2, file},
      {"disconnect", 2, disconnect},
      {"finalize", 2, finalize},
      {"tool", 2, tool},
      {"spin", 2, spin, true},
      {"idle", 2, idle, true},
      {"join", 2, join, true},
      {"timed", 2, timed, true},
      {"begun", 2, begun},
      {"nobody", 3, nobody},
      {"sendall", 4, sendall},
      {"ask", 3, ask},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
