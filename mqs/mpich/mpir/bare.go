package mpir

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Bare says of a library whose objects can't be read what its handles' own bits tell. It is a [read.Resolver].
type Bare struct {
	reader  *inferior.Reader
	library string
	isABI   bool
}

// NewBare returns that of a library, which has a symbol.
func NewBare(r *inferior.Reader, symbol inferior.Symbol) *Bare {
	return &Bare{r, read.FileName(symbol), IsABI(symbol.Object)}
}

// Resolve says what a handle stands for, as far as it is a constant of mpi.h.
func (b *Bare) Resolve(v mqs.HandleValue) *mqs.Handle {
	h := b.resolve(v)
	if h.State == "" && v.Kind != mqs.StatusHandle {
		h.Notes = append(h.Notes, fmt.Sprintf("the objects of %s can't be read, so no more is known of it than that it may be such a handle", b.library))
	}
	return h
}

func (b *Bare) resolve(v mqs.HandleValue) *mqs.Handle {
	if b.isABI {
		h := abiBits(v)
		if v.Kind == mqs.StatusHandle {
			readABIStatus(b.reader, h, v)
		}
		return h
	}
	h := Bits(v)
	number, _ := Number(v)
	switch {
	case v.Kind == mqs.StatusHandle:
		readStatus(b.reader, h, v)
	case v.Kind == mqs.FileHandle && v.Value == 0:
		h.State, h.Name = mqs.NullHandle, mqs.Known(nullFile)
	case v.Kind == mqs.GroupHandle && h.State == mqs.PredefinedHandle:
		h.Group = emptyGroup()
	case v.Kind == mqs.OpHandle && h.State == mqs.PredefinedHandle:
		h.Commutative = commutes(number)
	case v.Kind == mqs.DatatypeHandle && h.State == "":
		b.resolveDatatype(h, number)
	case (v.Kind == mqs.RequestHandle || v.Kind == mqs.MessageHandle) && h.State == "" && IsBuiltin(number):
		resolveBuiltinRequest(h, number)
	case h.State == "" && IsBuiltin(number) && v.Kind != mqs.FileHandle && number&handleIndex >= mostBuiltins:
		h.State = mqs.InvalidHandle
	case h.State == "" && v.Kind == mqs.GroupHandle && IsBuiltin(number):
		h.State = mqs.LiveHandle // from 5.0 those of MPI_COMM_WORLD and MPI_COMM_SELF, which MPI does not name
	case h.State == "" && IsBuiltin(number) && v.Kind != mqs.FileHandle:
		h.State = mqs.PredefinedHandle // one that mpi.h does not name
	}
	return h
}

func (b *Bare) resolveDatatype(h *mqs.Handle, number uint32) {
	name, isPair := pairNames[number]
	switch {
	case isPair:
		h.Datatype = &mqs.Datatype{}
	case !IsBuiltin(number):
		return
	case datatypeNames[number&0xff] == "":
		h.State = mqs.InvalidHandle
		return
	default:
		name = datatypeNames[number&0xff]
		h.Datatype = &mqs.Datatype{Size: mqs.Known(int64(number >> 8 & 0xff))}
	}
	h.State, h.Name = mqs.PredefinedHandle, mqs.Known(name)
	h.Datatype.Name, h.Datatype.Committed = h.Name, mqs.Known(true)
}
