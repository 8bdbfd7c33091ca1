package ch4

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// addressTables leads to the tables in which the device keeps how the processes of each program are reached.
type addressTables struct {
	At inferior.Ptr[inferior.Ptr[addressTable]] `c:"avt_mgr.av_tables"`
}

type addressTable struct {
	Size    int32                       `c:"size"`
	Entries inferior.Embedded[struct{}] `c:"table"` // an array, of which each module has its own part
}

// maxTables bounds the number of a table of addresses: there is one for each program.
const maxTables = 1 << 16

// readAddresses reads a table by its number, from where the device's variable is: one without any if it can't be read.
func readAddresses(r *inferior.Reader, tables *inferior.Struct[addressTables], table *inferior.Struct[addressTable], global inferior.Addr, number int32) addressTable {
	if number < 0 || number >= maxTables {
		return addressTable{}
	}
	all, err := tables.Read(r, inferior.Ptr[addressTables](global))
	if err != nil {
		return addressTable{}
	}
	at, err := inferior.ReadPointers(r, all.At+inferior.Ptr[inferior.Ptr[addressTable]](int(number)*r.Info().PointerSize), 1)
	if err != nil {
		return addressTable{}
	}
	t, err := table.Read(r, at[0])
	if err != nil {
		return addressTable{}
	}
	return t
}

// maxHidden bounds the places that may be one of the library's variables.
const maxHidden = 1 << 10

// hiddenGlobals finds, in the data of a stripped library, what may be the device's variable: it leads to a table of this
// program's processes, which has a place for each. leads says whether a table leads to all of them.
func hiddenGlobals(lib *mpir.Library, g *inferior.Struct[global], tables *inferior.Struct[addressTables], table *inferior.Struct[addressTable], m *mpir.Image, leads func(addressTable) bool) []inferior.Addr {
	var may []inferior.Addr
	var places []inferior.Range
	m.Each(g.Size(), func(at inferior.Addr, b []byte) {
		own, ok := inferior.Decode(g, lib.Reader, b)
		t, hasTables := inferior.Decode(tables, lib.Reader, b)
		if !ok || !hasTables || own.VCIs < 1 || own.VCIs > maxVCIs || t.At == 0 || m.Has(t.At.Addr()) || len(may) == maxHidden {
			return
		}
		may = append(may, at)
		places = append(places, inferior.Range{Addr: t.At.Addr(), Len: lib.Reader.Info().PointerSize})
	})
	if lib.Reader.Prefetch(places) != nil {
		return nil
	}
	var out []inferior.Addr
	for _, at := range may {
		if t := readAddresses(lib.Reader, tables, table, at, 0); t.Size == lib.Process.Size && leads(t) {
			out = append(out, at)
		}
	}
	return out
}

// proofs is how many places of a table are looked at.
const proofs = 16
