package inferior

import "github.com/mpi-queues/mpi-queues/mqs/layout"

// A Watcher is an [Inferior] that is told what readers use of it.
type Watcher interface {
	Inferior
	// SawMemory is told of memory that is used, whatever it is.
	SawMemory(at Addr, b []byte)
	// SawObject is told of an object of a C type that is used, and where in it the members are that are read.
	SawObject(name string, at Addr, members map[string]layout.Field)
}

// fields are the members that are read, by their paths.
func fields(s *binding) map[string]layout.Field {
	out := make(map[string]layout.Field, len(s.steps))
	for i := range s.steps {
		out[s.steps[i].path] = s.steps[i].field
	}
	return out
}
