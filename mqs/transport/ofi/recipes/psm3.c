#include "config.h"
#include <ofi.h>
#include <ofi_mem.h>
#include <ofi_util.h>
#include "prov/psm3/src/psmx3.h"
#include "prov/psm3/psm3/psm_user.h"
#include "prov/psm3/psm3/psm_mq_internal.h"
#include "prov/psm3/psm3/psm_mpool.c"
