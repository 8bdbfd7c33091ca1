/* The plan of a random job; see plan.h. */
#include "plan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

/* splitmix64 (Steele, Lea and Flood, 2014). */
static uint64_t draw(void) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int below(int n) { return (int)(draw() % (uint64_t)n); }
static bool chance(int percent) { return below(100) < percent; }

static void shuffle(int *list, int n) {
  for (int i = n - 1; i > 0; i--) {
    int k = below(i + 1), other = list[k];
    list[k] = list[i];
    list[i] = other;
  }
}

/* Communicators */

static const char *const names[] = {
    NULL,
    NULL,
    "ocean model",
    "",
    "twin",
    "twin",
    "a name of sixty-three bytes, which is all that MPI allows: 63..",
    "M\303\266bius \346\265\267",
    "\"quotes\", back\\slash, <tag> & {braces} %s",
    " a blank at either end ",
    "context 0x4",
};

static int find(const int *list, int n, int rank) {
  for (int i = 0; i < n; i++)
    if (list[i] == rank) return i;
  return -1;
}

int plan_rank_of(const struct plan_comm *c, int rank) {
  int at = find(c->members, c->size, rank);
  return at >= 0 || c->remote_size < 0 ? at : find(c->remote, c->remote_size, rank);
}

bool plan_member(const struct plan_comm *c, int rank) { return plan_rank_of(c, rank) >= 0; }

static void make_comm(struct plan *p, enum making making) {
  int parent = 0;
  struct plan_comm *c = &p->comm[p->comms];
  do parent = below(p->comms);
  while (making != DUP && p->comm[parent].remote_size >= 0);
  *c = p->comm[parent];
  c->making = making;
  c->parent = parent;
  c->name = names[below((int)(sizeof names / sizeof *names))];
  c->silent = chance(20);
  c->freed = chance(15);
  if (making == SPLIT || making == GROUP) {
    shuffle(c->members, c->size);
    c->size = 1 + below(c->size);
  } else if (making == BETWEEN) {
    if (c->size < 2) return;
    shuffle(c->members, c->size);
    int left = 1 + below(c->size - 1);
    c->remote_size = c->size - left;
    memcpy(c->remote, c->members + left, (size_t)c->remote_size * sizeof(int));
    c->size = left;
  }
  p->comms++;
}

static void make_comms(struct plan *p) {
  p->comm[0] = (struct plan_comm){.making = WORLD, .parent = NO_COMM, .size = p->ranks, .remote_size = -1, .name = "MPI_COMM_WORLD"};
  for (int i = 0; i < p->ranks; i++) p->comm[0].members[i] = i;
  p->comms = 1;
  for (int n = below(MOST_COMMS - 1); n > 0; n--) make_comm(p, DUP + below(BETWEEN - DUP + 1));
  /* A communicator that children are made of stays, and hears no message while they are. */
  for (int i = 1; i < p->comms; i++) p->comm[p->comm[i].parent].freed = false;
}

/* Items */

static const char *const sends[] = {"isend", "isend", "isend", "issend", "issend", "ibsend",
                                    "persistent_send", "persistent_ssend", "persistent_bsend"};
static const char *const receives[] = {"irecv", "irecv", "irecv", "irecv", "persistent_recv"};

static int choose_count(int type) {
  int size = plan_type_sizes[type] ? plan_type_sizes[type] : 1;
  switch (below(8)) {
  case 0: return 0;
  case 1: return 1;
  case 2: case 3: return 1 + 300000 / size; /* a rendezvous with every MPI */
  case 4: return 1 + 2000 / size;           /* eager, and more than goes into a request */
  default: return 1 + below(20);
  }
}

static void choose_ranks(const struct plan_comm *c, struct plan_item *item) {
  if (c->remote_size < 0) {
    item->from = c->members[below(c->size)];
    item->to = c->members[below(c->size)];
    return;
  }
  int left = c->members[below(c->size)], right = c->remote[below(c->remote_size)];
  bool turned = chance(50);
  item->from = turned ? right : left;
  item->to = turned ? left : right;
}

static bool of(const char *kind, const char *word) { return strstr(kind, word) != NULL; }

