package mqs

import (
	"reflect"
	"testing"
)

func TestMembers(t *testing.T) {
	var m Members
	for _, rank := range []int32{3, 0, 3, 1, 2, 0} {
		m.Add(Known(rank), 7)
	}
	m.Add(Maybe[int32]{}, 9)
	m.Add(Maybe[int32]{}, 8)
	if want := (Members{Ranks: []int32{0, 1, 2, 3}, Inferiors: []int32{8, 9}}); !reflect.DeepEqual(m, want) || m.Len() != 6 {
		t.Errorf("%+v, %d processes", m, m.Len())
	}
	high, unknown := Members{Ranks: []int32{0, 9}}, Members{Inferiors: []int32{1}}
	ordered := []*Members{&m, &high, &unknown}
	for i, a := range ordered {
		for k, b := range ordered {
			if c := a.Compare(b); (c < 0) != (i < k) || (c > 0) != (i > k) {
				t.Errorf("%+v and %+v compare as %d", a, b, c)
			}
		}
	}
}
