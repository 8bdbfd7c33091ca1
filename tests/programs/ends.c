/*
 * ends: jobs that hang where ranks come together and part, and in what only some
 * programs use; see modes.h.
 *
 * A mode whose name ends in "-late" gets on: what is waited for comes after stop.
 */
#include "expect.h"
#include "modes.h"

#include <stdlib.h>

static MPI_Comm world = MPI_COMM_WORLD;

/* The ranks of this one's half, the lower or the upper one; the first of each half leads it. */
static MPI_Comm halves(void) {
  MPI_Comm half;
  MPI_Comm_split(world, rank / (size / 2), rank, &half);
  MPI_Comm_set_name(half, "half");
  return half;
}

static void join_halves(int tag, int late) {
  MPI_Comm half = halves(), between;
  if (rank == late) compute();
  MPI_Intercomm_create(half, 0, world, rank < size / 2 ? size / 2 : 0, tag, &between); /* @intercomm */
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/* The leaders have passed different tags. */
static void intercomm_tags(void) { join_halves(rank < size / 2 ? 11 : 12, -1); }

/* The leader of the upper half waits for a message from that of the lower half. */
static void intercomm_leader(void) {
  if (rank != size / 2) join_halves(TAG, -1);
  halves();
  RECV(0, TAG + 1, world); /* @intercomm-leader */
}

/* The same leader computes first. */
static void intercomm_late(void) { join_halves(TAG, size / 2); }

static void make_group(void) {
  MPI_Group all, some;
  MPI_Comm_group(world, &all);
  MPI_Group_incl(all, 2, (int[]){0, 1}, &some);
  MPI_Comm comm;
  MPI_Comm_create_group(world, some, TAG, &comm); /* @group */
  MPI_Comm_free(&comm);
}

/* One member of a group waits for a message from the other; rank 2 is in no group. */
static void group(void) {
  if (rank == 0) make_group();
  if (rank == 1) RECV(0, TAG, world); /* @group-recv */
  if (rank == 2) compute();
}

static void group_late(void) {
  if (rank > 0) compute();
  if (rank < 2) make_group();
}

/* Rank 0 has made a persistent send, and never starts it. */
static void inactive(void) {
  MPI_Request request;
  if (rank == 0) MPI_Send_init(out, SMALL, MPI_DOUBLE, 1, TAG, world, &request);
  RECV(1 - rank, rank == 0 ? TAG + 1 : TAG, world); /* @inactive */
}

/* The send is started later. */
static void inactive_late(void) {
  MPI_Request request;
  if (rank == 1) RECV(0, TAG, world);
  if (rank == 1) return;
  MPI_Send_init(out, SMALL, MPI_DOUBLE, 1, TAG, world, &request);
  compute();
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

/* A matched probe for a tag that the message has not. */
static void mprobe(void) {
  MPI_Message message;
  MPI_Status status;
  if (rank == 1) SEND_SMALL(0, TAG + 1, world);
  if (rank == 0) MPI_Mprobe(1, TAG, world, &message, &status); /* @mprobe */
  if (rank == 1) RECV(0, TAG, world); /* @mprobe-recv */
}

/* A buffered send holds its buffer until it is received, and nobody receives it. */
static void detach(void) {
  if (rank == 1) RECV(0, TAG + 1, world); /* @detach-recv */
  int bytes = (int)sizeof out + MPI_BSEND_OVERHEAD;
  MPI_Buffer_attach(malloc((size_t)bytes), bytes);
  MPI_Bsend(out, LARGE, MPI_DOUBLE, 1, TAG, world);
  void *buffer;
  MPI_Buffer_detach(&buffer, &bytes); /* @detach */
}

static void detach_late(void) {
  if (rank == 1) {
    compute();
    MPI_Recv(in, LARGE, MPI_DOUBLE, 0, TAG, world, MPI_STATUS_IGNORE);
    return;
  }
  detach();
}

/* A communicator that one member parts with, and on which the other receives. */
static void disconnect(void) {
  MPI_Comm copy;
  MPI_Comm_dup(world, &copy);
  MPI_Comm_set_name(copy, "copy");
  if (rank == 0) MPI_Comm_disconnect(&copy); /* @disconnect */
  RECV(0, TAG, copy); /* @disconnect-recv */
}

/* Nobody connects, and rank 1 waits for rank 0. */
static void accept_nobody(void) {
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm comm;
  if (rank == 1) RECV(0, TAG, world); /* @accept-recv */
  MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm); /* @accept */
}

/* Rank 1 connects late. */
static void accept_late(void) {
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm comm;
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Send(port, sizeof port, MPI_CHAR, 1, TAG, world);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm);
  } else {
    MPI_Recv(port, sizeof port, MPI_CHAR, 0, TAG, world, MPI_STATUS_IGNORE);
    compute();
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm);
  }
  MPI_Comm_disconnect(&comm);
}

static void spawned(const char *program, char **arguments) {
  MPI_Comm children;
  MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, world, &children, MPI_ERRCODES_IGNORE); /* @spawn */
  MPI_Comm_set_name(children, "children");
  RECV(0, TAG, children); /* @spawn-recv */
}

/* What is spawned is no program of MPI's. */
static void spawn_never(void) { spawned("sleep", (char *[]){"600", NULL}); }

static const char *own_path;

/* Parents and child wait for each other. */
static void spawn_ring(void) {
  spawned(own_path, (char *[]){(char *)expect_self.outdir, "child", NULL});
}

static int be_child(void) {
  MPI_Comm parents;
  MPI_Comm_get_parent(&parents);
  MPI_Comm_set_name(parents, "parents");
  RECV(0, TAG, parents); /* @spawn-child */
  return 1;
}

int main(int argc, char **argv) {
  own_path = argv[0];
  if (argc == 3 && !strcmp(argv[2], "child")) {
    MPI_Init(&argc, &argv);
    return be_child();
  }
  static const struct mode modes[] = {
      {"intercomm-tags", 4, intercomm_tags},
      {"intercomm-leader", 4, intercomm_leader},
      {"intercomm-late", 4, intercomm_late},
      {"group", 3, group},
      {"group-late", 3, group_late},
      {"inactive", 2, inactive},
      {"inactive-late", 2, inactive_late},
      {"mprobe", 2, mprobe},
      {"detach", 2, detach},
      {"detach-late", 2, detach_late},
      {"disconnect", 2, disconnect},
      {"accept", 2, accept_nobody},
      {"accept-late", 2, accept_late},
      {"spawn-never", 2, spawn_never},
      {"spawn-ring", 2, spawn_ring},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
