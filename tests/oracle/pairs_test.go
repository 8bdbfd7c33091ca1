package oracle

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// Where contexts alone tell communicators apart, a send of an intercommunicator may stand under any of
// them, but must stand somewhere; where more is known of them, each keeps its own.
func TestApart(t *testing.T) {
	comm := func(name, id string, remote any, sends, receives int) expect.Object {
		ops := func(n int) []any {
			list := []any{}
			for range n {
				list = append(list, expect.Object{"status": "pending", "desired_tag": "7", "internal": false})
			}
			return list
		}
		return expect.Object{"name": name, "unique_id": id, "remote_group": remote, "internal": false,
			"pending_sends": ops(sends), "pending_receives": ops(receives), "unexpected_messages": []any{}}
	}
	want := []expect.Object{comm("row", "", nil, 0, 1), comm("between", "", []any{"2"}, 1, 1)}
	receives := comm("context 0x10", "0x10", nil, 0, 1)
	for name, c := range map[string]struct {
		got          []expect.Object
		sends, shown int // held against all sends, -1 if each keeps its own
	}{
		"under another's context": {[]expect.Object{comm("context 0x20", "0x20", nil, 1, 1), receives}, 1, 1},
		"nowhere":                 {[]expect.Object{comm("context 0x20", "0x20", nil, 0, 1), receives}, 1, 0},
		"one is known whole":      {[]expect.Object{comm("between", "0x7f00", nil, 1, 1), receives}, -1, -1},
		"a name that looks so":    {[]expect.Object{comm("context 0x4", "0x7f00", nil, 1, 1)}, -1, -1},
	} {
		parts, places, shown := apart(want, c.got)
		sends, are := -1, -1
		if last := len(parts) - 1; places[last] < 0 {
			sends, are = operations(parts[last]), operations(shown[len(shown)-1])
		}
		if sends != c.sends || are != c.shown || operations(want[1]) != 2 {
			t.Errorf("%s: %d sends are held against %d, want %d and %d", name, sends, are, c.sends, c.shown)
		}
	}
}
