package ofi

import "github.com/mpi-queues/mpi-queues/mqs/inferior"

// Class is what an object of libfabric's says that it is, whatever its provider. It is the first word of each (struct fid in
// rdma/fabric.h), which belongs to libfabric's ABI.
type Class uint64

// The classes that tell what leads to an endpoint.
const (
	ClassDomain      Class = 2
	ClassEndpoint    Class = 3
	ClassSeveral     Class = 4 // an endpoint with several contexts
	ClassReceives    Class = 5 // the receiving half of an endpoint
	ClassAddresses   Class = 11
	ClassCompletions Class = 14
)

// ClassAt is what the object at an address says that it is.
func ClassAt(r *inferior.Reader, at inferior.Addr) (Class, error) {
	c, err := r.Uint(at, r.Info().PointerSize)
	return Class(c), err
}
