package tagged

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// persistents finds the list of the persistent requests in the module. How far into it the list stands depends on
// the number of predefined datatypes, which has changed within 5.0: MPI_FLOAT128 came after 5.0.10
// (OMPI_DATATYPE_MPI_MAX_PREDEFINED in ompi/datatype/ompi_datatype_internal.h). Where the layout has the list, its
// elements must be as large as the layout says. If they are not, the list is looked for.
func (u *pmlUCX) persistents(module inferior.Addr) (inferior.Ptr[ompi.FreeList], error) {
	list := inferior.Places(&u.Module, inferior.Ptr[ucxModule](module)).Persistent.Ptr()
	if f, err := u.FreeList.Read(u.R, list); err == nil && f.FragSize == uint64(u.Persistent.Size()) {
		return list, nil
	}
	return u.searchPersistents(module)
}

// searchPersistents finds the list by the classes of free lists and of persistent requests. The module has another
// free list, that of the convertors.
func (u *pmlUCX) searchPersistents(module inferior.Addr) (inferior.Ptr[ompi.FreeList], error) {
	known := inferior.Ptr[ompi.FreeList](u.Symbols[ompi.SymSendRequests].Addr)
	if err := ompi.ProveClass(u.Process, &u.FreeList, known); err != nil {
		return 0, err
	}
	class, err := u.Object.Read(u.R, inferior.Ptr[ompi.Object](known))
	if err != nil {
		return 0, err
	}
	const words = 256 // 1.3 times the module of 6.0
	for i := range words {
		at := module + inferior.Addr(i*u.R.Info().PointerSize)
		o, err := u.Object.Read(u.R, inferior.Ptr[ompi.Object](at))
		if err != nil {
			return 0, err
		}
		list := inferior.Ptr[ompi.FreeList](at)
		if o.Class == class.Class && ompi.ProveFreeList(u.Process, list, &u.Persistent) == nil {
			return list, nil
		}
	}
	return 0, fmt.Errorf("%s has no list of them", symUCX)
}
