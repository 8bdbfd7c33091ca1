/*
 * family: all processes of a job, which are those of mpirun and, in some jobs, others that
 * they have spawned.
 *
 * A plan's ranks are those of the family. What is shown has the ranks of each process's own
 * MPI_COMM_WORLD as global ones.
 */
#ifndef FAMILY_H
#define FAMILY_H

#include "expect.h"

extern struct family {
  MPI_Comm comm;   /* MPI_COMM_WORLD, or of both worlds, parents first */
  MPI_Comm others; /* between both worlds, or MPI_COMM_NULL */
  int rank, size;
  int base; /* the rank of this world's first process */
} family;

/* Starts the account of this process, and CHILDREN others of the same program. */
void family_begin(const char *outdir, int children, char **argv);

/* Parts the worlds, which then end one by one. */
void family_end(void);

/* The ranks, in the family, of the members of a communicator, or of its remote group; to be freed. */
int *family_ranks(MPI_Comm comm, bool remote, int size);

/* expect_communicator, with the members' global ranks. */
struct expect_comm *family_communicator(MPI_Comm comm, const char *name);

#endif
