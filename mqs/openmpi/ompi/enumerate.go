package ompi

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// infoEnv is the place of MPI_INFO_ENV in the array of its kind.
const infoEnv = 1

// Handles are the handles of C of the objects in the arrays of all kinds, at most so many of each, and those of the
// datatypes that operations have: the array of datatypes, unlike most, has only those whose Fortran handle has been
// asked for. MPI_INFO_ENV is left out, which tells how the program was started.
func (p *Process) Handles(most int) []mqs.HandleValue {
	var out []mqs.HandleValue
	n := map[mqs.HandleKind]int{}
	add := func(kind mqs.HandleKind, objects []inferior.Addr) {
		for _, at := range objects {
			if at != 0 && n[kind] < most {
				out = append(out, mqs.HandleValue{Kind: kind, Value: uint64(at)})
				n[kind]++
			}
		}
	}
	for _, kind := range mqs.HandleKinds {
		if symbol, ok := fortranTables[kind]; ok {
			if a, err := p.array(symbol); err == nil && a.Addr != 0 {
				objects, _ := p.R.Pointers(a.Addr, int(a.Size)) // none of what can't be read
				if kind == mqs.InfoHandle && len(objects) > infoEnv {
					objects = slices.Delete(objects, infoEnv, infoEnv+1)
				}
				add(kind, objects)
			}
		}
	}
	var types []inferior.Addr
	for at := range p.datatypes {
		types = append(types, at.Addr())
	}
	slices.Sort(types)
	add(mqs.DatatypeHandle, types)
	return out
}
