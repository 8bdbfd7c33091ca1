// Package ch4 reads what MPICH's device ch4 keeps of requests: it matches messages through shared memory
// and those that it carries as active messages itself, and leaves others to a network library, which is
// read where there is a [netmod] for it.
package ch4

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// Symbols that MPICH hides: a library has them until it is stripped.
const (
	symGlobal     = "MPIDI_global"                             // MPIDI_CH4_Global_t
	symSelfRecvs  = "self_recv_queue"                          // MPIR_Request *
	symSelfSends  = "self_send_queue"                          // the same
	symTransports = "MPIDI_POSIX_eager_iqueue_global"          // MPIDI_POSIX_eager_iqueue_global_t
	symCellSize   = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE" // int
)

// Symbols are the roots of what the device has.
func Symbols() []string {
	return []string{symGlobal, symSelfRecvs, symSelfSends, symCellSize, symTransports}
}

// IsIn says whether the library with these symbols has the device.
func IsIn(symbols map[string]inferior.Symbol) bool {
	_, ok := symbols[symGlobal]
	return ok
}

// types are the C types of the device.
type types struct {
	Global inferior.Struct[global] `c:"MPIDI_CH4_Global_t"`
	VCI    inferior.Struct[vci]    `c:"MPIDI_per_vci_t"`
	// Dev is its part of a request.
	Dev    inferior.Struct[dev]    `c:"MPIR_Request"`
	Active inferior.Struct[active] `c:"MPIDIG_req_ext_t"`
}

type global struct {
	VCIs   int32                  `c:"n_total_vcis|n_vcis"`
	PerVCI inferior.Embedded[vci] `c:"per_vci"` // an array
}

// vci is a virtual interface, with a matching queue of its own.
type vci struct {
	Posted     inferior.Ptr[mpir.Request] `c:"posted_list"`
	Unexpected inferior.Ptr[mpir.Request] `c:"unexp_list"`
	// Freed counts requests that are over, up to 4.1.
	Freed int32 `c:"progress_count.v,optional"`
}

const maxVCIs = 64

// Device is the ch4 of one process. It is an [mpir.Device].
type Device struct {
	lib         *mpir.Library
	c           types
	groups      groupTypes
	arrivals    arrivalTypes
	epochs      epochTypes
	partitioned partitionedTypes
	flags       flagTypes
	beneath     beneath
	comms       []*mpir.Communicator
	// carriers have the data's place of receives, by the program's request, and carrying are they.
	carriers map[inferior.Ptr[mpir.Request]]inferior.Ptr[mpir.Request]
	carrying map[inferior.Ptr[mpir.Request]]bool
}

// Types are the C types that a ch4 may have, with any netmod: pointers to structs as [inferior.Bind] binds.
func Types() []any {
	out := []any{&types{}, &groupTypes{}, &arrivalTypes{}, &partitionedTypes{}, &epochTypes{}, &flagTypes{}}
	for _, m := range modules {
		out = append(out, m.types())
	}
	return append(out, UnpackTypes()...)
}

// Bind returns the device of a library. It fails if the library's layouts lack something.
func Bind(lib *mpir.Library) (*Device, error) {
	d := &Device{lib: lib}
	if err := inferior.Bind(&d.c, lib.Layouts); err != nil {
		return nil, err
	}
	if inferior.Bind(&d.epochs, lib.Layouts) != nil {
		d.epochs = epochTypes{}
	}
	if inferior.Bind(&d.arrivals, lib.Layouts) != nil {
		d.arrivals = arrivalTypes{} // of another release: what arrives is not known
	}
	if inferior.Bind(&d.flags, lib.Layouts) != nil {
		d.flags = flagTypes{}
	}
	if inferior.Bind(&d.partitioned, lib.Layouts) != nil {
		d.partitioned = partitionedTypes{}
	}
	if err := checkModules(lib); err != nil || lib.HasGroups() {
		return d, err
	}
	return d, inferior.Bind(&d.groups, lib.Layouts)
}

// Hidden finds the device's variable in the data of a library whose symbols were stripped, of which
// [mpir.Library.Prove] knows the process.
func (d *Device) Hidden(m *mpir.Image) error {
	var found []inferior.Addr
	for _, n := range modules {
		found = append(found, n.hidden(d.lib, &d.c.Global, m)...)
	}
	if len(found) != 1 {
		return fmt.Errorf("the library's data has %s at %d places", symGlobal, len(found))
	}
	d.lib.Symbols[symGlobal] = m.Symbol(found[0])
	return nil
}

