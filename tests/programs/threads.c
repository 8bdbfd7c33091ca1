/*
 * threads: jobs whose threads wait for each other outside of MPI, and ranks that wait for
 * something besides MPI; see modes.h.
 *
 * Mode "lock-computes" ends by itself, with "stop".
 *
 * libraries: libcudart.so.12=cudart.c
 */
#define _GNU_SOURCE /* memfd_create */
#include "expect.h"
#include "modes.h"

#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static MPI_Comm world = MPI_COMM_WORLD;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static sem_t semaphore;

static pthread_t start(void *(*run)(void *)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, NULL)) expect_die("no thread");
  return thread;
}

static void *receive_locked(void *unused) {
  pthread_mutex_lock(&lock);
  pthread_barrier_wait(&both);
  RECV(1 - rank, TAG, world); /* @mutex */
  return unused;
}

/* A thread of each rank holds the lock while it receives; main, who would send, waits for the lock. */
static void mutex(void) {
  pthread_barrier_init(&both, NULL, 2);
  start(receive_locked);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&lock); /* @mutex-lock */
  SEND_SMALL(1 - rank, TAG, world);
}

static void *receive_written(void *unused) {
  pthread_rwlock_wrlock(&shared);
  pthread_barrier_wait(&both);
  RECV(1 - rank, TAG, world); /* @rwlock */
  return unused;
}

/* The same with a lock of readers and writers. */
static void rwlock(void) {
  pthread_barrier_init(&both, NULL, 2);
  start(receive_written);
  pthread_barrier_wait(&both);
  pthread_rwlock_rdlock(&shared);
  SEND_SMALL(1 - rank, TAG, world);
}

static void *lock_in_turn(void *unused) {
  pthread_mutex_lock(&second);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&lock); /* @crossed-other */
  return unused;
}

/* Two threads of rank 0 wait for each other's locks. */
static void crossed(void) {
  if (rank == 1) RECV(0, TAG, world); /* @crossed-recv */
  pthread_barrier_init(&both, NULL, 2);
  pthread_mutex_lock(&lock);
  start(lock_in_turn);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&second); /* @crossed */
}

static void *receive(void *unused) {
  RECV(1 - rank, TAG, world); /* @condition */
  return unused;
}

/* Main waits for a signal that nobody gives: only its other thread, which receives, could. */
static void condition_never(void) {
  start(receive);
  pthread_mutex_lock(&lock);
  pthread_cond_wait(&condition, &lock);
}

/* The same with a semaphore. */
static void semaphore_never(void) {
  sem_init(&semaphore, 0, 0);
  start(receive);
  sem_wait(&semaphore);
}

/* Both wait for a lock on a file that a third process, or here a descriptor of their own, holds. */
static void file_lock(void) {
  char again[32];
  int held = memfd_create("lock", 0);
  snprintf(again, sizeof again, "/proc/self/fd/%d", held);
  int wanted = open(again, O_RDWR);
  if (held < 0 || wanted < 0 || flock(held, LOCK_EX)) expect_die("no lock");
  flock(wanted, LOCK_EX); /* @flock */
}

/* Both read from a pipe that nobody feeds. */
static void pipe_read(void) {
  int ends[2];
  char byte;
  if (pipe(ends) || read(ends[0], &byte, 1) < 0) expect_die("no pipe"); /* @pipe */
}

int cudaStreamSynchronize(void *stream);

/* Rank 0 waits for a GPU, and rank 1 for rank 0. */
static void gpu(void) {
  if (rank == 1) RECV(0, TAG, world); /* @gpu-recv */
  cudaStreamSynchronize(NULL); /* @gpu */
}

/* The other thread of each team waits for the one that receives. */
static void team(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) RECV(1 - rank, TAG, world); /* @team */
#pragma omp barrier
  }
}

/* The workers of OpenMP have nothing to do, and may not call MPI. */
static void workers(void) {
#pragma omp parallel num_threads(3)
  if (omp_get_num_threads() != 3) expect_die("no workers");
  RECV(1 - rank, TAG, world); /* @workers */
}

static void *look_now_and_then(void *unused) {
  for (;;) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 3;
    pthread_mutex_lock(&lock);
    pthread_cond_timedwait(&condition, &lock, &until);
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

/* Beside main, which receives, a thread wakes up by itself. It never calls MPI, which nobody can know. */
static void timer(void) {
  start(look_now_and_then);
  RECV(1 - rank, TAG, world); /* @timer */
}

static void *compute_locked(void *unused) {
  pthread_mutex_lock(&lock);
  pthread_barrier_wait(&both);
  compute();
  pthread_mutex_unlock(&lock);
  return unused;
}

/* Right: the thread that holds the lock computes; main sends after that. */
static void lock_computes(void) {
  pthread_barrier_init(&both, NULL, 2);
  pthread_t other = start(compute_locked);
  pthread_barrier_wait(&both);
  if (rank == 0) pthread_mutex_lock(&lock);
  SEND_SMALL(1 - rank, TAG, world);
  RECV(1 - rank, TAG, world);
  if (rank == 0) pthread_mutex_unlock(&lock);
  pthread_join(other, NULL);
}

int main(int argc, char **argv) {
  static const struct mode modes[] = {
      {"mutex", 2, mutex, true},
      {"rwlock", 2, rwlock, true},
      {"crossed", 2, crossed, true},
      {"condition", 2, condition_never, true},
      {"semaphore", 2, semaphore_never, true},
      {"flock", 2, file_lock},
      {"pipe", 2, pipe_read},
      {"gpu", 2, gpu},
      {"team", 2, team, true},
      {"workers", 2, workers},
      {"timer", 2, timer, true},
      {"lock-computes", 2, lock_computes, true},
  };
  return run_mode(argc, argv, modes, sizeof modes / sizeof *modes);
}
