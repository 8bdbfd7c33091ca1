package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// pools reads pools of buffers.
type pools struct {
	poolTypes
	r *inferior.Reader
}

// poolTypes are those of a pool (include/ofi_mem.h).
type poolTypes struct {
	Pool   inferior.Struct[pool]       `c:"ofi_bufpool"`
	Region inferior.Struct[poolRegion] `c:"ofi_bufpool_region"`
	Header inferior.Struct[poolHeader] `c:"ofi_bufpool_hdr"`
}

// pool is an ofi_bufpool, whose buffers stand in regions at a fixed stride, each behind a header.
type pool struct {
	Free      inferior.Ptr[poolHeader]               `c:"free_list.entries.head"`
	EntrySize uint64                                 `c:"entry_size"` // of headers too
	Entries   uint64                                 `c:"entry_cnt"`
	Regions   uint64                                 `c:"region_cnt"`
	Table     inferior.Ptr[inferior.Ptr[poolRegion]] `c:"region_table"`
	PerRegion uint64                                 `c:"attr.chunk_cnt"`
	Size      uint64                                 `c:"attr.size"` // of what a buffer is for
}

type poolRegion struct {
	Pool   inferior.Ptr[pool] `c:"pool"`
	Index  uint64             `c:"index"`
	Memory inferior.Addr      `c:"mem_region"` // the first buffer
}

// poolHeader stands in front of a buffer. Free ones are on a list.
type poolHeader struct {
	Next   inferior.Ptr[poolHeader] `c:"entry.slist.next"`
	Region inferior.Ptr[poolRegion] `c:"region"`
	Index  uint64                   `c:"index"`
}

// Bounds on the pool of messages on their way.
const (
	maxEntries   = 1 << 20
	maxRegions   = 1 << 16
	maxEntrySize = 1 << 24
)

// provePool proves that a pool is for objects of so many bytes.
func provePool(r *inferior.Reader, l *layout.Layouts, at inferior.Ptr[pool], size int) error {
	var types poolTypes
	if err := inferior.Bind(&types, l); err != nil {
		return err
	}
	of, err := types.Pool.Read(r, at)
	if err == nil && of.Size != uint64(size) {
		err = fmt.Errorf("the pool at %s is for objects of %d bytes, not of %d", at, of.Size, size)
	}
	return err
}

// used returns the buffers in use of a pool, each of at least so many bytes, in the order of their numbers, and brings them
// all into the cache. The pool proves its layout: regions know their pool and their place in the table, buffers their
// region and their number.
func (p *pools) used(at inferior.Ptr[pool], size int) ([]inferior.Addr, error) {
	of, err := p.Pool.Read(p.r, at)
	if err != nil {
		return nil, err
	}
	least := uint64(p.Header.Size() + size)
	isTooLarge := of.Entries > maxEntries || of.PerRegion > maxEntries || of.Regions > maxRegions || of.EntrySize > maxEntrySize
	if isTooLarge || of.EntrySize < least || of.PerRegion*of.Regions != of.Entries {
		return nil, fmt.Errorf("the pool at %s has %d buffers of %d bytes in %d regions", at, of.Entries, of.EntrySize, of.Regions)
	}
	if of.Regions == 0 {
		return nil, nil
	}
	table, err := inferior.ReadPointers(p.r, of.Table, int(of.Regions))
	if err != nil {
		return nil, err
	}
	var all []inferior.Ptr[poolHeader]
	var places []inferior.Range
	regions := make([]poolRegion, len(table))
	for i, region := range table {
		r, err := p.Region.Read(p.r, region)
		switch {
		case err != nil:
			return nil, err
		case r.Pool != at || r.Index != uint64(i):
			return nil, fmt.Errorf("the region at %s is not number %d of the pool at %s", region, i, at)
		}
		regions[i] = r
		for k := range of.PerRegion {
			header := inferior.Ptr[poolHeader](r.Memory + inferior.Addr(k*of.EntrySize) - inferior.Addr(p.Header.Size()))
			all = append(all, header)
			places = append(places, inferior.Range{Addr: header.Addr(), Len: int(least)})
		}
	}
	if err := p.r.Prefetch(places); err != nil {
		return nil, err
	}
	free := map[inferior.Ptr[poolHeader]]bool{}
	number := map[inferior.Ptr[poolHeader]]int{}
	for i, h := range all {
		header, err := p.Header.Read(p.r, h)
		switch {
		case err != nil:
			return nil, err
		case header.Index != uint64(i) || header.Region != table[uint64(i)/of.PerRegion]:
			return nil, fmt.Errorf("the buffer at %s is not number %d of its pool", h, i)
		}
		number[h] = i
	}
	next := func(h inferior.Ptr[poolHeader]) (inferior.Ptr[poolHeader], error) {
		if _, ok := number[h]; !ok {
			return 0, fmt.Errorf("the free buffer at %s is not one of the pool's", h)
		}
		header, err := p.Header.Read(p.r, h)
		free[h] = true
		return header.Next, err
	}
	for _, err := range inferior.Walk(of.Free, 0, len(all), next) {
		if err != nil {
			return nil, err
		}
	}
	var used []inferior.Addr
	for _, h := range all {
		if !free[h] {
			used = append(used, h.Addr()+inferior.Addr(p.Header.Size()))
		}
	}
	return used, nil
}
