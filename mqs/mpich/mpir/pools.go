package mpir

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Bounds on pools. MPICH's own are 8192 blocks of 4096 objects.
const (
	maxBlocks    = 1 << 13
	maxPerBlock  = 1 << 16
	maxObjects   = 1 << 22
	requestPools = 64 // MPIR_Request_mem is an array, one for each virtual interface
)

// block is an array of objects of a pool.
type block[T any] struct {
	at inferior.Ptr[T]
	n  int
}

// openPool is a pool of objects of the C type that T reads, whose blocks are known and in the cache.
type openPool[T any] struct {
	pool
	l      *Library
	of     *inferior.Struct[T]
	blocks []block[T] // the direct one first
}

// readPool reads a pool, which has a name, and all its objects.
func readPool[T any](l *Library, at inferior.Ptr[pool], name string, of *inferior.Struct[T]) (*openPool[T], error) {
	p, err := l.c.Pool.Read(l.Reader, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out := &openPool[T]{pool: p, l: l, of: of}
	// A pool has its size before it has objects.
	if p.Initialized == 0 && p.Size == 0 {
		return out, nil
	}
	if int(p.Size) != of.Size() {
		return nil, fmt.Errorf("%s holds objects of %d bytes, not %d", name, p.Size, of.Size())
	}
	if p.Initialized == 0 {
		return out, nil
	}
	if p.DirectSize < 0 || p.DirectSize > maxPerBlock || p.Blocks < 0 || p.Blocks > maxBlocks || p.Allocated < 0 || p.Allocated > maxObjects {
		return nil, fmt.Errorf("%s has %d objects, %d of them direct, and %d blocks", name, p.Allocated, p.DirectSize, p.Blocks)
	}
	inBlocks := p.Allocated - p.DirectSize
	if inBlocks < 0 {
		return out, nil // about to be made: nothing of it is in use
	}
	out.blocks = []block[T]{{inferior.Ptr[T](p.Direct), int(p.DirectSize)}}
	if inBlocks > 0 {
		at, err := inferior.ReadPointers(l.Reader, inferior.Ptr[inferior.Ptr[T]](p.Indirect), int(p.Blocks))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		each := out.perBlock(inBlocks, at)
		if each <= 0 || each > maxPerBlock {
			return nil, fmt.Errorf("%s has %d objects in %d blocks", name, inBlocks, p.Blocks)
		}
		// A block is counted before it stands in the table.
		seen := map[inferior.Ptr[T]]bool{out.blocks[0].at: true}
		for _, a := range at[:min(int(inBlocks/each), len(at))] {
			if seen[a] {
				return nil, fmt.Errorf("%s has the block at %s twice", name, a)
			}
			seen[a] = true
			out.blocks = append(out.blocks, block[T]{a, int(each)})
		}
	}
	return out, out.prefetch()
}

// perBlock is the number of objects in each block, 0 if it is not known. Up to
// 4.2 only the sum is kept, to which every block has added the same: all of
// them, or all but the one that is being made, which is counted first.
func (p *openPool[T]) perBlock(sum int32, blocks []inferior.Ptr[T]) int32 {
	if p.BlockSize > 0 {
		return p.BlockSize
	}
	all := int32(len(blocks))
	if all > 0 && sum%all == 0 {
		each := sum / all
		// Behind the last object there is none that has the next handle.
		handle, err := p.l.Reader.Uint(inferior.At(p.of, blocks[0], int(each)).Addr(), 4)
		if err != nil || storage(uint32(handle)) != handleIndirect || int32(handle&handlePlace) != each {
			return each
		}
	}
	if all > 1 && sum%(all-1) == 0 {
		return sum / (all - 1)
	}
	return 0
}

func (p *openPool[T]) prefetch() error {
	var ranges []inferior.Range
	for _, b := range p.blocks {
		ranges = append(ranges, inferior.RangeOf(p.of, b.at, b.n))
	}
	return p.l.Reader.Prefetch(ranges)
}

// free returns the objects of a pool that are free. The chain may end
// early where the process was stopped while changing it; that is no error here,
// since a free object has no references either.
func (p *openPool[T]) free() map[inferior.Ptr[T]]bool {
	out := map[inferior.Ptr[T]]bool{}
	next := func(a inferior.Ptr[free]) (inferior.Ptr[free], error) {
		o, err := p.l.c.Free.Read(p.l.Reader, a)
		return o.Next, err
	}
	for a, err := range inferior.Walk(p.Avail, 0, int(p.Allocated), next) {
		if err != nil {
			break
		}
		out[inferior.Ptr[T](a)] = true
	}
	return out
}

// eachUsed calls f for every object that is not free.
func (p *openPool[T]) eachUsed(f func(inferior.Ptr[T]) error) error {
	free := p.free()
	for _, b := range p.blocks {
		for i := range b.n {
			at := inferior.At(p.of, b.at, i)
			if free[at] {
				continue
			}
			if err := f(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// object returns where the object of a handle is, 0 if there is none.
func (p *openPool[T]) object(handle uint32) inferior.Ptr[T] {
	b, i := 0, int(handle&handleIndex)
	if storage(handle) == handleIndirect {
		b, i = 1+int(handle&handleBlock>>handleBlockShift), int(handle&handlePlace)
	}
	if b >= len(p.blocks) || i >= p.blocks[b].n {
		return 0
	}
	return inferior.At(p.of, p.blocks[b].at, i)
}
