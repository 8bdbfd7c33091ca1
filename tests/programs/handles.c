/*
 * handles: a variable of every kind of handle, for 4 ranks.
 *
 *   mpirun -n 4 handles OUTDIR
 *
 * The variables are those of main, in whose frame the account's expressions
 * count. Communicators of every topology, datatypes built in every way,
 * requests in every state, windows with every kind of open epoch, a file;
 * null handles, freed ones, and what never was a handle.
 *
 * parts: handles_account.c
 */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"
#include "handles_account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct solver {
  MPI_Comm comm;
  MPI_Request requests[2];
};

static MPI_Comm of_file_scope;

static void named(MPI_Comm comm, const char *name) { MPI_Comm_set_name(comm, name); }

static void first_of_two(void *in, void *out, int *n, MPI_Datatype *type) {
  (void)out, (void)n, (void)type, (void)in;
}

static void user_handler(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

/* Generalized requests need these. */
static int no_status(void *state, MPI_Status *status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int no_free(void *state) { return (void)state, MPI_SUCCESS; }
static int no_cancel(void *state, int complete) { return (void)state, (void)complete, MPI_SUCCESS; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  expect_begin(argv[1], "rank");
  const int rank = expect_self.world_rank, size = expect_self.world_size;
  if (size != 4) expect_die("handles is for 4 ranks");

  /* Communicators */
  MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF, null_comm = MPI_COMM_NULL;
  MPI_Comm halo, half, inter, grid, line, graph, neighbours, freed_comm, zero_comm, ones_comm, wild_comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &halo);
  named(halo, "halo exchange");
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 2 : 3, 99, &inter);
  named(inter, "even and odd");
  MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){1, 0}, 0, &grid);
  named(grid, "grid");
  MPI_Cart_sub(grid, (int[]){0, 1}, &line);
  MPI_Graph_create(MPI_COMM_WORLD, 4, (int[]){1, 3, 5, 6}, (int[]){1, 0, 2, 1, 3, 2}, 0, &graph);
  named(graph, "graph");
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, (int[]){(rank + 3) % 4}, MPI_UNWEIGHTED, 2,
                                 (int[]){(rank + 1) % 4, rank}, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &neighbours);
  named(neighbours, "neighbours");
  memset(&zero_comm, 0, sizeof zero_comm);
  memset(&ones_comm, -1, sizeof ones_comm);
  const long anywhere = (long)(size_t)argv | 0x10;
  memcpy(&wild_comm, &anywhere, sizeof wild_comm);
  of_file_scope = grid;
  struct solver solver = {.comm = halo};

  account_comm("world", NULL, world);
  account_comm("self", NULL, self);
  account("null_comm", NULL, "\"kind\":\"comm\",\"state\":\"null\",\"name\":\"MPI_COMM_NULL\"");
  account_comm("halo", NULL, halo);
  account_comm("half", NULL, half);
  account_comm("inter", NULL, inter);
  account_comm("grid", NULL, grid);
  account_comm("line", NULL, line);
  account_comm("graph", NULL, graph);
  account_comm("neighbours", NULL, neighbours);
  account_comm("of_file_scope", NULL, grid);
  account_comm("solver.comm", NULL, halo);
  account("zero_comm", NULL, "\"kind\":\"comm\",\"state\":\"invalid\"");
  account("ones_comm", NULL, "\"kind\":\"comm\",\"state\":\"invalid\"");
  account("wild_comm", NULL, "\"kind\":\"comm\",\"state\":\"invalid\"");

  /* Fortran's INTEGER */
  MPI_Fint halo_integer = MPI_Comm_c2f(halo), no_integer = 1 << 29;
  account_comm("halo_integer", "comm", halo);
  account("no_integer", "comm", "\"kind\":\"comm\",\"state\":\"invalid\"");

  /* Datatypes */
  MPI_Datatype integer = MPI_INT, pair = MPI_DOUBLE_INT, null_type = MPI_DATATYPE_NULL;
  MPI_Datatype row, column, far, blocks, part, copy, particle, nested, freed_type;
  MPI_Type_contiguous(5, MPI_FLOAT, &row);
  MPI_Type_vector(3, 2, 100, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Type_create_hvector(4, 1, 4096, MPI_INT, &far);
  MPI_Type_indexed(2, (int[]){1, 3}, (int[]){0, 7}, MPI_SHORT, &blocks);
  MPI_Type_create_subarray(2, (int[]){8, 6}, (int[]){4, 3}, (int[]){1, 2}, MPI_ORDER_C, MPI_CHAR, &part);
  MPI_Type_dup(column, &copy);
  MPI_Datatype bare;
  MPI_Type_create_struct(2, (int[]){1, 3}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &bare);
  MPI_Type_create_resized(bare, 0, 40, &particle);
  MPI_Type_set_name(particle, "particle");
  MPI_Type_commit(&particle);
  MPI_Type_contiguous(2, particle, &nested);
  account_datatype("integer", NULL, integer, NULL);
  account_datatype("pair", NULL, pair, NULL);
  account("null_type", NULL, "\"kind\":\"datatype\",\"state\":\"null\",\"name\":\"MPI_DATATYPE_NULL\"");
  account_datatype("row", NULL, row, "contiguous 5 MPI_FLOAT");
  account_datatype("column", NULL, column, "vector 3 of 2 MPI_DOUBLE stride 100");
  account_datatype("far", NULL, far, "hvector 4 of 1 MPI_INT stride 4096 bytes");
  account_datatype("blocks", NULL, blocks, "indexed 2 of MPI_SHORT: 1 at 0, 3 at 7");
  account_datatype("part", NULL, part, "subarray 4x3 at 1,2 of 8x6 MPI_CHAR in C order");
  account_datatype("copy", NULL, copy, "dup of (vector 3 of 2 MPI_DOUBLE stride 100)");
  account_datatype("particle", NULL, particle, NULL);
  account_datatype("nested", NULL, nested, "contiguous 2 particle");
  MPI_Fint column_integer = MPI_Type_c2f(column);
  account_datatype("column_integer", "datatype", column, "vector 3 of 2 MPI_DOUBLE stride 100");

  /* Groups, operations, error handlers, infos */
  MPI_Group of_half, of_others, empty = MPI_GROUP_EMPTY, null_group = MPI_GROUP_NULL;
  MPI_Comm_group(half, &of_half);
  MPI_Group of_world;
  MPI_Comm_group(MPI_COMM_WORLD, &of_world);
  MPI_Group_difference(of_world, of_half, &of_others);
  account_group("of_half", NULL, of_half);
  account_group("of_others", NULL, of_others);
  account("empty", NULL, "\"kind\":\"group\",\"state\":\"predefined\",\"name\":\"MPI_GROUP_EMPTY\"");
  account("null_group", NULL, "\"kind\":\"group\",\"state\":\"null\",\"name\":\"MPI_GROUP_NULL\"");
  MPI_Op sum = MPI_SUM, first, commuting, null_op = MPI_OP_NULL;
  MPI_Op_create(first_of_two, 0, &first);
  MPI_Op_create(first_of_two, 1, &commuting);
  account("sum", NULL, "\"kind\":\"op\",\"state\":\"predefined\",\"name\":\"MPI_SUM\"");
  account("first", NULL, "\"kind\":\"op\",\"state\":\"live\",\"commutative\":false");
  account("commuting", NULL, "\"kind\":\"op\",\"state\":\"live\",\"commutative\":true");
  account("null_op", NULL, "\"kind\":\"op\",\"state\":\"null\",\"name\":\"MPI_OP_NULL\"");
  MPI_Errhandler returns = MPI_ERRORS_RETURN, own, null_handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(user_handler, &own);
  account("returns", NULL, "\"kind\":\"errhandler\",\"state\":\"predefined\",\"name\":\"MPI_ERRORS_RETURN\"");
  account("own", NULL, "\"kind\":\"errhandler\",\"state\":\"live\"");
  account("null_handler", NULL, "\"kind\":\"errhandler\",\"state\":\"null\",\"name\":\"MPI_ERRHANDLER_NULL\"");
  MPI_Info hints, null_info = MPI_INFO_NULL;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "striping_factor", "4");
  MPI_Info_set(hints, "access_style", "write_once,random");
  account("hints", NULL,
          "\"kind\":\"info\",\"state\":\"live\",\"info\":[{\"key\":\"striping_factor\",\"value\":\"4\"},"
          "{\"key\":\"access_style\",\"value\":\"write_once,random\"}]");
  account("null_info", NULL, "\"kind\":\"info\",\"state\":\"null\",\"name\":\"MPI_INFO_NULL\"");

  /* Requests */
  static double large[1 << 17];
  int numbers[4] = {0};
  const int next = (rank + 1) % size;
  MPI_Request sending, receiving, any, persistent, done, generalized, null_request = MPI_REQUEST_NULL;
  MPI_Isend(large, 1 << 17, MPI_DOUBLE, next, 7, halo, &sending);
  MPI_Irecv(numbers, 3, MPI_INT, next, 8, halo, &receiving);
  MPI_Irecv(numbers, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, grid, &any);
  MPI_Send_init(large, 10, MPI_DOUBLE, next, 9, halo, &persistent);
  int token = 1;
  MPI_Request to_self;
  MPI_Isend(&token, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &to_self);
  MPI_Irecv(numbers, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &done);
  MPI_Wait(&to_self, MPI_STATUS_IGNORE);
  for (int flag = 0; !flag;) MPI_Request_get_status(done, &flag, MPI_STATUS_IGNORE);
  MPI_Grequest_start(no_status, no_free, no_cancel, NULL, &generalized);
  solver.requests[0] = receiving;
  solver.requests[1] = MPI_REQUEST_NULL;
  account_request("sending", NULL, "isend", "pending", halo, next, 7, (1 << 17) * 8L);
  account_request("receiving", NULL, "irecv", "pending", halo, next, 8, 12);
  account_request("any", NULL, "irecv", "pending", grid, MPI_ANY_SOURCE, MPI_ANY_TAG, 16);
  account_request("persistent", NULL, "send_init", "inactive", halo, next, 9, 80);
  account_request("done", NULL, "irecv", "complete", MPI_COMM_SELF, 0, 3, 4);
  account_request("solver.requests[0]", NULL, "irecv", "pending", halo, next, 8, 12);
  account("solver.requests[1]", NULL, "\"kind\":\"request\",\"state\":\"null\",\"name\":\"MPI_REQUEST_NULL\"");
  account("generalized", NULL, "\"kind\":\"request\",\"state\":\"live\",\"operation\":{\"kind\":\"generalized\"}");
  account("null_request", NULL, "\"kind\":\"request\",\"state\":\"null\",\"name\":\"MPI_REQUEST_NULL\"");

  /* A status, and a message that a probe has taken */
  MPI_Status status;
  MPI_Message message, no_message = MPI_MESSAGE_NULL;
  MPI_Isend(&token, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &to_self);
  MPI_Mprobe(0, 4, MPI_COMM_SELF, &message, &status);
  account_status("status", NULL, 0, 4, 4);
  account("message", NULL,
          "\"kind\":\"message\",\"state\":\"live\",\"communicator\":{\"name\":\"MPI_COMM_SELF\"},"
          "\"operation\":{\"actual_local_rank\":0,\"actual_tag\":4}");
  account("no_message", NULL, "\"kind\":\"message\",\"state\":\"null\",\"name\":\"MPI_MESSAGE_NULL\"");

  /* Windows, each with an epoch of its own open */
  static int exposed[64];
  int *allocated, *shared;
  MPI_Win created, fenced, locked, everyone, dynamic, posted, null_win = MPI_WIN_NULL;
  MPI_Win_create(exposed, sizeof exposed, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
  MPI_Win_set_name(created, "ghost cells");
  MPI_Win_allocate(256, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &fenced);
  MPI_Win_set_name(fenced, "fenced");
  MPI_Win_fence(0, fenced);
  MPI_Win_create(exposed, sizeof exposed, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &locked);
  MPI_Win_set_name(locked, "locked");
  if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, locked);
  if (rank == 2) MPI_Win_lock(MPI_LOCK_SHARED, 3, 0, locked);
  MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &everyone);
  MPI_Win_set_name(everyone, "everyone");
  MPI_Win_lock_all(0, everyone);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_set_name(dynamic, "dynamic");
  MPI_Win_create(exposed, sizeof exposed, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &posted);
  MPI_Win_set_name(posted, "posted");
  MPI_Group peer;
  MPI_Group_incl(of_world, 1, (int[]){rank ^ 1}, &peer);
  if (rank % 2 == 0) MPI_Win_post(peer, 0, posted);
  else MPI_Win_start(peer, 0, posted);
  account_window("created", NULL, created, "create", "[]");
  account_window("fenced", NULL, fenced, "allocate", "[{\"kind\":\"fence\"}]");
  account_window("locked", NULL, locked, "create",
                 rank == 0   ? "[{\"kind\":\"lock\",\"exclusive\":true,\"ranks\":[1]}]"
                 : rank == 2 ? "[{\"kind\":\"lock\",\"exclusive\":false,\"ranks\":[3]}]"
                             : "[]");
  account_window("everyone", NULL, everyone, "shared", "[{\"kind\":\"lock_all\"}]");
  account_window("dynamic", NULL, dynamic, "dynamic", "[]");
  char epoch[64];
  snprintf(epoch, sizeof epoch, "[{\"kind\":\"%s\",\"ranks\":[%d]}]", rank % 2 == 0 ? "post" : "start", rank ^ 1);
  account_window("posted", NULL, posted, "create", epoch);
  account("null_win", NULL, "\"kind\":\"win\",\"state\":\"null\",\"name\":\"MPI_WIN_NULL\"");

