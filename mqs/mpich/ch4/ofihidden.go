package ch4

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ofi"
)

// hidden finds the module's own variable by an endpoint of libfabric's, and that of the device by its table of this program's
// processes, each of which has another address.
func (ofiModule) hidden(lib *mpir.Library, g *inferior.Struct[global], m *mpir.Image) []inferior.Addr {
	o := &ofiNetmod{lib: lib, tables: map[int32]addressTable{}}
	if o.bindTypes() != nil {
		return nil
	}
	own := o.hiddenOwn(m)
	if len(own) != 1 || o.set(own[0]) != nil {
		return nil
	}
	lib.Symbols[symOFI] = m.Symbol(own[0])
	return hiddenGlobals(lib, g, &o.c.Tables, &o.c.Table, m, o.leadsToAll)
}

// hiddenOwn finds what may be the module's variable, of which the beginning is enough in the data: far behind it the
// module has what it has been set to.
func (o *ofiNetmod) hiddenOwn(m *mpir.Image) (out []inferior.Addr) {
	offset, _ := inferior.OffsetOf(&o.c.Global, func(g *ofiGlobal) *inferior.Embedded[ofiContext] { return &g.Contexts })
	contexts := map[inferior.Addr]ofiContext{}
	m.Each(o.c.Context.Size(), func(at inferior.Addr, b []byte) {
		c, ok := inferior.Decode(&o.c.Context, o.lib.Reader, b)
		for _, a := range []inferior.Addr{c.Receiving, c.Domain, c.Addresses, c.Completions} {
			ok = ok && a != 0 && a%inferior.Addr(o.lib.Reader.Info().PointerSize) == 0 && a>>47 == 0 && !m.Has(a)
		}
		// The linker's table of functions (GOT) is full of such pointers, which must not use up maxHidden. Valid settings do not follow it.
		if ok && m.Has(at-offset) && len(contexts) < maxHidden && o.set(at-offset) == nil {
			contexts[at-offset] = c
		}
	})
	for at, c := range contexts {
		if leadsToEndpoint(o.lib.Reader, c) {
			out = append(out, at)
		}
	}
	return out
}

// leadsToEndpoint says whether there are an endpoint of libfabric's and what it belongs to, of whatever provider.
func leadsToEndpoint(r *inferior.Reader, c ofiContext) bool {
	for at, may := range map[inferior.Addr][]ofi.Class{c.Receiving: {ofi.ClassEndpoint, ofi.ClassReceives}, c.Domain: {ofi.ClassDomain},
		c.Addresses: {ofi.ClassAddresses}, c.Completions: {ofi.ClassCompletions}} {
		if class, err := ofi.ClassAt(r, at); err != nil || !slices.Contains(may, class) {
			return false
		}
	}
	return true
}

// leadsToAll says whether a table of this program's processes has an address for each of them, which no other has.
func (o *ofiNetmod) leadsToAll(t addressTable) bool {
	o.tables[0] = t
	defer clear(o.tables)
	seen := map[uint64]bool{}
	for i := range min(int64(t.Size), proofs) {
		peers := o.peers(0, i)
		if len(peers) == 0 || seen[peers[0].Value] {
			return false
		}
		seen[peers[0].Value] = true
	}
	return len(seen) > 0
}