// interfaces reads the virtual interfaces.
func (d *Device) interfaces() ([]vci, error) {
	g, err := d.c.Global.Read(d.lib.Reader, inferior.Ptr[global](d.lib.Symbols[symGlobal].Addr))
	if err != nil {
		return nil, err
	}
	out := make([]vci, max(1, min(int(g.VCIs), maxVCIs)))
	for i := range out {
		if out[i], err = d.c.VCI.Read(d.lib.Reader, inferior.At(&d.c.VCI, g.PerVCI.Ptr(), i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Transport is the device and its network library.
func (d *Device) Transport() string {
	inside := ""
	if d.hasSharedMemory() {
		inside = "shared memory and "
	}
	switch n, failed := d.beneath.network, d.beneath.err; {
	case n != nil:
		return "ch4 over " + inside + n.Transport.Name()
	case failed != nil:
		return "ch4 over " + inside + failed.Library
	case inside != "":
		return "ch4 over shared memory"
	}
	return "ch4"
}

// Progress counts receives that had to wait in a network library or, up to 4.1, requests that are over.
func (d *Device) Progress() mqs.Maybe[uint64] {
	if n := d.beneath.network; n != nil && n.Progress.Known {
		return n.Progress
	}
	interfaces, err := d.interfaces()
	if _, counts := inferior.OffsetOf(&d.c.VCI, func(v *vci) *int32 { return &v.Freed }); err != nil || !counts {
		return mqs.Maybe[uint64]{}
	}
	var sum uint32
	for _, v := range interfaces {
		sum += uint32(v.Freed)
	}
	return mqs.Known(uint64(sum))
}

// Posted returns the first receives of the lists of every virtual interface, and of
// the one for communicators of one process.
func (d *Device) Posted() ([]inferior.Ptr[mpir.Request], error) {
	interfaces, err := d.interfaces()
	if err != nil {
		return nil, err
	}
	var out []inferior.Ptr[mpir.Request]
	for _, v := range interfaces {
		out = append(out, v.Posted)
	}
	if sym, ok := d.lib.Symbols[symSelfRecvs]; ok {
		first, err := d.pointerAt(sym)
		if err != nil {
			return nil, err
		}
		out = append(out, first)
	}
	return out, nil
}

// Unexpected returns the first messages of the lists of every virtual interface.
func (d *Device) Unexpected() ([]inferior.Ptr[mpir.Request], error) {
	interfaces, err := d.interfaces()
	if err != nil {
		return nil, err
	}
	var out []inferior.Ptr[mpir.Request]
	for _, v := range interfaces {
		out = append(out, v.Unexpected)
	}
	return out, nil
}

// pointerAt reads the pointer to a request that a symbol names.
func (d *Device) pointerAt(s inferior.Symbol) (inferior.Ptr[mpir.Request], error) {
	p, err := inferior.ReadPointers(d.lib.Reader, inferior.Ptr[inferior.Ptr[mpir.Request]](s.Addr), 1)
	if err != nil {
		return 0, err
	}
	return p[0], nil
}

// Elsewhere finds messages where nothing can be read: without a shared-memory module the network library does all
// matching. With one it does so between nodes and between programs.
func (d *Device) Elsewhere(c *mpir.Communicator) error {
	if d.beneath.network != nil || c.IsSelf() {
		return nil
	}
	if !d.hasSharedMemory() {
		if d.beneath.err == nil {
			d.lib.Remarks.Set(mpir.NoSharedMemory, "this MPICH has no shared-memory module and leaves all its messages to a network library: "+
				"to see them, run the program with one that is configured with --with-ch4-shmmods=posix, or with device ch3")
		}
		return errors.New("a network library has its messages, inside which mpi-queues can't read")
	}
	if d.lib.Process.Nodes > 1 || hasOutsiders(c) {
		what := "a network library, and not shown"
		if err := d.beneath.err; err != nil {
			what = fmt.Sprintf("%s, and not shown: %v", err.Library, err)
		}
		d.lib.Remarks.Set(mpir.UnreachableMessages, "messages from other nodes or programs that no receive has matched are inside "+what)
	}
	return nil
}

// hasSharedMemory says whether there is a module that carries messages inside a node.
func (d *Device) hasSharedMemory() bool {
	_, ok := inferior.OffsetOf(&d.c.Dev, func(q *dev) *bool { return &q.IsLocal })
	return ok
}
