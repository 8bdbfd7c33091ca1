package ch4

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// groupTypes are the types of ranks up to 4.3.
type groupTypes struct {
	// Dev is the device's part of a communicator.
	Dev  inferior.Struct[commDev] `c:"MPIR_Comm"`
	Map  inferior.Struct[rankMap] `c:"MPIDI_rank_map_t"`
	GPID inferior.Struct[gpid]    `c:"MPIDI_gpid_t"`
}

// commDev is MPIR_Comm.dev.
type commDev struct {
	Map      inferior.Embedded[rankMap] `c:"dev.ch4.map"`
	LocalMap inferior.Embedded[rankMap] `c:"dev.ch4.local_map"`
}

// rankMap maps ranks to a table of addresses and a place in it.
type rankMap struct {
	Mode      uint32             `c:"mode"`
	Table     int32              `c:"avtid"`
	Size      int32              `c:"size"`
	Offset    int64              `c:"reg.stride.offset"` // also that of the mode offset, which is the union's other member
	OnlyAt    int64              `c:"reg.offset"`
	Stride    int64              `c:"reg.stride.stride"`
	BlockSize int64              `c:"reg.stride.blocksize"`
	List      inferior.Addr      `c:"irreg.lut.lpid"` // of int
	Pairs     inferior.Ptr[gpid] `c:"irreg.mlut.gpid"`
}

type gpid struct {
	Table int32 `c:"avtid"`
	Place int32 `c:"lpid"`
}

// Modes of a map (MPIDI_rank_map_mode in src/mpid/ch4/include/mpidpre.h, 4.0 to
// 4.3). Those of one program have a twin each for inside a node of tables.
const (
	mapDirect = iota
	mapDirectIntra
	mapOffset
	mapOffsetIntra
	mapStride
	mapStrideIntra
	mapStrideBlock
	mapStrideBlockIntra
	mapList
	mapListIntra
	mapPairs
)

// Group returns the global ranks of a communicator's members: table 0 is this program's, where a place is
// a rank in MPI_COMM_WORLD.
func (d *Device) Group(c *mpir.Communicator, isLocal bool, size int32) ([]mqs.Maybe[int32], error) {
	m, err := d.rankMap(c.At, isLocal, size)
	if err != nil {
		return nil, err
	}
	key := mpir.Membership{Size: size, Mode: m.Mode, Table: m.Table}
	switch m.Mode {
	case mapList, mapListIntra:
		key.List = m.List
	case mapPairs:
		key.List = m.Pairs.Addr()
	case mapOffset, mapOffsetIntra:
		key.Offset = m.OnlyAt
	case mapStride, mapStrideIntra:
		key.Offset, key.Stride = m.Offset, m.Stride
	case mapStrideBlock, mapStrideBlockIntra:
		key.Offset, key.Stride, key.BlockSize = m.Offset, m.Stride, m.BlockSize
	}
	return d.lib.Members(key, func(out []mqs.Maybe[int32]) error {
		return d.eachPlace(m, len(out), func(i int, table int32, place int64) {
			if table == 0 {
				out[i] = d.lib.InWorld(place)
			}
		})
	})
}

// rankMap reads the map of a communicator's ranks.
func (d *Device) rankMap(c inferior.Ptr[mpir.Comm], isLocal bool, size int32) (*rankMap, error) {
	own, err := d.groups.Dev.Read(d.lib.Reader, inferior.Ptr[commDev](c))
	if err != nil {
		return nil, err
	}
	at := own.Map
	if isLocal {
		at = own.LocalMap
	}
	m, err := d.groups.Map.Read(d.lib.Reader, at.Ptr())
	if err != nil {
		return nil, err
	}
	if m.Size < size {
		return nil, fmt.Errorf("it has %d members, and its map %d", size, m.Size)
	}
	return &m, nil
}

// eachPlace calls f for each of the first ranks of a map, with the table of addresses that
// it is in, and where.
func (d *Device) eachPlace(m *rankMap, size int, f func(rank int, table int32, place int64)) error {
	table := m.Table
	switch m.Mode {
	case mapDirectIntra, mapOffsetIntra, mapStrideIntra, mapStrideBlockIntra, mapListIntra:
		table = 0
	}
	switch m.Mode {
	case mapDirect, mapDirectIntra, mapOffset, mapOffsetIntra, mapStride, mapStrideIntra, mapStrideBlock, mapStrideBlockIntra:
		for i := range size {
			place, err := m.place(int64(i))
			if err != nil {
				return err
			}
			f(i, table, place)
		}
	case mapList, mapListIntra:
		places, err := d.lib.Numbers(m.List, size, 4)
		if err != nil {
			return err
		}
		for i, p := range places {
			f(i, table, int64(int32(p)))
		}
	case mapPairs:
		if err := d.lib.Reader.Prefetch([]inferior.Range{inferior.RangeOf(&d.groups.GPID, m.Pairs, size)}); err != nil {
			return err
		}
		for i := range size {
			pair, err := d.groups.GPID.Read(d.lib.Reader, inferior.At(&d.groups.GPID, m.Pairs, i))
			if err != nil {
				return err
			}
			f(i, pair.Table, int64(pair.Place))
		}
	default:
		return fmt.Errorf("its ranks are mapped in mode %d, which is not known", m.Mode)
	}
	return nil
}

// place is where a regular map leads.
func (m *rankMap) place(rank int64) (int64, error) {
	switch m.Mode {
	case mapDirect, mapDirectIntra:
		return rank, nil
	case mapOffset, mapOffsetIntra:
		return rank + m.OnlyAt, nil
	case mapStride, mapStrideIntra:
		return rank*m.Stride + m.Offset, nil
	}
	if m.BlockSize <= 0 {
		return 0, fmt.Errorf("its blocks have %d members", m.BlockSize)
	}
	return rank/m.BlockSize*(m.Stride-m.BlockSize) + rank + m.Offset, nil
}
