package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Bounds on a pool of psm's.
const (
	maxPSMRequests = 1 << 22
	maxPSMStride   = 1 << 16
)

// psmElementUsed is the bit above the number of an element, which is set of one in use (PSMI_MPOOL_FLAG_INUSE,
// psm_mpool.c, from 2.2 on). Before, it is never set.
const psmElementUsed = 1 << 31

// pooled returns the requests of a pool that are in use and those that are free, in the order of their numbers, and brings
// all into the cache. The pool proves its layout: elements know their number, and as many as it says know the pool.
func (p *psm) pooled(at inferior.Ptr[psmPool]) (used, free []inferior.Ptr[psmRequest], err error) {
	of, err := p.Pool.Read(p.r, at)
	if err != nil {
		return nil, nil, err
	}
	header := p.Element.Size()
	isTooLarge := of.Count > maxPSMRequests || of.Stride > maxPSMStride || of.Offset > maxPSMStride || of.PerChunk > maxPSMRequests
	if isTooLarge || int(of.Stride) < header+p.Request.Size() || of.PerChunk == 0 || of.Count%of.PerChunk != 0 {
		return nil, nil, fmt.Errorf("the pool at %s has %d requests of %d bytes, %d to a chunk", at, of.Count, of.Stride, of.PerChunk)
	}
	chunks, err := inferior.ReadPointers(p.r, of.Chunks, int(of.Count/of.PerChunk))
	if err != nil {
		return nil, nil, err
	}
	var ranges []inferior.Range
	for _, chunk := range chunks {
		ranges = append(ranges, inferior.Range{Addr: chunk.Addr() + inferior.Addr(of.Offset), Len: int(of.PerChunk) * int(of.Stride)})
	}
	if err := p.r.Prefetch(ranges); err != nil {
		return nil, nil, err
	}
	for i := range of.Count {
		first := ranges[i/of.PerChunk].Addr
		element := inferior.Ptr[psmElement](first + inferior.Addr(i%of.PerChunk)*inferior.Addr(of.Stride))
		e, err := p.Element.Read(p.r, element)
		request := inferior.Ptr[psmRequest](element.Addr() + inferior.Addr(header))
		switch {
		case err != nil:
			return nil, nil, err
		case e.Index&^psmElementUsed != i || e.Index&psmElementUsed != 0 && e.Pool != at:
			return nil, nil, fmt.Errorf("the request behind %s is not number %d of its pool", element, i)
		case e.Pool == at:
			used = append(used, request)
		default:
			free = append(free, request)
		}
	}
	if len(used) != int(of.Used) {
		return nil, nil, fmt.Errorf("of the pool at %s, %d requests are in use, and it says %d", at, len(used), of.Used)
	}
	return used, free, nil
}
