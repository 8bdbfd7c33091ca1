package pyframes

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// TestLocks checks that an interpreter's lock is reported with its holder only while it is taken and its last holder is one of the
// interpreter's threads: any other state may be that of a lock about to change hands.
func TestLocks(t *testing.T) {
	of, starts := releases(t)
	for python, o := range of {
		lock := lockOf(o)
		held := []Lock{{Condition: inferior.Range{Addr: lock + inferior.Addr(o.gilHolder+24), Len: 48}, Holder: 8}}
		for name, c := range map[string]struct {
			at   inferior.Addr
			v    uint64
			want []Lock
		}{
			"held":                    {lock + 200, 5000, held},
			"released":                {lock + inferior.Addr(o.gilLocked), 0, nil},
			"not yet created":         {lock + inferior.Addr(o.gilLocked), 0xffffffff, nil},
			"held by nobody":          {lock + inferior.Addr(o.gilHolder), 0, nil},
			"held by a deleted state": {lock + inferior.Addr(o.gilHolder), 0x2b000, nil},
		} {
			p := madeUp(o, starts[python])
			p.PutUint64(c.at, c.v)
			got, err := Threads(inferior.NewReader(t.Context(), p), map[int]bool{7: true})
			if !reflect.DeepEqual(got.Locks, c.want) || len(got.Runs) != 1 || err != nil {
				t.Errorf("%s, %s: %+v, %v", python, name, got.Locks, err)
			}
		}
	}
}
