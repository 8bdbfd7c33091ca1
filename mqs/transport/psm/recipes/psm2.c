#include "psm_user.h"
#include "psm_mq_internal.h"
#include "psm_mpool.c"
