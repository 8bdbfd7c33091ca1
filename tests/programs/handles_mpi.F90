! handles_fortran.inc with the module mpi.
! parts: handles_account.c handles_fortran_account.c expect.c expect_json.c
#define BINDING 2
#include "handles_fortran.inc"
