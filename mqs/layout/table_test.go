package layout

import "testing"

func TestMembersOfMembers(t *testing.T) {
	table := &Table{Release: "X 1", Types: map[string]Type{
		"outer_t": {Size: 32, Fields: map[string]Member{
			"a": {Field: Field{Offset: 8, Size: 16, Kind: KindStruct}, Type: "inner_t"},
			"n": {Field: Field{Size: 4, Kind: KindSigned}},
			"p": {Field: Field{Offset: 24, Size: 8, Kind: KindPointer}, Type: "inner_t"},
		}},
		"inner_t": {Size: 16, Fields: map[string]Member{"b": {Field: Field{Offset: 4, Size: 4, Kind: KindUnsigned}}}},
	}}
	l := table.Layouts([]TypeQuery{{Name: "outer_t", Fields: []string{"a.b", "a.c", "n", "n.x", "p.b", "z"}}, {Name: "none_t"}})
	if f, ok := l.Field("outer_t", "a.b"); !ok || f != (Field{Offset: 12, Size: 4, Kind: KindUnsigned}) {
		t.Errorf("a.b is %+v, %v", f, ok)
	}
	for _, path := range []string{"a.c", "n.x", "p.b", "z"} {
		if f, ok := l.Field("outer_t", path); ok {
			t.Errorf("%s is %+v", path, f)
		}
	}
	if _, ok := l.Size("none_t"); ok || l.Source != "table" || l.Name != "X 1" {
		t.Errorf("%+v", l)
	}
}

func TestOfScope(t *testing.T) {
	tables := []*Table{{Name: "a"}, {Name: "b", Scope: ScopeRequests}, {Name: "c"}}
	if all := OfScope(tables, ScopeAll); len(all) != 2 || all[0].Name != "a" || all[1].Name != "c" {
		t.Errorf("%v", all)
	}
	if requests := OfScope(tables, ScopeRequests); len(requests) != 1 || requests[0].Name != "b" {
		t.Errorf("%v", requests)
	}
}

func TestFits(t *testing.T) {
	little, arm := &Table{PointerSize: 8, ByteOrder: "little"}, &Table{PointerSize: 8, ByteOrder: "little", Architecture: "aarch64"}
	for _, c := range []struct {
		table        *Table
		pointerSize  int
		isBigEndian  bool
		architecture string
		want         bool
	}{
		{little, 8, false, "i386:x86-64", true}, {little, 8, false, "", true}, {little, 8, true, "", false}, {little, 4, false, "i386", false},
		{little, 8, false, "aarch64", false}, {arm, 8, false, "aarch64", true}, {arm, 8, false, "i386:x86-64", false}, {arm, 8, false, "", false},
	} {
		if c.table.Fits(c.pointerSize, c.isBigEndian, c.architecture) != c.want {
			t.Errorf("that a table of %q fits is not %t: %+v", c.table.Architecture, c.want, c)
		}
	}
}