static void make_item(struct plan *p) {
  struct plan_item *item = &p->item[p->items], *before = item - 1;
  int number = below(p->comms);
  const struct plan_comm *c = &p->comm[number];
  memset(item, 0, sizeof *item);
  item->comm = number;
  item->act = chance(50) ? (enum act)below(2) : (enum act)below(ACTS);
  if (c->silent && item->act != CANCELLED_RECEIVE && item->act != IDLE_PERSISTENT && item->act != NO_PROCESS)
    item->act = UNMATCHED_RECEIVE;
  /* MPICH matches partitioned operations by the context that each side sends with: between groups, none. */
  if (c->remote_size >= 0 && item->act >= PARTITIONED_SEND) item->act = UNMATCHED_RECEIVE;
  /* MPICH's ch4 gives the place of such a request to another at once if it has one process alone. */
  if (item->act == FREED_REQUEST && c->size == 1 && c->remote_size < 0) item->act = UNMATCHED_RECEIVE;
  choose_ranks(c, item);
  item->tag = p->items == 5 ? 32767 : p->items;
  item->type = below(TYPES);
  item->count = choose_count(item->type);
  item->spare = chance(30) ? below(50) : 0;
  item->send = sends[below((int)(sizeof sends / sizeof *sends))];
  item->receive = receives[below((int)(sizeof receives / sizeof *receives))];
  item->thread = chance(10);
  switch (item->act) {
  case UNEXPECTED_MESSAGE:
    if (p->items > 0 && before->act == UNEXPECTED_MESSAGE && before->comm == number && before->from == item->from && before->to == item->to) {
      item->again = true;
      item->tag = before->tag;
    }
    break;
  case UNMATCHED_RECEIVE:
    item->any_source = chance(30);
    item->any_tag = c->silent && chance(40);
    /* Of one with gaps MPICH's ch4 lists the parts, one by one. */
    if (chance(5) && (item->type < 7 || item->type > 9)) item->count = 1 << 30;
    break;
  case COMPLETE_PAIR:
  case COLLECTED_PAIR:
    item->any_source = chance(30);
    if (chance(15)) item->send = chance(50) ? "irsend" : "persistent_rsend";
    break;
  case FREED_REQUEST: item->receive = "irecv"; break;
  case HELD_MESSAGE:
  case TAKEN_MESSAGE: item->send = "isend"; break;
  case PARTITIONED_SEND:
  case PARTITIONED_RECEIVE:
  case PARTITIONED_PAIR:
    item->pieces = 1 + below(5);
    item->landings = 1 + below(5);
    item->count = (item->count + 24) / 25 * item->pieces * item->landings;
    item->ready = chance(40) ? item->pieces : below(item->pieces);
    item->spare = 0;
    item->send = item->receive = "partitioned";
    break;
  default: break;
  }
  /* Nothing large is in the attached buffer; over UCX MPICH 4.0 fails to receive it into what has gaps. */
  if (of(item->send, "bsend") && item->count > 100) item->count = 100;
  p->items++;
}

bool plan_waits_for_two(enum call call) { return call >= IN_WAITALL && call <= IN_WAITSOME; }

static int before(const struct plan *p, int rank) {
  int by;
  do by = below(rank);
  while (p->block[by].call >= IN_BARRIER);
  return by;
}

static void make_block(struct plan *p, int rank, enum call collective) {
  struct plan_block *b = &p->block[rank];
  b->call = (enum call)below(CALLS);
  if (b->call >= IN_BARRIER) b->call = collective;
  b->by = before(p, rank);
  b->other = plan_waits_for_two(b->call) ? before(p, rank) : b->by;
}

/* Each rank waits for some other; those on the circle for the next on it. */
static void make_endless(struct plan *p, enum call collective) {
  int order[MOST_RANKS], n = p->ranks, circle = 1 + below(n);
  for (int i = 0; i < n; i++) order[i] = i;
  shuffle(order, n);
  for (int i = 0; i < n; i++) {
    struct plan_block *b = &p->block[order[i]];
    int other = order[chance(50) ? n - 1 : below(n)]; /* the last one is on the circle only if all are */
    if (i < circle) {
      b->call = IN_RECV + below(IN_BARRIER - IN_RECV);
      b->by = order[(i + 1) % circle];
    } else {
      /* One that comes back may release a rank on the circle that waits for either of two. */
      b->call = chance(50) ? OUTSIDE : (enum call)below(CALLS);
      if (b->call >= IN_BARRIER) b->call = collective;
      do b->by = below(n);
      while (b->by == order[i]);
    }
    b->other = plan_waits_for_two(b->call) && other != order[i] ? other : b->by;
  }
}

