package openmpi

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/target"
)

const maxTypeName = 256 // bytes; MPI_MAX_OBJECT_NAME is 64

// datatypeInfo is what is shown of a datatype.
type datatypeInfo struct {
	name string
	size mqs.Maybe[int64] // bytes of data in one element
}

// datatype reads the datatype at a, once. What can't be read is unknown.
func (s *source) datatype(a target.Addr) datatypeInfo {
	if d, ok := s.datatypes[a]; ok {
		return d
	}
	var info datatypeInfo
	if d, err := s.Datatype.Read(s.r, a); err == nil {
		info.name, _ = d.Name.Read(s.r, maxTypeName)
		info.size = mqs.Known(int64(d.Size))
	}
	s.datatypes[a] = info
	return info
}
