package layout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// folder is a folder t with tables by name, which are for one ABI.
func folder(tables map[string]string) fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range tables {
		files["t/"+name+".json"] = &fstest.MapFile{Data: []byte(`{"pointer_size": 8, "byte_order": "little", ` + text + "}")}
	}
	return files
}

const base = `"release": "X 1", "types": {
	"gone_t": {"size": 4, "fields": {}},
	"same_t": {"size": 8, "fields": {"a": {"offset": 4, "size": 4, "kind": "signed"}}},
	"other_t": {"size": 16, "fields": {"moved": {"offset": 0, "size": 8, "kind": "pointer"}, "gone": {"offset": 8, "size": 8, "kind": "unsigned"}}}}`

func TestBasedOn(t *testing.T) {
	tables, err := ReadTables(folder(map[string]string{"x-1": base,
		"x-2": `"release": "X 2", "based_on": "x-1", "types": {"gone_t": null, "other_t": {"fields": {"gone": null, "moved": {"offset": 8, "size": 8, "kind": "pointer"}}}}`,
		"x-3": `"release": "X 3", "based_on": "x-2", "types": {"other_t": {"size": 24}, "new_t": {"size": 1}}`}), "t")
	if err != nil {
		t.Fatal(err)
	}
	if len(tables) != 3 || tables[0].Release != "X 1" || tables[2].Name != "x-3" || tables[2].Release != "X 3" || !tables[2].Fits(8, false, "") {
		t.Errorf("%+v", tables)
	}
	same := Type{Size: 8, Fields: map[string]Member{"a": {Field: Field{Offset: 4, Size: 4, Kind: KindSigned}}}}
	other := map[string]Member{"moved": {Field: Field{Offset: 8, Size: 8, Kind: KindPointer}}}
	for i, want := range []map[string]Type{
		{"gone_t": {Size: 4, Fields: map[string]Member{}}, "same_t": same, "other_t": {Size: 16, Fields: map[string]Member{
			"moved": {Field: Field{Size: 8, Kind: KindPointer}}, "gone": {Field: Field{Offset: 8, Size: 8, Kind: KindUnsigned}}}}},
		{"same_t": same, "other_t": {Size: 16, Fields: other}},
		{"same_t": same, "other_t": {Size: 24, Fields: other}, "new_t": {Size: 1, Fields: map[string]Member{}}},
	} {
		if !maps.EqualFunc(tables[i].Types, want, func(a, b Type) bool { return a.Size == b.Size && maps.Equal(a.Fields, b.Fields) }) {
			t.Errorf("%s has %v, want %v", tables[i].Name, tables[i].Types, want)
		}
	}
}

func TestNoTables(t *testing.T) {
	long := map[string]string{"x-1": base}
	for i := 2; i <= maxBases+1; i++ {
		long[fmt.Sprint("x-", i)] = fmt.Sprintf(`"based_on": "x-%d", "types": {}`, i-1)
	}
	for _, c := range []struct {
		tables map[string]string
		say    string
	}{
		{map[string]string{"x-1": `"based_on": "x-1"`}, "on itself"},
		{map[string]string{"x-1": `"based_on": "x-2"`, "x-2": `"based_on": "x-1"`}, "on itself"},
		{map[string]string{"x-2": `"based_on": "x-1"`}, "no table x-1"},
		{map[string]string{"x-1": `"types": []`}, "x-1.json"},
		{map[string]string{"x-1": `"types": {"a_t": {"fields": {}}}`}, "a_t has no size"},
		{long, "more than 99"},
	} {
		if _, err := ReadTables(folder(c.tables), "t"); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%v: %v", slices.Sorted(maps.Keys(c.tables)), err)
		}
	}
	delete(long, fmt.Sprint("x-", maxBases+1))
	if _, err := ReadTables(folder(long), "t"); err != nil {
		t.Errorf("%d tables: %v", len(long), err)
	}
	if _, err := ReadTables(fstest.MapFS{}, "t"); err == nil {
		t.Error("tables of a folder that is not there")
	}
}
