package ch4

import "github.com/mpi-queues/mpi-queues/mqs/inferior"

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
