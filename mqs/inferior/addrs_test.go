package inferior_test

import (
	"math/rand/v2"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// A set has what was added, once.
func TestAddrs(t *testing.T) {
	for name, of := range map[string]func(i int) inferior.Addr{
		"a list":          func(i int) inferior.Addr { return 0x7f0000000000 + inferior.Addr(i)*768 },
		"neighbours":      func(i int) inferior.Addr { return inferior.Addr(i + 1) },
		"few bits differ": func(i int) inferior.Addr { return inferior.Addr(i+1) << 47 },
		"anything":        func(int) inferior.Addr { return inferior.Addr(rand.Uint64() >> 44) },
	} {
		var s inferior.Addrs
		there := map[inferior.Addr]bool{}
		for i := range 50_000 {
			a := of(i)
			if a == 0 {
				continue
			}
			if s.Add(a) == there[a] {
				t.Fatalf("%s: %s, which was there: %t", name, a, there[a])
			}
			there[a] = true
		}
	}
}
