! handles_fortran.inc with the file mpif.h.
! parts: handles_account.c handles_fortran_account.c expect.c expect_json.c
#define BINDING 1
#include "handles_fortran.inc"
