package inferior_test

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

type point struct {
	X     int32                       `c:"x"`
	Index uint64                      `c:"newer|older"`
	Maybe uint32                      `c:"gone,optional"`
	Name  inferior.Text               `c:"name"`
	Items inferior.Embedded[struct{}] `c:"items"`
	Next  inferior.Addr               `c:"next"`
	Inner struct {
		Flag bool `c:"flag"`
	} `c:"inner"`
}

// field is where a member stands.
func field(offset, size int, kind layout.Kind) layout.Field {
	return layout.Field{Offset: offset, Size: size, Kind: kind}
}

type shapes struct {
	Point inferior.Struct[point]    `c:"point_t"`
	Other inferior.Struct[struct{}] `c:"other_t,optional"`
}

func pointLayout() *layout.Layout {
	return &layout.Layout{Size: 64, Fields: map[string]layout.Field{
		"x": field(0, 2, layout.KindSigned), "older": field(4, 4, layout.KindUnsigned), "name": field(8, 8, layout.KindArray),
		"items": field(16, 16, layout.KindStruct), "next": field(32, 8, layout.KindPointer), "inner.flag": field(40, 1, layout.KindUnsigned),
	}}
}

func TestBindAndRead(t *testing.T) {
	f := inferiortest.New()
	f.Types["point_t"] = pointLayout()
	mem := make([]byte, 0x1000)
	copy(mem, "\xfe\xff\x00\x00\xff\xff\xff\xff"+"abc\x00defg")
	copy(mem[32:], "\x78\x56\x34\x12\x00\x00\x00\x00\x01")
	f.Memory[0x1000] = mem
	r := inferior.NewReader(context.Background(), f)
	l, err := inferior.FromDebugInfo(r, inferior.Queries(&shapes{}))
	if err != nil {
		t.Fatal(err)
	}
	var s shapes
	if err := inferior.Bind(&s, l); err != nil {
		t.Fatal(err)
	}
	p, err := s.Point.Read(r, 0x1000)
	if err != nil {
		t.Fatal(err)
	}
	name, err := p.Name.Read(r, 64)
	if p.X != -2 || p.Index != 0xffffffff || p.Maybe != 0 || name != "abc" || err != nil ||
		p.Items != 0x1010 || p.Next != 0x12345678 || !p.Inner.Flag {
		t.Errorf("read %+v, name %q, %v", p, name, err)
	}
	if s.Other.Bound() || !s.Point.Bound() {
		t.Error("a type that is not there is bound, or the other way round")
	}
	if _, err := s.Point.Read(r, 0x1fe0); err == nil {
		t.Error("a struct was read beyond its memory")
	}
}

// One error names all that is missing, and all that does not fit.
func TestBindNamesEverythingMissing(t *testing.T) {
	f := inferiortest.New()
	l := pointLayout()
	delete(l.Fields, "x")
	delete(l.Fields, "older")
	l.Fields["next"] = field(62, 8, layout.KindPointer) // beyond the end
	l.Fields["inner.flag"] = field(40, 3, layout.KindUnsigned)
	l.Fields["items"] = field(math.MaxInt, 16, layout.KindStruct)
	l.Fields["name"] = field(8, -4, layout.KindArray)
	f.Types["point_t"] = l
	layouts, _ := inferior.FromDebugInfo(inferior.NewReader(context.Background(), f), inferior.Queries(&shapes{}))
	err := inferior.Bind(&shapes{}, layouts)
	if err == nil {
		t.Fatal("it was bound")
	}
	for _, want := range []string{"point_t", "no x", "no newer or older", "next is a pointer of 8 bytes at 62", "inner.flag", "items is a struct", "name is a array of -4"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

// A type that several structs bind is asked for once, with all that any of them takes.
func TestQueries(t *testing.T) {
	type first struct {
		X int32 `c:"x"`
	}
	type second struct {
		X int32 `c:"x"`
		Y int32 `c:"y|z"`
	}
	var a struct {
		First inferior.Struct[first] `c:"a_t"`
		Other inferior.Struct[first] `c:"b_t"`
	}
	var b struct {
		Second inferior.Struct[second] `c:"a_t"`
	}
	want := []layout.TypeQuery{{Name: "a_t", Fields: []string{"x", "y", "z"}}, {Name: "b_t", Fields: []string{"x"}}}
	if got := inferior.Queries(&a, &b); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
