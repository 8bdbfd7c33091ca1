#include "mpiimpl.h"
#include "mpidch4r.h"
#include "src/mpid/ch4/netmod/ofi/ofi_impl.h"
#include "src/mpi/pt2pt/bsendutil.c" /* BsendBuffer's struct is in no header */
