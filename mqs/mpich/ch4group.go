package mpich

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// ch4Groups are the types of ranks up to 4.3.
type ch4Groups struct {
	Comm inferior.Struct[ch4Comm] `c:"MPIR_Comm"`
	Map  inferior.Struct[ch4Map]  `c:"MPIDI_rank_map_t"`
	GPID inferior.Struct[ch4GPID] `c:"MPIDI_gpid_t"`
}

type ch4Comm struct {
	Map      inferior.Place `c:"dev.ch4.map"`
	LocalMap inferior.Place `c:"dev.ch4.local_map"`
}

// ch4Map maps ranks to a table of addresses and a place in it.
type ch4Map struct {
	Mode      uint32        `c:"mode"`
	Table     int32         `c:"avtid"`
	Size      int32         `c:"size"`
	Offset    int64         `c:"reg.stride.offset"` // also that of the mode offset, which is the union's other member
	OnlyAt    int64         `c:"reg.offset"`
	Stride    int64         `c:"reg.stride.stride"`
	BlockSize int64         `c:"reg.stride.blocksize"`
	List      inferior.Addr `c:"irreg.lut.lpid"`
	Pairs     inferior.Addr `c:"irreg.mlut.gpid"`
}

type ch4GPID struct {
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

// group: table 0 is this program's, where a place is a rank in MPI_COMM_WORLD.
func (d *ch4) group(a inferior.Addr, local bool, size int32) ([]mqs.Maybe[int32], error) {
	m, err := d.rankMap(a, local, size)
	if err != nil {
		return nil, err
	}
	key := membership{size: size, mode: m.Mode, table: m.Table}
	switch m.Mode {
	case mapList, mapListIntra:
		key.at = m.List
	case mapPairs:
		key.at = m.Pairs
	case mapOffset, mapOffsetIntra:
		key.offset = m.OnlyAt
	case mapStride, mapStrideIntra:
		key.offset, key.stride = m.Offset, m.Stride
	case mapStrideBlock, mapStrideBlockIntra:
		key.offset, key.stride, key.blockSize = m.Offset, m.Stride, m.BlockSize
	}
	return d.once(key, func(out []mqs.Maybe[int32]) error {
		return d.eachPlace(m, len(out), func(i int, table int32, place int64) {
			if table == 0 {
				out[i] = d.inWorld(place)
			}
		})
	})
}

// rankMap reads the map of a communicator's ranks.
func (d *ch4) rankMap(a inferior.Addr, local bool, size int32) (*ch4Map, error) {
	c, err := d.groups.Comm.ReadAt(d.r, a)
	if err != nil {
		return nil, err
	}
	at := c.Map
	if local {
		at = c.LocalMap
	}
	m, err := d.groups.Map.ReadAt(d.r, inferior.Addr(at))
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
func (d *ch4) eachPlace(m *ch4Map, size int, f func(rank int, table int32, place int64)) error {
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
		places, err := d.words(m.List, size, 4)
		if err != nil {
			return err
		}
		for i, p := range places {
			f(i, table, int64(int32(p)))
		}
	case mapPairs:
		if err := d.r.Prefetch([]inferior.Range{{Addr: m.Pairs, Len: size * d.groups.GPID.Size()}}); err != nil {
			return err
		}
		for i := range size {
			pair, err := d.groups.GPID.ReadAt(d.r, m.Pairs+inferior.Addr(i*d.groups.GPID.Size()))
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
func (m *ch4Map) place(rank int64) (int64, error) {
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
