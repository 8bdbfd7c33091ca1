package inferior_test

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

func TestWalk(t *testing.T) {
	chain := map[inferior.Addr]inferior.Addr{1: 2, 2: 3, 3: 9, 4: 5, 5: 6, 6: 5}
	next := func(a inferior.Addr) (inferior.Addr, error) { return chain[a], nil }
	walk := func(first inferior.Addr, limit int) (n int, err error) {
		for _, e := range inferior.Walk(first, 9, limit, next) {
			if e != nil {
				return n, e
			}
			n++
		}
		return n, nil
	}
	if n, err := walk(1, 10); n != 3 || err != nil {
		t.Errorf("%d elements, %v", n, err)
	}
	if n, err := walk(4, 10); n != 3 || err == nil {
		t.Errorf("a cycle gave %d elements, %v", n, err)
	}
	if n, err := walk(1, 2); n != 2 || err == nil {
		t.Errorf("a limit of 2 gave %d elements, %v", n, err)
	}
	if n, err := walk(0, 2); n != 0 || err != nil {
		t.Errorf("NULL gave %d elements, %v", n, err)
	}
}
