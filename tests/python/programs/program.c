/* A user's program, whose names get in the way of those of the library. */

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct comm; /* declared only */
typedef struct comm comm_t;
struct shared {
    int of_the_program;
};
struct own {
    int x;
};

comm_t *pq_get(void);
int pq_function(int x);

static int pq_same_name = 44;
struct shared shared;
struct own own;
comm_t *comm;
char *pages; /* of six pages, the fourth can't be read */
char *bulk;  /* 8 MiB */
long page_size;

static int stop(int pq_communicators) {
    int pq_counter = 5;
    __builtin_trap();
    return pq_counter + pq_communicators;
}

static void map(void) {
    page_size = sysconf(_SC_PAGESIZE);
    pages = mmap(0, 6 * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 6; i++) memset(pages + i * page_size, 'a' + i, page_size);
    munmap(pages + 3 * page_size, page_size);
    bulk = mmap(0, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(bulk, 'x', 8 << 20);
}

enum colour { RED = 7 };

/* Its arguments are of all kinds. */
static void hold(enum colour colour, char *pointer, _Bool flag, unsigned number, signed char small,
                 long long big, struct own structure, double real, void *started) {
    pthread_barrier_wait(started);
    for (;;) pause();
}

static void *wait_forever(void *started) {
    hold(RED, (char *)-16, 1, -1, -2, -3, own, 1.5, started);
    return NULL;
}

int main(void) {
    pthread_barrier_t started;
    pthread_t thread;
    comm = pq_get();
    map();
    pthread_barrier_init(&started, 0, 2);
    pthread_create(&thread, 0, wait_forever, &started);
    pthread_barrier_wait(&started);
    return stop(pq_function(shared.of_the_program + own.x + pq_same_name));
}
