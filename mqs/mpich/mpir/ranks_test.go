package mpir

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// An array of ranks is one if all of it can be read and each may be a rank.
func TestRanks(t *testing.T) {
	const end = inferior.Addr(0x2000)
	p := inferiortest.New()
	p.PutUint32(0x1000, 0, 5, MaxMembers-1)
	p.PutUint32(0x1100, 0, ^uint32(0))
	p.PutUint32(0x1200, 0, MaxMembers)
	p.PutUint32(end-4, 3)
	l := over(p)
	for name, c := range map[string]struct {
		at   inferior.Addr
		n    int32
		want []int32 // nil if it is none
	}{
		"some":              {0x1000, 3, []int32{0, 5, MaxMembers - 1}},
		"none":              {0x1000, 0, []int32{}},
		"fewer than none":   {0x1000, -1, nil},
		"more than can be":  {0x1000, MaxMembers + 1, nil},
		"with one below 0":  {0x1100, 2, nil},
		"with one too high": {0x1200, 2, nil},
		"up to the end":     {end - 4, 1, []int32{3}},
		"behind the end":    {end - 4, 2, nil},
	} {
		if got, ok := l.Ranks(c.at, c.n); ok != (c.want != nil) || ok && !slices.Equal(got, c.want) {
			t.Errorf("%s: %d, %t", name, got, ok)
		}
	}
}
