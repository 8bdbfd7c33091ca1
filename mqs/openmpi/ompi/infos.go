package ompi

import (
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

const (
	maxInfoKeys = 1 << 12
	maxInfoText = 1 << 10 // bytes; MPI_MAX_INFO_VAL is 256
	// savedInput is what the keys begin with in which the library notes what the program has asked for of an
	// object (opal/util/info.h, 4.1).
	savedInput = "_OMPI_IN_"
	// symSetInternal is of the function that makes a key internal, which is as old as internal keys (5.0.4).
	symSetInternal = "opal_info_set_internal"
)

func (p *Process) resolveInfo(h *mqs.Handle, at inferior.Ptr[info]) {
	i, ok := readObject(p, h, &p.InfoObject, at, nil)
	if !ok || !p.enter(h, at.Addr(), i.FortranIndex) {
		return
	}
	h.State = mqs.LiveHandle
	if predefined(h, i.FortranIndex, "MPI_INFO_NULL", "MPI_INFO_ENV") && h.State == mqs.NullHandle {
		return
	}
	if !p.InfoEntry.Bound() {
		h.Notes = append(h.Notes, "its keys are not known: "+errNotBound.Error())
		return
	}
	h.Info = []mqs.InfoEntry{}
	for at, err := range inferior.Walk(i.First, i.Sentinel.Ptr(), maxInfoKeys, p.NextItem) {
		var e mqs.InfoEntry
		isShown := false
		if err == nil {
			e, isShown, err = p.infoEntry(inferior.Ptr[infoEntry](at))
		}
		if err != nil {
			h.Notes = append(h.Notes, "its keys may not be all: "+err.Error())
			return
		}
		if isShown {
			h.Info = append(h.Info, e)
		}
	}
}

// infoEntry reads one key of an MPI_Info and says whether programs are shown it.
func (p *Process) infoEntry(at inferior.Ptr[infoEntry]) (out mqs.InfoEntry, isShown bool, err error) {
	if err := ProveClass(p, &p.InfoEntry, at); err != nil {
		return out, false, err
	}
	e, err := p.InfoEntry.Read(p.R, at)
	if err != nil {
		return out, false, err
	}
	if out.Key, err = p.infoText(at, e.Key, func(e *infoEntry) *inferior.Text { return &e.Key }); err != nil {
		return out, false, err
	}
	if out.Value, err = p.infoText(at, e.Value, func(e *infoEntry) *inferior.Text { return &e.Value }); err != nil {
		return out, false, err
	}
	isInternal, err := p.isInternal(e)
	return out, !isInternal && !strings.HasPrefix(out.Key, savedInput), err
}

// isInternal says whether the library keeps a key from programs. An entry of 5.0.0 to 5.0.3 is that of 5.0.6 but for
// this member, so that a table of the one fits the other: there the member is a byte that nothing has written.
func (p *Process) isInternal(e infoEntry) (bool, error) {
	if !e.Internal || p.Layouts.Table() == nil {
		return e.Internal, nil
	}
	set, err := p.R.Symbol(symSetInternal)
	return set != nil, err
}

// infoText reads a key or a value, which is behind a string object from 5.0.
func (p *Process) infoText(at inferior.Ptr[infoEntry], text inferior.Text, field func(*infoEntry) *inferior.Text) (string, error) {
	if !p.CString.Bound() {
		return text.Read(p.R, maxInfoText)
	}
	offset, _ := inferior.OffsetOf(&p.InfoEntry, field)
	to, err := p.R.Pointers(at.Addr()+offset, 1)
	if err != nil {
		return "", err
	}
	s, err := p.CString.Read(p.R, inferior.Ptr[cString](to[0]))
	if err != nil {
		return "", err
	}
	return s.Text.Read(p.R, maxInfoText)
}
