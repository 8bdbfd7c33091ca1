package openmpi

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

const maxTypeName = 256 // bytes; MPI_MAX_OBJECT_NAME is 64

// datatypeInfo is what is shown of a datatype.
type datatypeInfo struct {
	name mqs.Maybe[string] // empty of a type that has none
	size mqs.Maybe[int64]  // bytes of data in one element
}

// datatype reads the datatype at a, once. What can't be read is unknown.
func (s *source) datatype(a inferior.Addr) datatypeInfo {
	if d, ok := s.datatypes[a]; ok {
		return d
	}
	var info datatypeInfo
	if d, err := s.Datatype.ReadAt(s.r, a); err == nil {
		if name, err := d.Name.Read(s.r, maxTypeName); err == nil {
			info.name = mqs.Known(name)
		}
		info.size = mqs.Known(int64(d.Size))
	}
	s.datatypes[a] = info
	return info
}
