/* The account of handles; see handles_account.h. */
#define _POSIX_C_SOURCE 200809L
#include "handles_account.h"
#include "expect.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1 << 18];
static size_t length;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put_list(const char *format, va_list args) {
  int n = vsnprintf(text + length, sizeof text - length, format, args);
  if (n < 0 || (size_t)n >= sizeof text - length) expect_die("the account of handles is too long");
  length += (size_t)n;
}
static void put(const char *format, ...) {
  va_list args;
  va_start(args, format);
  put_list(format, args);
  va_end(args);
}

static void begin(const char *expression, account_type type) {
  put("%s\n{\"expression\":\"%s\",\"type\":\"%s\",\"handle\":{", length ? "," : "", expression,
      type ? type : "");
}

void account(const char *expression, account_type type, const char *format, ...) {
  begin(expression, type);
  va_list args;
  va_start(args, format);
  put_list(format, args);
  va_end(args);
  put("}}");
}

/* The global ranks of a group. */
static void put_members(MPI_Group group) {
  int size;
  MPI_Group world;
  MPI_Group_size(group, &size);
  MPI_Comm_group(expect_self.world, &world);
  put("[");
  for (int i = 0; i < size; i++) {
    int global;
    MPI_Group_translate_ranks(group, 1, &i, world, &global);
    if (global == MPI_UNDEFINED) put("%snull", i ? "," : "");
    else put("%s%d", i ? "," : "", global);
  }
  put("]");
  MPI_Group_free(&world);
}

/* What a program has not named, the library may have. */
static void put_name_of_comm(const char *name) {
  if (*name) put("\"name\":\"%s\",", name);
}

static void put_name(const char *name) { put("\"name\":\"%s\"", name); }

static void put_topology(MPI_Comm comm) {
  int kind;
  MPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) {
    int dimensions;
    MPI_Cartdim_get(comm, &dimensions);
    int sizes[4], periods[4], coordinates[4];
    MPI_Cart_get(comm, 4, sizes, periods, coordinates);
    put(",\"topology\":\"cartesian\",\"dimensions\":[");
    for (int i = 0; i < dimensions; i++)
      put("%s[%d,%d,%d]", i ? "," : "", sizes[i], periods[i] != 0, coordinates[i]);
    put("]");
  } else if (kind == MPI_GRAPH) {
    int rank, neighbours, list[16];
    MPI_Comm_rank(comm, &rank);
    MPI_Graph_neighbors_count(comm, rank, &neighbours);
    MPI_Graph_neighbors(comm, rank, 16, list);
    put(",\"topology\":\"graph\",\"destinations\":[");
    for (int i = 0; i < neighbours; i++) put("%s%d", i ? "," : "", list[i]);
    put("]");
  } else if (kind == MPI_DIST_GRAPH) {
    int in, out, weighted, sources[16], destinations[16], weights[32];
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    MPI_Dist_graph_neighbors(comm, 16, sources, weights, 16, destinations, weights + 16);
    put(",\"topology\":\"distributed_graph\",\"sources\":[");
    for (int i = 0; i < in; i++) put("%s%d", i ? "," : "", sources[i]);
    put("],\"destinations\":[");
    for (int i = 0; i < out; i++) put("%s%d", i ? "," : "", destinations[i]);
    put("]");
  } else {
    put(",\"topology\":\"none\"");
  }
}

void account_comm(const char *expression, account_type type, MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME];
  int rank, size, inter, n;
  MPI_Comm_get_name(comm, name, &n);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_test_inter(comm, &inter);
  MPI_Group group;
  MPI_Comm_group(comm, &group);
  begin(expression, type);
  bool predefined = comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
  put("\"kind\":\"comm\",\"state\":\"%s\",\"fortran_handle\":%ld,", predefined ? "predefined" : "live",
      (long)MPI_Comm_c2f(comm));
  put_name_of_comm(name);
  put("\"communicator\":{");
  put_name_of_comm(name);
  put("\"local_rank\":%d,\"size\":%d,\"inter\":%s,\"group\":", rank, size, inter ? "true" : "false");
  put_members(group);
  MPI_Group_free(&group);
  if (inter) {
    MPI_Comm_remote_group(comm, &group);
    put(",\"remote_group\":");
    put_members(group);
    MPI_Group_free(&group);
  } else {
    put_topology(comm);
  }
  put("}}}");
}

