package ofi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	mq "github.com/mpi-queues/mpi-queues/mqs/transport/psm"
)

// allTypes are the C types that are read, in libfabric's own names: each provider's are bound where it is met.
func allTypes() []any {
	return []any{&baseTypes{}, &poolTypes{}, &rxmTypes{}, &sharedTypes{}, &socketsTypes{}, &xnetTypes{}, &smrTypes{}, &smrCopyTypes{}, &smrLaterStack{}, &smrFirstStack{}, &smrOwnTypes{}, &smrPendingTypes{}, &smrPeerTypes{}, &sm2Types{}, &lnxTypes{}, &efaTypes{},
		&cxiTypes{}, &psm3Fabric{}, &psm2Fabric{}, &mq.Types{}, &opxTypes{}}
}

// baseTypes are those that providers have in common (include/ofi_util.h, include/ofi_list.h).
type baseTypes struct {
	UtilEP     inferior.Struct[utilEP]     `c:"util_ep"`
	UtilDomain inferior.Struct[utilDomain] `c:"util_domain"`
	Provider   inferior.Struct[fiProvider] `c:"fi_provider"`
	Link       inferior.Struct[link]       `c:"dlist_entry"`
	List       inferior.Struct[list]       `c:"slist"`
	Part       inferior.Struct[part]       `c:"iovec"`
}

// utilEP begins with the fid_ep that a program has.
type utilEP struct {
	Domain inferior.Ptr[utilDomain] `c:"domain"`
}

type utilDomain struct {
	Provider inferior.Ptr[fiProvider] `c:"prov"`
}

// fiProvider names itself.
type fiProvider struct {
	Name inferior.Text `c:"name"`
}

// part is one of the places where a message's data is.
type part struct {
	Base   inferior.Addr `c:"iov_base"`
	Length uint64        `c:"iov_len"`
}

type peerAddr struct {
	Addr uint64 `c:"fi_addr"`
}
