#include "config.h"
#include <ofi.h>
#include <ofi_mem.h>
#include <ofi_util.h>
#include "rdma/opx/fi_opx_endpoint.h"
#include "rdma/opx/fi_opx_domain.h"
#include "rdma/opx/fi_opx_match.h"
#include "rdma/opx/fi_opx_hfi1_packet.h"