void account_group(const char *expression, account_type type, MPI_Group group) {
  int rank, size;
  MPI_Group_rank(group, &rank);
  MPI_Group_size(group, &size);
  begin(expression, type);
  put("\"kind\":\"group\",\"state\":\"live\",\"group\":{\"local_rank\":");
  if (rank == MPI_UNDEFINED) put("null");
  else put("%d", rank);
  put(",\"size\":%d,\"members\":", size);
  put_members(group);
  put("}}}");
}

void account_datatype(const char *expression, account_type type, MPI_Datatype datatype,
                      const char *construction) {
  char name[MPI_MAX_OBJECT_NAME];
  int n, size, integers, addresses, types, combiner;
  MPI_Aint lower, extent;
  MPI_Type_get_name(datatype, name, &n);
  MPI_Type_size(datatype, &size);
  MPI_Type_get_extent(datatype, &lower, &extent);
  MPI_Type_get_envelope(datatype, &integers, &addresses, &types, &combiner);
  begin(expression, type);
  put("\"kind\":\"datatype\",\"state\":\"%s\",", combiner == MPI_COMBINER_NAMED ? "predefined" : "live");
  put_name(name);
  put(",\"datatype\":{");
  put_name(name);
  put(",\"size\":%d,\"lower_bound\":%ld,\"extent\":%ld", size, (long)lower, (long)extent);
  if (construction) put(",\"construction\":\"%s\"", construction);
  put("}}}");
}

void account_request(const char *expression, account_type type, const char *kind,
                     const char *status, MPI_Comm comm, int peer, int tag, long bytes) {
  char name[MPI_MAX_OBJECT_NAME];
  int n;
  MPI_Comm_get_name(comm, name, &n);
  begin(expression, type);
  put("\"kind\":\"request\",\"state\":\"live\",\"communicator\":{");
  put_name(name);
  put("},\"operation\":{\"kind\":\"%s\",\"status\":\"%s\"", kind, status);
  if (bytes >= 0) {
    put(",\"desired_local_rank\":%d,\"desired_length\":%ld", peer == MPI_ANY_SOURCE ? -1 : peer, bytes);
    if (tag == MPI_ANY_TAG) put(",\"tag_wild\":true,\"desired_tag\":null");
    else put(",\"tag_wild\":false,\"desired_tag\":%d", tag);
  }
  put("}}}");
}

void account_window(const char *expression, account_type type, MPI_Win win, const char *flavor,
                    const char *epochs) {
  char name[MPI_MAX_OBJECT_NAME];
  int n, rank, size, found, *unit;
  void *base;
  MPI_Aint *bytes;
  MPI_Group group;
  MPI_Win_get_name(win, name, &n);
  MPI_Win_get_group(win, &group);
  MPI_Group_rank(group, &rank);
  MPI_Group_size(group, &size);
  MPI_Group_free(&group);
  begin(expression, type);
  put("\"kind\":\"win\",\"state\":\"live\",");
  put_name(name);
  put(",\"window\":{");
  put_name(name);
  put(",\"local_rank\":%d,\"size\":%d,\"flavor\":\"%s\"", rank, size, flavor);
  if (strcmp(flavor, "dynamic") != 0) {
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &found);
    put(",\"base\":\"%p\"", base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &found);
    put(",\"length\":%ld", (long)*bytes);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &found);
    put(",\"displacement_unit\":%d", *unit);
  }
  if (epochs) put(",\"epochs\":%s", epochs);
  put("}}}");
}

void account_file(const char *expression, account_type type, const char *name, const char *modes,
                  MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  begin(expression, type);
  put("\"kind\":\"file\",\"state\":\"live\",");
  put_name(name);
  put(",\"file\":{");
  put_name(name);
  put(",\"local_rank\":%d,\"size\":%d,\"access_mode\":%s}}}", rank, size, modes);
}

void account_status(const char *expression, account_type type, int source, int tag, long bytes) {
  account(expression, type, "\"kind\":\"status\",\"status\":{\"source\":%d,\"tag\":%d,\"length\":%ld}",
          source, tag, bytes);
}

void account_write(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/handles-%d.json", expect_self.outdir, expect_self.world_rank);
  FILE *file = fopen(path, "w");
  if (!file || fprintf(file, "[%s\n]\n", text) < 0 || fclose(file) != 0) expect_die("can't write %s", path);
}
