/*
 * shadow: a program that uses names of Open MPI's for things of its own, for 2
 * ranks. Each rank has a pending receive, and stands in a function that has
 * local variables named like the library's roots.
 *
 *   mpirun -n 2 shadow OUTDIR
 */
#include "expect.h"

/* Types of the library's names; mpi.h only declares the second. */
typedef struct opal_list_t {
  char nothing[3];
} opal_list_t;
struct ompi_communicator_t {
  short c_name, c_my_rank;
};

static opal_list_t list;
static struct ompi_communicator_t communicator;

#ifdef HIDING
/* A variable that only this file sees, named like one that the library has. */
static int mca_pml_base_recv_requests = 17;
#else
static int mca_pml_base_recv_request = 17;
#define mca_pml_base_recv_requests mca_pml_base_recv_request
#endif

static void stand(void) {
  int ompi_mpi_communicators = 42, mca_pml = mca_pml_base_recv_requests;
  expect_finish();
  expect_die("%d %d %p %p", ompi_mpi_communicators, mca_pml, (void *)&list, (void *)&communicator);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) expect_die("usage: shadow OUTDIR");
  expect_begin(argv[1], "rank");
  struct expect_comm *world = expect_communicator(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  expect_post(world, "irecv", 3, MPI_INT, 1 - expect_self.world_rank, 4);
  stand();
}
