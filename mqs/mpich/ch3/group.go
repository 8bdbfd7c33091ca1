package ch3

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// groupTypes are the types of ranks up to 4.3.
type groupTypes struct {
	// Dev is the device's part of a communicator.
	Dev        inferior.Struct[commDev]    `c:"MPIR_Comm"`
	Table      inferior.Struct[table]      `c:"MPIDI_VCRT"`
	Connection inferior.Struct[connection] `c:"MPIDI_VC"`
}

// commDev is MPIR_Comm.dev.
type commDev struct {
	Table      inferior.Ptr[table] `c:"dev.vcrt"`
	LocalTable inferior.Ptr[table] `c:"dev.local_vcrt"`
}

// table has a pointer to a virtual connection for each rank.
type table struct {
	Size    int32                                       `c:"size"`
	Entries inferior.Embedded[inferior.Ptr[connection]] `c:"vcr_table"`
}

// connection is a virtual connection to a process, which has a number of its own.
type connection struct {
	Number int32 `c:"lpid"`
}

// Group returns the global ranks of a communicator's members.
func (d *Device) Group(c *mpir.Communicator, isLocal bool, size int32) ([]mqs.Maybe[int32], error) {
	own, err := d.groups.Dev.Read(d.lib.Reader, inferior.Ptr[commDev](c.At))
	if err != nil {
		return nil, err
	}
	at := own.Table
	if isLocal {
		at = own.LocalTable
	}
	t, err := d.groups.Table.Read(d.lib.Reader, at)
	if err != nil {
		return nil, err
	}
	if t.Size < size {
		return nil, fmt.Errorf("it has %d members, and %d connections", size, t.Size)
	}
	return d.lib.Members(mpir.Membership{Size: size, List: t.Entries.Addr()}, func(out []mqs.Maybe[int32]) error {
		return d.connected(t.Entries.Ptr(), out)
	})
}

// connected fills in the global ranks of those that a table's connections lead to.
func (d *Device) connected(entries inferior.Ptr[inferior.Ptr[connection]], out []mqs.Maybe[int32]) error {
	connections, err := inferior.ReadPointers(d.lib.Reader, entries, len(out))
	if err != nil {
		return err
	}
	var ranges []inferior.Range
	for _, vc := range connections {
		if _, ok := d.numbers[vc]; !ok {
			ranges = append(ranges, inferior.RangeOf(&d.groups.Connection, vc, 1))
		}
	}
	if err := d.lib.Reader.Prefetch(ranges); err != nil {
		return err
	}
	for i, vc := range connections {
		number, ok := d.numbers[vc]
		if !ok {
			v, err := d.groups.Connection.Read(d.lib.Reader, vc)
			if err != nil {
				return err
			}
			number = v.Number
			d.numbers[vc] = number
		}
		out[i] = d.lib.InWorld(int64(number))
	}
	return nil
}