#ifdef MPI_MODE_RDWR /* else the library was built without files */
  char path[4096];
  snprintf(path, sizeof path, "%s/restart.dat", expect_self.outdir);
  MPI_File file, null_file = MPI_FILE_NULL;
  if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
    expect_die("can't open %s", path);
  account_file("file", NULL, path, "[\"MPI_MODE_CREATE\",\"MPI_MODE_RDWR\"]", MPI_COMM_WORLD);
  account("null_file", NULL, "\"kind\":\"file\",\"state\":\"null\",\"name\":\"MPI_FILE_NULL\"");
#endif

  /* Last, since whatever is made next may have the same handle. */
  MPI_Comm to_free;
  MPI_Comm_dup(MPI_COMM_SELF, &to_free);
  freed_comm = to_free;
  MPI_Comm_free(&to_free);
  account("freed_comm", NULL, "\"kind\":\"comm\",\"state\":[\"freed\",\"invalid\"]");
  MPI_Datatype free_me;
  MPI_Type_contiguous(77, MPI_BYTE, &free_me);
  freed_type = free_me;
  MPI_Type_free(&free_me);
  account("freed_type", NULL, "\"kind\":\"datatype\",\"state\":[\"freed\",\"invalid\"]");

  account_write();
  MPI_Barrier(MPI_COMM_WORLD);
  expect_write();
  expect_ready(false);
  expect_hold();
  return solver.comm != halo;
}
