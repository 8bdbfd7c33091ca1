package psm

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Bounds on a pool.
const (
	maxRequests = 1 << 22
	maxStride   = 1 << 16
)

// isInUse is the bit above the number of an element, which is set of one in use (PSMI_MPOOL_FLAG_INUSE, psm_mpool.c of the
// provider psm3, from 2.2 on). Before, and in libpsm2, it is never set.
const isInUse = 1 << 31

// pooled returns the requests of a pool that are in use and those that are free, in the order of their numbers, and brings
// all into the cache. The pool proves its layout: elements know their number, and as many as it says know the pool.
func (q *MQ) pooled(at inferior.Ptr[Pool]) (used, free []inferior.Ptr[Request], err error) {
	of, err := q.Pool.Read(q.r, at)
	if err != nil {
		return nil, nil, err
	}
	header := q.Element.Size()
	isTooLarge := of.Count > maxRequests || of.Stride > maxStride || of.Offset > maxStride || of.PerChunk > maxRequests
	if isTooLarge || int(of.Stride) < header+q.Request.Size() || of.PerChunk == 0 || of.Count%of.PerChunk != 0 {
		return nil, nil, fmt.Errorf("the pool at %s has %d requests of %d bytes, %d to a chunk", at, of.Count, of.Stride, of.PerChunk)
	}
	chunks, err := inferior.ReadPointers(q.r, of.Chunks, int(of.Count/of.PerChunk))
	if err != nil {
		return nil, nil, err
	}
	var ranges []inferior.Range
	for _, chunk := range chunks {
		ranges = append(ranges, inferior.Range{Addr: chunk.Addr() + inferior.Addr(of.Offset), Len: int(of.PerChunk) * int(of.Stride)})
	}
	if err := q.r.Prefetch(ranges); err != nil {
		return nil, nil, err
	}
	for i := range of.Count {
		first := ranges[i/of.PerChunk].Addr
		element := inferior.Ptr[Element](first + inferior.Addr(i%of.PerChunk)*inferior.Addr(of.Stride))
		e, err := q.Element.Read(q.r, element)
		request := inferior.Ptr[Request](element.Addr() + inferior.Addr(header))
		switch {
		case err != nil:
			return nil, nil, err
		case e.Index&^isInUse != i || e.Index&isInUse != 0 && e.Pool != at:
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
