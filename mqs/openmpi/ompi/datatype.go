package ompi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

const maxTypeName = 256 // bytes; MPI_MAX_OBJECT_NAME is 64

// DatatypeInfo is what is shown of a datatype.
type DatatypeInfo struct {
	Name mqs.Maybe[string] // empty of a type that has none
	Size mqs.Maybe[int64]  // bytes of data in one element
}

// DatatypeInfo reads a datatype, once. What can't be read is unknown.
func (p *Process) DatatypeInfo(at inferior.Ptr[Datatype]) DatatypeInfo {
	if d, ok := p.datatypes[at]; ok {
		return d
	}
	var info DatatypeInfo
	if d, err := p.Datatype.Read(p.R, at); err == nil {
		if name, err := d.Name.Read(p.R, maxTypeName); err == nil {
			info.Name = mqs.Known(name)
		}
		info.Size = mqs.Known(int64(d.Size))
	}
	p.datatypes[at] = info
	return info
}

// proveDatatype checks the name and the size of a predefined datatype.
func (p *Process) proveDatatype() error {
	sym, ok := p.Symbols[symInt]
	if !ok {
		return nil
	}
	// Its class says opal_datatype_t, which ompi_datatype_t starts with.
	d, err := p.Datatype.Read(p.R, inferior.Ptr[Datatype](sym.Addr))
	if err != nil {
		return err
	}
	if name, err := d.Name.Read(p.R, maxTypeName); err != nil || name != "MPI_INT" || d.Size != 4 {
		return fmt.Errorf("the datatype at %s is %q of %d bytes, not MPI_INT", sym.Addr, name, d.Size)
	}
	return nil
}
