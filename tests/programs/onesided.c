/*
 * onesided: ranks that hang in one-sided communication, or only look so; see modes.h.
 *
 * What a mode's comment says who waits for whom is so where a call waits that may: some
 * MPIs go on, and wait in the call that comes next. MAKE=create in the environment lets
 * windows have memory of the program's.
 */
#include "expect.h"
#include "modes.h"

#include <stdlib.h>

static MPI_Comm world = MPI_COMM_WORLD;

static MPI_Win window(const char *name) {
  static double memory[2][SMALL];
  static int made;
  const char *how = getenv("MAKE");
  MPI_Win win;
  void *base;
  if (how && !strcmp(how, "create"))
    MPI_Win_create(memory[made++], sizeof memory[0], sizeof(double), MPI_INFO_NULL, world, &win);
  else
    MPI_Win_allocate(sizeof memory[0], sizeof(double), MPI_INFO_NULL, world, &base, &win);
  MPI_Win_set_name(win, name);
  return win;
}

/* A lock that is held for certain: one that a value has been brought with. */
static void lock(int kind, int target, MPI_Win win) {
  MPI_Win_lock(kind, target, 0, win); /* @lock */
  MPI_Get(in, 1, MPI_DOUBLE, target, 0, 1, MPI_DOUBLE, win);
  MPI_Win_flush(target, win); /* @flush */
}

static MPI_Group just(int member) {
  MPI_Group all, one;
  MPI_Comm_group(world, &all);
  MPI_Group_incl(all, 1, &member, &one);
  MPI_Group_free(&all);
  return one;
}

/* 1 → 0 → 1: rank 0 does not unlock. */
static void held(void) {
  MPI_Win win = window("ghost cells");
  if (rank == 0) lock(MPI_LOCK_EXCLUSIVE, 0, win);
  MPI_Barrier(world);
  if (rank == 0) RECV(1, TAG, world); /* @held-recv */
  lock(MPI_LOCK_EXCLUSIVE, 0, win);
}

/* 1 → 2 → 1: both want rank 0's memory. Rank 0 waits for rank 1: it is stuck. */
static void held_elsewhere(void) {
  MPI_Win win = window("ghost cells");
  if (rank == 2) lock(MPI_LOCK_EXCLUSIVE, 0, win);
  MPI_Barrier(world);
  if (rank == 1) lock(MPI_LOCK_SHARED, 0, win);
  RECV(1, TAG, world); /* @held-elsewhere */
}

/* 0 → 1 → 0: each has one window's lock and wants the other's. */
static void two_windows(void) {
  MPI_Win wins[2] = {window("left"), window("right")};
  lock(MPI_LOCK_EXCLUSIVE, 0, wins[rank]);
  MPI_Barrier(world);
  lock(MPI_LOCK_EXCLUSIVE, 0, wins[1 - rank]);
}

/* 0 → 1 → 0: each has the lock of one rank's memory and wants the other's. */
static void two_targets(void) {
  MPI_Win win = window("ghost cells");
  lock(MPI_LOCK_EXCLUSIVE, rank, win);
  MPI_Barrier(world);
  lock(MPI_LOCK_EXCLUSIVE, 1 - rank, win);
}

static void lock_all(MPI_Win win) {
  MPI_Win_lock_all(0, win); /* @lock-all */
  for (int i = 0; i < size; i++) MPI_Get(in, 1, MPI_DOUBLE, i, 0, 1, MPI_DOUBLE, win);
  MPI_Win_flush_all(win); /* @flush-all */
}

/* 1 → 0 → 1: rank 0 has all locks, and rank 1 wants one for itself. */
static void all_held(void) {
  MPI_Win win = window("ghost cells");
  if (rank == 0) lock_all(win);
  MPI_Barrier(world);
  if (rank == 1) lock(MPI_LOCK_EXCLUSIVE, 0, win);
  RECV(1, TAG, world); /* @all-held */
}

/* 1 → 0 → 1: rank 0 has one lock for itself, and rank 1 wants all. */
static void all_wanted(void) {
  MPI_Win win = window("ghost cells");
  if (rank == 0) lock(MPI_LOCK_EXCLUSIVE, 1, win);
  MPI_Barrier(world);
  if (rank == 1) lock_all(win);
  RECV(1, TAG, world); /* @all-wanted */
}

/* 0 → 1 → 2 → 0: rank 0 posts to rank 1, which starts with rank 2. An MPI that takes the post for that of rank 2 lets
 * rank 1 go on: 0 → 1 → 0, then, and rank 2 waits for rank 0. */
static void other_group(void) {
  MPI_Win win = window("ghost cells");
  if (rank == 0) {
    MPI_Win_post(just(1), 0, win);
    MPI_Win_wait(win); /* @other-group-wait */
  } else if (rank == 1) {
    MPI_Win_start(just(2), 0, win); /* @other-group */
    MPI_Win_complete(win); /* @other-group-complete */
    RECV(0, TAG, world);
  } else {
    RECV(0, TAG, world); /* @other-group-recv */
  }
}

/* 0 → 1 → 0: each starts before it posts. */
static void both_start(void) {
  MPI_Win win = window("ghost cells");
  MPI_Win_start(just(1 - rank), 0, win); /* @both-start */
  MPI_Win_complete(win); /* @both-start-complete */
  MPI_Win_post(just(1 - rank), 0, win);
  MPI_Win_wait(win);
}

/* 0 → 1 → 0: rank 1 does not complete. */
static void no_complete(void) {
  MPI_Win win = window("ghost cells");
  if (rank == 0) {
    MPI_Win_post(just(1), 0, win);
    MPI_Win_wait(win); /* @no-complete */
  } else {
    MPI_Win_start(just(0), 0, win);
    RECV(0, TAG, world); /* @no-complete-recv */
  }
}

