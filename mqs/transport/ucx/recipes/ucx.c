#include "config.h"
#include <ucs/vfs/base/vfs_obj.c> /* ucs_vfs_node_t is in no header */
#include <ucs/datastruct/mpool.h>
#include <ucp/core/ucp_worker.h>
#include <ucp/core/ucp_request.h>
#include <ucp/core/ucp_ep.h>
#include <ucp/dt/datatype_iter.h>
#include <ucp/proto/proto.h>
#include <ucp/rndv/rndv.h>
#include <ucp/tag/eager.h>
#include <ucp/tag/tag_match.h>
