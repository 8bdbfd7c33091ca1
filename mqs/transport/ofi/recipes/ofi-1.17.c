#include "config.h"
#include <ofi.h>
#include <ofi_mem.h>
#include <ofi_util.h>
#include "prov/rxm/src/rxm.h"
#include "prov/sockets/include/sock.h"
#include "prov/shm/src/smr.h"
