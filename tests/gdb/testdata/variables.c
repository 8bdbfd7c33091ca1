/*
 * variables: handles in variables, for 2 ranks. Each rank stands in a function
 * whose local variables are handles of several types.
 *
 *   mpirun -n 2 variables OUTDIR
 */
#include "expect.h"

struct exchange {
  int width;
  MPI_Comm comm;
};

static MPI_Comm of_file;

static void stand(MPI_Comm comm, int peer) {
  struct exchange exchange = {3, comm};
  MPI_Comm none = MPI_COMM_NULL, garbage = (MPI_Comm)(long)0x1234567;
  MPI_Datatype column, number = MPI_DOUBLE;
  MPI_Request receive, requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Fint old = MPI_Comm_c2f(comm);
  int buffer[3];
  of_file = comm;
  MPI_Type_vector(3, 2, 100, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Irecv(buffer, 3, MPI_INT, peer, 4, comm, &receive);
  expect_finish();
  expect_die("%d %d %d %d %d %d", exchange.width, none == garbage, number == column, requests[0] == receive, old,
             buffer[0]);
}

int main(int argc, char **argv) {
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  if (argc != 2) expect_die("usage: variables OUTDIR");
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "halo exchange");
  expect_begin(argv[1], "rank");
  stand(comm, 1 - expect_self.world_rank);
}
