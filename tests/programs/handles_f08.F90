! handles_fortran.inc with the module mpi_f08.
! parts: handles_account.c handles_fortran_account.c expect.c expect_json.c
#define BINDING 3
#include "handles_fortran.inc"
