package mpich

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Handles (src/include/mpir_objects.h, 4.0 to 5.0): two bits say how an object
// is stored, then four what kind it is; of one in a block, what follows is the
// block's number and the place in it.
const (
	handleBuiltin  = 1
	handleDirect   = 2
	handleIndirect = 3

	handleBlock      = 0x03ff_f000
	handleBlockShift = 12
	handlePlace      = 0x0000_0fff
	handleIndex      = 0x03ff_ffff
)

func storage(handle uint32) uint32 { return handle >> 30 }

// Bounds on pools. MPICH's own are 8192 blocks of 4096 objects.
const (
	maxBlocks    = 1 << 13
	maxPerBlock  = 1 << 16
	maxObjects   = 1 << 22
	requestPools = 64 // MPIR_Request_mem is an array, one for each virtual interface
)

// block is an array of objects of a pool.
type block struct {
	at inferior.Addr
	n  int
}

// openPool is a pool whose blocks are known and in the cache.
type openPool struct {
	pool
	blocks []block // the direct one first
}

// openPool reads a pool and all its objects.
func (s *source) openPool(at inferior.Addr, name string, size int) (*openPool, error) {
	p, err := s.Pool.ReadAt(s.r, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out := &openPool{pool: p}
	if p.Initialized == 0 {
		return out, nil
	}
	if int(p.Size) != size {
		return nil, fmt.Errorf("%s holds objects of %d bytes, not %d", name, p.Size, size)
	}
	if p.DirectSize < 0 || p.DirectSize > maxPerBlock || p.Blocks < 0 || p.Blocks > maxBlocks || p.Allocated < 0 || p.Allocated > maxObjects {
		return nil, fmt.Errorf("%s has %d objects, %d of them direct, and %d blocks", name, p.Allocated, p.DirectSize, p.Blocks)
	}
	inBlocks := p.Allocated - p.DirectSize
	if inBlocks < 0 {
		return out, nil // about to be made: nothing of it is in use
	}
	out.blocks = []block{{p.Direct, int(p.DirectSize)}}
	if inBlocks > 0 {
		at, err := s.r.Pointers(p.Indirect, int(p.Blocks))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		each := s.perBlock(p, inBlocks, at)
		if each <= 0 || each > maxPerBlock {
			return nil, fmt.Errorf("%s has %d objects in %d blocks", name, inBlocks, p.Blocks)
		}
		// A block is counted before it stands in the table.
		seen := map[inferior.Addr]bool{p.Direct: true}
		for _, a := range at[:min(int(inBlocks/each), len(at))] {
			if seen[a] {
				return nil, fmt.Errorf("%s has the block at %s twice", name, a)
			}
			seen[a] = true
			out.blocks = append(out.blocks, block{a, int(each)})
		}
	}
	return out, s.prefetchBlocks(out.blocks, size)
}

// perBlock is the number of objects in each block, 0 if it is not known. Up to
// 4.2 only the sum is kept, to which every block has added the same: all of
// them, or all but the one that is being made, which is counted first.
func (s *source) perBlock(p pool, sum int32, blocks []inferior.Addr) int32 {
	if p.BlockSize > 0 {
		return p.BlockSize
	}
	all := int32(len(blocks))
	if all > 0 && sum%all == 0 {
		each := sum / all
		// Behind the last object there is none that has the next handle.
		handle, err := s.r.Uint(blocks[0]+inferior.Addr(each)*inferior.Addr(p.Size), 4)
		if err != nil || storage(uint32(handle)) != handleIndirect || int32(handle&handlePlace) != each {
			return each
		}
	}
	if all > 1 && sum%(all-1) == 0 {
		return sum / (all - 1)
	}
	return 0
}

func (s *source) prefetchBlocks(blocks []block, size int) error {
	var ranges []inferior.Range
	for _, b := range blocks {
		ranges = append(ranges, inferior.Range{Addr: b.at, Len: b.n * size})
	}
	return s.r.Prefetch(ranges)
}

// freeObjects returns the objects of a pool that are free. The chain may end
// early where the process was stopped while changing it; that is no error here,
// since a free object has no references either.
func (s *source) freeObjects(p *openPool) map[inferior.Addr]bool {
	free := map[inferior.Addr]bool{}
	next := func(a inferior.Addr) (inferior.Addr, error) {
		o, err := s.Free.ReadAt(s.r, a)
		return o.Next, err
	}
	for a, err := range inferior.Walk(p.Avail, 0, int(p.Allocated), next) {
		if err != nil {
			break
		}
		free[a] = true
	}
	return free
}

// eachUsed calls f with the address of every object that is not free.
func (s *source) eachUsed(p *openPool, f func(inferior.Addr) error) error {
	free := s.freeObjects(p)
	for _, b := range p.blocks {
		for i := range b.n {
			at := b.at + inferior.Addr(i)*inferior.Addr(p.Size)
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

// object returns where the object of a handle is, or 0 if there is none.
func (p *openPool) object(handle uint32) inferior.Addr {
	b, i := 0, int(handle&handleIndex)
	if storage(handle) == handleIndirect {
		b, i = 1+int(handle&handleBlock>>handleBlockShift), int(handle&handlePlace)
	}
	if b >= len(p.blocks) || i >= p.blocks[b].n {
		return 0
	}
	return p.blocks[b].at + inferior.Addr(i)*inferior.Addr(p.Size)
}
