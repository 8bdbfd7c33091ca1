/* Stands for an MPI library: what the extension looks up in one. */

#include <stdbool.h>

enum plain { PLAIN_A, PLAIN_B };
enum negative { NEGATIVE = -1, POSITIVE };
typedef unsigned short tag_t;

struct base {
    int first;
    long second;
};

struct comm {
    struct base super;
    char name[8];
    union {
        int as_int;
        struct {
            short low;
            tag_t high;
        };
    };
    unsigned bits : 3;
    bool flag;
    signed char tiny;
    char letter;
    void *pointer;
    enum plain plain;
    enum negative negative;
    double real;
    struct comm *next;
};

typedef struct comm comm_t;
union number {
    int integer;
    float real;
};
/* The program has another struct of this name. */
struct shared {
    int a, b, c, of_the_library;
};

struct comm pq_communicators = {{7, 8}, "seven"};
union number pq_number;
struct shared pq_shared;
int pq_counter = 42;
int pq_same_name = 43; /* the program has a static variable of this name */
static volatile int hidden = 3;
__thread int pq_thread_local = 4;

int pq_function(int x) { return x + hidden + pq_counter + pq_thread_local + pq_number.integer; }

struct comm *pq_get(void) { return &pq_communicators; }
