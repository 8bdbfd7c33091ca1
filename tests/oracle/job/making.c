/* The communicators of a plan; see perform.h. */
#include "perform.h"

static int place(const int *list, int n, int *color) {
  for (int i = 0; i < n; i++)
    if (list[i] == family.rank) return i;
  *color = MPI_UNDEFINED;
  return 0;
}

static MPI_Comm from_group(MPI_Comm parent, const struct plan_comm *of, const struct plan_comm *c) {
  MPI_Comm made;
  MPI_Group all, some;
  int ranks[MOST_RANKS];
  for (int i = 0; i < c->size; i++) ranks[i] = plan_rank_of(of, c->members[i]);
  MPI_Comm_group(parent, &all);
  MPI_Group_incl(all, c->size, ranks, &some);
  MPI_Comm_create(parent, some, &made);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return made;
}

static MPI_Comm between(MPI_Comm parent, const struct plan_comm *of, const struct plan_comm *c) {
  MPI_Comm made, shore;
  int color = 0, left = plan_rank_of(of, c->members[0]), right = plan_rank_of(of, c->remote[0]);
  int key = place(c->members, c->size, &color);
  bool other = color == MPI_UNDEFINED;
  if (other) key = place(c->remote, c->remote_size, &color);
  MPI_Comm_split(parent, other, key, &shore);
  MPI_Intercomm_create(shore, 0, parent, other ? left : right, 9, &made);
  MPI_Comm_free(&shore);
  return made;
}

MPI_Comm make_communicator(MPI_Comm parent, const struct plan_comm *of, const struct plan_comm *c) {
  MPI_Comm made = MPI_COMM_NULL;
  int color = 0, key, n = c->size, at = plan_rank_of(of, family.rank);
  int one = 1, next = (at + 1) % n, previous = (at + n - 1) % n;
  int ends[MOST_RANKS], ring[2 * MOST_RANKS];
  switch (c->making) {
  case WORLD: return family.comm;
  case DUP: MPI_Comm_dup(parent, &made); break;
  case SPLIT:
    key = place(c->members, n, &color);
    MPI_Comm_split(parent, color, key, &made);
    break;
  case GROUP: made = from_group(parent, of, c); break;
  case CART: MPI_Cart_create(parent, 1, &n, (int[]){1}, 0, &made); break;
  case GRAPH:
    for (int i = 0; i < n; i++) ends[i] = i + 1, ring[i] = (i + 1) % n;
    MPI_Graph_create(parent, n, ends, ring, 0, &made);
    break;
  case DIST_GRAPH:
    MPI_Dist_graph_create_adjacent(parent, 1, &previous, &one, 1, &next, &one, MPI_INFO_NULL, 0, &made);
    break;
  case BETWEEN: made = between(parent, of, c); break;
  }
  return made;
}
