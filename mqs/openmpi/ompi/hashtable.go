package ompi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// maxHashTable bounds the places of a hash table that is believed.
const maxHashTable = 1 << 20

// hashed reads what a hash table holds for keys that are numbers of 32 bits.
func (p *Process) hashed(at inferior.Ptr[hashTable]) (map[uint32]inferior.Addr, error) {
	if !p.HashTable.Bound() || !p.HashElement.Bound() {
		return nil, errNotBound
	}
	t, err := p.HashTable.Read(p.R, at)
	if err != nil || t.Size == 0 {
		return nil, err
	}
	if t.Capacity > maxHashTable || t.Size > t.Capacity {
		return nil, fmt.Errorf("the hash table at %s holds %d elements in %d places", at, t.Size, t.Capacity)
	}
	_ = p.R.Prefetch([]inferior.Range{inferior.RangeOf(&p.HashElement, t.Elements, int(t.Capacity))}) // what fails here fails again below
	out := map[uint32]inferior.Addr{}
	for i := range int(t.Capacity) {
		e, err := p.HashElement.Read(p.R, inferior.At(&p.HashElement, t.Elements, i))
		if err != nil {
			return nil, err
		}
		if e.Valid {
			out[e.Key] = e.Value
		}
	}
	return out, nil
}
