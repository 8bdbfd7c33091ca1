package inferior_test

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Objects of an array stand side by side, and a member has the size that the layout says.
func TestArray(t *testing.T) {
	type item struct {
		Names inferior.Embedded[struct{}] `c:"names"`
		Gone  inferior.Embedded[struct{}] `c:"gone,optional"`
	}
	var bound struct {
		Item inferior.Struct[item] `c:"item_t"`
	}
	l := layout.FromDWARF(map[string]*layout.Layout{"item_t": {Size: 40, Fields: map[string]layout.Field{"names": field(8, 24, layout.KindArray)}}})
	if err := inferior.Bind(&bound, l); err != nil {
		t.Fatal(err)
	}
	third := inferior.At(&bound.Item, 0x1000, 2)
	if third != 0x1050 || inferior.RangeOf(&bound.Item, third, 3) != (inferior.Range{Addr: 0x1050, Len: 120}) || inferior.Places(&bound.Item, third).Names != 0x1058 {
		t.Errorf("the third is at %s, three from it on are %v, its names are at %s", third, inferior.RangeOf(&bound.Item, third, 3), inferior.Places(&bound.Item, third).Names)
	}
	size := inferior.SizeOf(&bound.Item, func(i *item) *inferior.Embedded[struct{}] { return &i.Names })
	none := inferior.SizeOf(&bound.Item, func(i *item) *inferior.Embedded[struct{}] { return &i.Gone })
	if size != 24 || none != 0 {
		t.Errorf("names have %d bytes, what is not there %d", size, none)
	}
}
