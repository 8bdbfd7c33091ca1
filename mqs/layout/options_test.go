package layout

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A request with a convertor in it, as plain builds have it, and as those with more in a convertor, with a number in front
// of each request, and with both, where the compiler fills a gap.
const configured = `"release": "X 1", "types": {
	"convertor_t": {"size": 16, "fields": {"count": {"offset": 0, "size": 4, "kind": "signed"}}},
	"request_t": {"size": 32, "fields": {"old": {"offset": 0, "size": 4, "kind": "signed"},
		"convertor": {"offset": 8, "size": 16, "kind": "struct", "type": "convertor_t"}, "tag": {"offset": 24, "size": 4, "kind": "signed"}}}},
"options": [
	{"with": ["CUDA"], "types": {"convertor_t": {"size": 24}, "cuda_t": {"size": 8}, "request_t": {"size": 40, "fields": {
		"convertor": {"offset": 8, "size": 24, "kind": "struct", "type": "convertor_t"}, "tag": {"offset": 32, "size": 4, "kind": "signed"}}}}},
	{"with": ["debugging"], "types": {"request_t": {"size": 40, "fields": {"old": null, "magic": {"offset": 0, "size": 8, "kind": "unsigned"},
		"convertor": {"offset": 16, "size": 16, "kind": "struct", "type": "convertor_t"}, "tag": {"offset": 32, "size": 4, "kind": "signed"}}}}},
	{"with": ["CUDA", "debugging"], "types": {"request_t": {"fields": {"tag": {"offset": 36, "size": 4, "kind": "signed"}}}}}]`

func TestVariants(t *testing.T) {
	// The other release has a member more in front of the tag.
	tables, err := ReadTables(folder(map[string]string{"x-1": configured,
		"x-2": `"release": "X 2", "based_on": "x-1", "types": {"request_t": {"size": 40, "fields": {"tag": {"offset": 32, "size": 4, "kind": "signed"}}}},
			"options": [{"with": ["CUDA"], "types": {"convertor_t": {"size": 32}}}]`}), "t")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for v := range Variants(tables) {
		names = append(names, v.String())
	}
	if want := []string{"X 1", "X 2", "X 1 with CUDA", "X 1 with debugging", "X 2 with CUDA", "X 2 with debugging", "X 1 with CUDA and debugging", "X 2 with CUDA and debugging"}; !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
	for _, c := range []struct {
		of              string
		size, converter int
		offset, tag     int
		magic, old      bool
	}{
		{"X 1", 32, 16, 8, 24, false, true},
		{"X 1 with CUDA", 40, 24, 8, 32, false, true},
		{"X 1 with debugging", 40, 16, 16, 32, true, false},
		{"X 1 with CUDA and debugging", 48, 24, 16, 36, true, false},
		{"X 2", 40, 16, 8, 32, false, true},
		{"X 2 with CUDA", 48, 32, 8, 40, false, true},
		{"X 2 with CUDA and debugging", 56, 32, 16, 44, true, false}, // what CUDA alone changes there, both do
	} {
		for v := range Variants(tables) {
			if v.String() != c.of {
				continue
			}
			r, conv := v.Types["request_t"], v.Types["convertor_t"]
			_, magic := r.Fields["magic"]
			_, old := r.Fields["old"]
			if r.Size != c.size || conv.Size != c.converter || r.Fields["convertor"].Offset != c.offset || r.Fields["tag"].Offset != c.tag || magic != c.magic || old != c.old {
				t.Errorf("%s: %+v, %+v", v, r, conv)
			}
			if _, ok := v.Types["cuda_t"]; ok != strings.Contains(c.of, "CUDA") {
				t.Errorf("%s has cuda_t: %v", v, ok)
			}
		}
	}
}

// What differs between two sets of types turns the one into the other.
func TestDiffTypes(t *testing.T) {
	tables, err := ReadTables(folder(map[string]string{"x-1": configured}), "t")
	if err != nil {
		t.Fatal(err)
	}
	plain, both := tables[0].Types, tables[0].TypesWith([]string{"CUDA", "debugging"})
	for _, c := range [][2]map[string]Type{{plain, both}, {both, plain}, {nil, plain}} {
		got := map[string]Type{}
		maps.Copy(got, c[0])
		apply(DiffTypes(c[0], c[1]), got)
		if !reflect.DeepEqual(got, c[1]) {
			t.Errorf("%v became %v", c[0], got)
		}
	}
	if got := DiffTypes(plain, maps.Clone(plain)); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// A library's debug information completes a table, which must agree with it.
func TestComplete(t *testing.T) {
	number := func(offset int) Field { return Field{Offset: offset, Size: 4, Kind: KindSigned} }
	ends := func(length int) Field { return Field{Offset: 8, Size: length, Kind: KindArray} }
	table := (&Table{Types: map[string]Type{"proc_t": {24, map[string]Member{"n": {Field: number(0)}, "ends": {Field: ends(16)}}}, "other_t": {8, nil},
		"row_t": {24, map[string]Member{"n": {Field: number(20)}, "ends": {Field: ends(16)}}}}}).
		Layouts([]TypeQuery{{"proc_t", []string{"n", "m", "ends"}}, {"row_t", []string{"ends", "n"}}, {"other_t", nil}})
	for _, c := range []struct {
		name string
		own  Layout
		says string
	}{
		{"the same", Layout{Size: 24, Fields: map[string]Field{"n": number(0), "ends": ends(16)}}, ""},
		{"more of it", Layout{Size: 24, Fields: map[string]Field{"n": number(0), "m": number(4), "ends": ends(16)}}, ""},
		{"a shorter array at its end", Layout{Size: 16, Fields: map[string]Field{"n": number(0), "ends": ends(8)}}, ""},
		{"a longer array, and more behind it", Layout{Size: 40, Fields: map[string]Field{"n": number(0), "ends": ends(24)}}, "proc_t with 40 bytes, not 24"},
		{"a longer array that is not the last", Layout{Size: 32, Fields: map[string]Field{"n": number(0), "ends": ends(24)}}, "row_t.ends at 8, with 24 bytes, not at 8, with 16"},
		{"a member elsewhere", Layout{Size: 24, Fields: map[string]Field{"n": number(4), "ends": ends(16)}}, "libx.so has proc_t.n at 4, with 4 bytes, not at 0, with 4"},
		{"a member less", Layout{Size: 24, Fields: map[string]Field{"ends": ends(16)}}, "no proc_t.n"},
		{"another size", Layout{Size: 32, Fields: map[string]Field{"n": number(0), "ends": {Offset: 8, Size: 16, Kind: KindArray}}}, "proc_t with 32 bytes, not 24"},
	} {
		c.own.Object = "/lib/libx.so"
		of := "proc_t"
		if strings.HasPrefix(c.says, "row_t") {
			of = "row_t"
		}
		dwarf := FromDWARF(map[string]*Layout{of: &c.own, "foreign_t": {Size: 1, Object: "/app"}, "new_t": {Size: 2, Object: "/lib/libx.so"}})
		got, err := table.Complete(dwarf.Of(func(object string) bool { return object == "/lib/libx.so" }))
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || got.Find("proc_t") != &c.own || got.Find("other_t").Size != 8 || got.Find("foreign_t") != nil || got.Find("new_t") == nil {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if table.Find("new_t") != nil {
			t.Error("the table's own layouts have changed")
		}
	}
	if got, err := table.Complete(FromDWARF(nil).Of(nil)); got != table || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
