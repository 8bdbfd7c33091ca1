/* What handles_fortran.F90 calls to write its account: Fortran's INTEGER is a handle in C. */
#include "expect.h"
#include "handles_account.h"

#include <stddef.h>

static account_type kind_of(const char *word) { return *word ? word : NULL; }

void fortran_begin(const char *outdir) {
  static char kept[4096];
  size_t i = 0;
  for (; outdir[i] && i + 1 < sizeof kept; i++) kept[i] = outdir[i];
  kept[i] = 0;
  expect_begin(kept, "rank");
}

void fortran_note(const char *expression, const char *kind, const char *members) {
  account(expression, kind_of(kind), "%s", members);
}

void fortran_comm(const char *expression, const char *kind, MPI_Fint handle) {
  account_comm(expression, kind_of(kind), MPI_Comm_f2c(handle));
}

void fortran_datatype(const char *expression, const char *kind, MPI_Fint handle, const char *construction) {
  account_datatype(expression, kind_of(kind), MPI_Type_f2c(handle), *construction ? construction : NULL);
}

void fortran_receive(const char *expression, const char *kind, MPI_Fint comm, int source, int tag, int bytes) {
  account_request(expression, kind_of(kind), "irecv", "pending", MPI_Comm_f2c(comm), source, tag, bytes);
}

void fortran_group(const char *expression, const char *kind, MPI_Fint handle) {
  account_group(expression, kind_of(kind), MPI_Group_f2c(handle));
}

void fortran_window(const char *expression, const char *kind, MPI_Fint handle) {
  account_window(expression, kind_of(kind), MPI_Win_f2c(handle), "create", "[]");
}

void fortran_hold(void) {
  account_write();
  MPI_Barrier(MPI_COMM_WORLD);
  expect_write();
  expect_ready(false);
  expect_hold();
}