/* 0 → 1 → 0: rank 1 does not start. */
static void no_start(void) {
  MPI_Win win = window("ghost cells");
  if (rank == 0) {
    MPI_Win_post(just(1), 0, win);
    MPI_Win_wait(win); /* @no-start */
  } else {
    RECV(0, TAG, world); /* @no-start-recv */
  }
}

/* 0 → 1 → 0: each has posted, and waits for the other's accesses. */
static void both_wait(void) {
  MPI_Win win = window("ghost cells");
  MPI_Win_post(just(1 - rank), 0, win);
  MPI_Win_wait(win); /* @both-wait */
}

/* 0 → 1 → 0. */
static void fence(void) {
  MPI_Win win = window("ghost cells");
  if (rank == 0) MPI_Win_fence(0, win); /* @fence */
  else MPI_Barrier(world); /* @fence-barrier */
}

/* 0 → 1 → 0: rank 1 does not close the epoch that it has opened. */
static void fence_missing(void) {
  MPI_Win win = window("ghost cells");
  MPI_Win_fence(0, win);
  if (rank == 0) MPI_Win_fence(0, win); /* @fence-missing */
  else RECV(0, TAG, world); /* @fence-missing-recv */
}

/* 0 → 1 → 0: rank 1 does not free the window. */
static void free_missing(void) {
  MPI_Win win = window("ghost cells");
  if (rank == 0) MPI_Win_free(&win); /* @free-missing */
  else RECV(0, TAG, world); /* @free-missing-recv */
}

/* Rank 0 computes long with the lock, which rank 1 gets then. */
static void long_held(void) {
  MPI_Win win = window("ghost cells");
  if (rank == 0) lock(MPI_LOCK_EXCLUSIVE, 0, win);
  MPI_Barrier(world);
  if (rank == 0) compute();
  else lock(MPI_LOCK_EXCLUSIVE, 0, win);
  MPI_Win_unlock(0, win);
  MPI_Win_free(&win);
}

/* All want the same locks, in the same order, for a short time. */
static void contention(void) {
  MPI_Win win = window("ghost cells");
  while (!expect_exists("stop")) {
    for (int i = 0; i < size; i++) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i, 0, win);
      MPI_Put(out, 1, MPI_DOUBLE, i, 0, 1, MPI_DOUBLE, win);
    }
    for (int i = 0; i < size; i++) MPI_Win_unlock(i, win);
  }
  MPI_Win_free(&win);
}

/* Each posts to both neighbours and accesses both, over and over. */
static void neighbours(void) {
  MPI_Win win = window("ghost cells");
  MPI_Group all, others;
  MPI_Comm_group(world, &all);
  MPI_Group_excl(all, 1, &rank, &others);
  for (int more = 1, stop; more;) {
    MPI_Win_post(others, 0, win);
    MPI_Win_start(others, 0, win);
    for (int i = 0; i < size; i++)
      if (i != rank) MPI_Put(out, 1, MPI_DOUBLE, i, 0, 1, MPI_DOUBLE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    stop = rank == 0 && expect_exists("stop");
    MPI_Bcast(&stop, 1, MPI_INT, 0, world);
    more = !stop;
  }
  MPI_Win_free(&win);
}

/* The same without anything but accesses. A rank that has seen "stop" computes, and the other waits for it. */
static void only_accesses(void) {
  MPI_Win win = window("ghost cells");
  for (int i = 0; i < 100000000 && !expect_exists("stop"); i++) {
    MPI_Win_post(just(1 - rank), 0, win);
    MPI_Win_start(just(1 - rank), 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
  }
  compute();
}

/* Rank 0 computes before it posts, for which rank 1 waits. */
static void slow_target(void) {
  MPI_Win win = window("ghost cells");
  if (rank == 0) {
    compute();
    MPI_Win_post(just(1), 0, win);
    MPI_Win_wait(win);
  } else {
    MPI_Win_start(just(0), 0, win); /* @slow-target */
    MPI_Put(out, SMALL, MPI_DOUBLE, 0, 0, SMALL, MPI_DOUBLE, win);
    MPI_Win_complete(win); /* @slow-target-complete */
  }
  MPI_Win_free(&win);
}

/* Rank 0 computes between start and complete, for which rank 1 waits. */
static void slow_origin(void) {
  MPI_Win win = window("ghost cells");
  if (rank == 0) {
    MPI_Win_start(just(1), 0, win);
    compute();
    MPI_Win_complete(win);
  } else {
    MPI_Win_post(just(0), 0, win);
    MPI_Win_wait(win); /* @slow-origin */
  }
  MPI_Win_free(&win);
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"held", 2, held},
      {"held-elsewhere", 3, held_elsewhere},
      {"two-windows", 2, two_windows},
      {"two-targets", 2, two_targets},
      {"all-held", 2, all_held},
      {"all-wanted", 2, all_wanted},
      {"other-group", 3, other_group},
      {"both-start", 2, both_start},
      {"no-complete", 2, no_complete},
      {"no-start", 2, no_start},
      {"both-wait", 2, both_wait},
      {"fence", 2, fence},
      {"fence-missing", 2, fence_missing},
      {"free-missing", 2, free_missing},
      {"long-held", 2, long_held},
      {"slow-target", 2, slow_target},
      {"slow-origin", 2, slow_origin},
      {"contention", 3, contention},
      {"neighbours", 3, neighbours},
      {"only-accesses", 2, only_accesses},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