/* Whether the ranks that one waits for are all released, as far as is known so far. */
static bool is_released(const struct plan *p, int rank) {
  const struct plan_block *b = &p->block[rank];
  if (b->call == OUTSIDE) return true;
  bool by = !p->block[b->by].hangs, other = !p->block[b->other].hangs;
  if (b->call == IN_WAITANY || b->call == IN_WAITSOME) return by || other;
  if (b->call < IN_BARRIER) return by && other;
  for (int i = 0; i < p->ranks; i++)
    if (p->block[i].call < IN_BARRIER && p->block[i].hangs) return false;
  return true;
}

static void find_hanging(struct plan *p) {
  for (int i = 0; i < p->ranks; i++) p->block[i].hangs = true;
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < p->ranks; i++)
      if (p->block[i].hangs && is_released(p, i)) p->block[i].hangs = false, more = true;
  }
  p->endless = false;
  for (int i = 0; i < p->ranks; i++) p->endless |= p->block[i].hangs;
}

void plan_make(struct plan *p, unsigned long seed, int ranks) {
  memset(p, 0, sizeof *p);
  p->seed = seed;
  p->ranks = ranks;
  state = seed;
  make_comms(p);
  for (int n = 1 + below(MOST_ITEMS); n > 0; n--) make_item(p);
  enum call collective = IN_BARRIER + below(CALLS - IN_BARRIER);
  if (seed % ENDLESS == 0) make_endless(p, collective);
  else
    for (int rank = 1; rank < ranks; rank++) make_block(p, rank, collective);
  for (int rank = 0; rank < ranks; rank++) {
    struct plan_block *b = &p->block[rank];
    b->thread = chance(30) && b->call != OUTSIDE && b->call < IN_BARRIER && b->other == b->by;
  }
  find_hanging(p);
}

/* A part of a plan */

static bool kept(int number, int count, char **numbers) {
  for (int i = 0; i < count; i++)
    if (atoi(numbers[i]) == number) return true;
  return false;
}

void plan_keep(struct plan *p, int count, char **numbers) {
  for (int i = 0; i < p->items; i++)
    if (!kept(i, count, numbers)) p->item[i].comm = NO_COMM;
  for (int rank = 0; rank < p->ranks; rank++)
    if (!kept(p->items + rank, count, numbers)) p->block[rank].call = OUTSIDE;
  find_hanging(p);
}

bool plan_needs(const struct plan *p, int comm) {
  for (int i = 0; i < p->items; i++)
    if (p->item[i].comm == comm) return true;
  for (int i = comm + 1; i < p->comms; i++)
    if (p->comm[i].parent == comm && plan_needs(p, i)) return true;
  return comm == 0;
}

void plan_print(const struct plan *p) {
  static const char *const acts[ACTS] = {"unexpected message", "unmatched receive", "complete pair", "collected pair", "cancelled receive",
                                         "freed request", "idle persistent", "no process", "held message", "taken message",
                                         "partitioned send", "partitioned receive", "partitioned pair"};
  static const char *const makings[] = {"world", "dup", "split", "group", "cart", "graph", "dist graph", "between"};
  for (int i = 0; i < p->comms; i++) {
    const struct plan_comm *c = &p->comm[i];
    printf("communicator %d: %s of %d, %s%s%s, ranks", i, makings[c->making], c->parent, c->name ? c->name : "(no name)",
           c->silent ? ", silent" : "", c->freed ? ", freed" : "");
    for (int k = 0; k < c->size; k++) printf(" %d", c->members[k]);
    if (c->remote_size >= 0) printf(" and");
    for (int k = 0; k < c->remote_size; k++) printf(" %d", c->remote[k]);
    printf("\n");
  }
  for (int i = 0; i < p->items; i++) {
    const struct plan_item *t = &p->item[i];
    if (t->comm != NO_COMM)
      printf("item %d: %s on %d, %d to %d, tag %d, type %d, count %d+%d, %d of %d ready, %s, %s%s%s%s%s\n", i, acts[t->act], t->comm, t->from,
             t->to, t->tag, t->type, t->count, t->spare, t->ready, t->pieces, t->send, t->receive, t->any_source ? ", any source" : "", t->any_tag ? ", any tag" : "",
             t->again ? ", again" : "", t->thread ? ", thread" : "");
  }
  for (int i = 0; i < p->ranks; i++)
    if (p->block[i].call != OUTSIDE) printf("item %d: rank %d in call %d, released by %d and %d%s%s\n", p->items + i, i, p->block[i].call, p->block[i].by,
             p->block[i].other, p->block[i].hangs ? ", hangs" : "", p->block[i].thread ? ", with a thread" : "");
}
