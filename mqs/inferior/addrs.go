package inferior

import "math/rand/v2"

// Addrs is a set of addresses. It takes a fifth of the time of a map, which long lists would spend most of theirs
// in. The zero value is empty. 0 can't be in it.
type Addrs struct {
	slots []Addr // as many as a power of two, at least a quarter of them empty, which are 0
	n     int
	// seeds differ from run to run, so that no process can choose addresses that fall into one place.
	seeds [2]uint64
}

// Add adds an address; false if it is there already.
func (s *Addrs) Add(a Addr) bool {
	if 4*(s.n+1) > 3*len(s.slots) {
		s.grow()
	}
	slot := s.slot(a)
	if *slot == a {
		return false
	}
	*slot = a
	s.n++
	return true
}

// slot is where an address stands, or would.
func (s *Addrs) slot(a Addr) *Addr {
	h := (uint64(a) ^ s.seeds[0]) * s.seeds[1]
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15 // an odd number whose bits are spread: 2^64 by the golden ratio
	for i := h >> 32; ; i++ {
		if slot := &s.slots[i&uint64(len(s.slots)-1)]; *slot == a || *slot == 0 {
			return slot
		}
	}
}

func (s *Addrs) grow() {
	old := s.slots
	if old == nil {
		s.seeds = [2]uint64{rand.Uint64(), rand.Uint64() | 1}
	}
	s.slots = make([]Addr, max(16, 2*len(old)))
	for _, a := range old {
		if a != 0 {
			*s.slot(a) = a
		}
	}
}
