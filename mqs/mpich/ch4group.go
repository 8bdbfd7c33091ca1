package mpich

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// ch4Groups are the types of ranks up to 4.3.
type ch4Groups struct {
	Comm target.Struct[ch4Comm] `c:"MPIR_Comm"`
	Map  target.Struct[ch4Map]  `c:"MPIDI_rank_map_t"`
	GPID target.Struct[ch4GPID] `c:"MPIDI_gpid_t"`
}

type ch4Comm struct {
	Map      target.Place `c:"dev.ch4.map"`
	LocalMap target.Place `c:"dev.ch4.local_map"`
}

// ch4Map maps ranks to a table of addresses and a place in it.
type ch4Map struct {
	Mode      uint32      `c:"mode"`
	Table     int32       `c:"avtid"`
	Size      int32       `c:"size"`
	Offset    int64       `c:"reg.stride.offset"` // also that of the mode offset, which is the union's other member
	OnlyAt    int64       `c:"reg.offset"`
	Stride    int64       `c:"reg.stride.stride"`
	BlockSize int64       `c:"reg.stride.blocksize"`
	List      target.Addr `c:"irreg.lut.lpid"`
	Pairs     target.Addr `c:"irreg.mlut.gpid"`
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
func (d *ch4) group(a target.Addr, local bool, size int32) ([]mqs.Maybe[int32], error) {
	places, err := d.places(a, local, size)
	if err != nil {
		return nil, err
	}
	out := make([]mqs.Maybe[int32], size)
	for i, p := range places {
		if p.Table == 0 {
			out[i] = d.inWorld(int64(p.Place))
		}
	}
	return out, nil
}

// places returns for each rank of a group which table of addresses it is in, and where.
func (d *ch4) places(a target.Addr, local bool, size int32) ([]ch4GPID, error) {
	c, err := d.groups.Comm.Read(d.r, a)
	if err != nil {
		return nil, err
	}
	at := c.Map
	if local {
		at = c.LocalMap
	}
	m, err := d.groups.Map.Read(d.r, target.Addr(at))
	if err != nil {
		return nil, err
	}
	if m.Size < size {
		return nil, fmt.Errorf("it has %d members, and its map %d", size, m.Size)
	}
	out := make([]ch4GPID, size)
	table := m.Table
	switch m.Mode {
	case mapDirectIntra, mapOffsetIntra, mapStrideIntra, mapStrideBlockIntra, mapListIntra:
		table = 0
	}
	switch m.Mode {
	case mapDirect, mapDirectIntra, mapOffset, mapOffsetIntra, mapStride, mapStrideIntra, mapStrideBlock, mapStrideBlockIntra:
		for i := range out {
			place, err := m.place(int64(i))
			if err != nil {
				return nil, err
			}
			out[i] = ch4GPID{table, int32(place)}
		}
	case mapList, mapListIntra:
		places, err := d.words(m.List, int(size), 4)
		if err != nil {
			return nil, err
		}
		for i, p := range places {
			out[i] = ch4GPID{table, int32(p)}
		}
	case mapPairs:
		if err := d.r.Prefetch([]target.Range{{Addr: m.Pairs, Len: int(size) * d.groups.GPID.Size()}}); err != nil {
			return nil, err
		}
		for i := range out {
			pair, err := d.groups.GPID.Read(d.r, m.Pairs+target.Addr(i*d.groups.GPID.Size()))
			if err != nil {
				return nil, err
			}
			out[i] = pair
		}
	default:
		return nil, fmt.Errorf("its ranks are mapped in mode %d, which is not known", m.Mode)
	}
	return out, nil
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
