package main

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// example is a table, and one that is based on it.
func example() (base, other *layout.Table) {
	number := layout.Member{Field: layout.Field{Offset: 8, Size: 4, Kind: layout.KindSigned}}
	moved := layout.Member{Field: layout.Field{Offset: 4, Size: 4, Kind: layout.KindSigned}}
	base = &layout.Table{Name: "x-1", Release: "X 1 <&>", Provenance: layout.Provenance{Headers: "x.h", Values: "read"}, PointerSize: 8, ByteOrder: "little",
		Types: map[string]layout.Type{
			"same_t":  {Size: 16, Fields: map[string]layout.Member{"n": number}},
			"gone_t":  {Size: 1, Fields: map[string]layout.Member{}},
			"other_t": {Size: 16, Fields: map[string]layout.Member{"in": {Field: layout.Field{Size: 16, Kind: layout.KindStruct}, Type: "same_t"}, "n": number, "z": moved}},
		}}
	other = &layout.Table{Name: "x-2", Release: "X 2", Scope: layout.ScopeRequests, BasedOn: "x-1", Provenance: layout.Provenance{Recipe: "x-2"}, Hash: "abc",
		PointerSize: 8, ByteOrder: "little", Types: map[string]layout.Type{
			"same_t":  base.Types["same_t"],
			"other_t": {Size: 20, Fields: map[string]layout.Member{"in": base.Types["other_t"].Fields["in"], "n": moved}},
			"new_t":   {Size: 4, Fields: map[string]layout.Member{"n": {Field: layout.Field{Size: 4, Kind: layout.KindSigned}}}},
		}, Options: []layout.Option{
			{With: []string{"CUDA"}, Types: map[string]*layout.Change{"new_t": {Size: 8, Fields: map[string]*layout.Member{"n": nil, "z": &number}}}},
			{With: []string{"CUDA", "debugging"}, Types: map[string]*layout.Change{"same_t": nil}}}}
	other.Base(base)
	return base, other
}

// What is written is read as what it was.
func TestTextIsRead(t *testing.T) {
	base, other := example()
	got, err := layout.ReadTables(fstest.MapFS{
		"tables/x-1.json": &fstest.MapFile{Data: []byte(text(base, nil))},
		"tables/x-2.json": &fstest.MapFile{Data: []byte(text(other, base))},
	}, "tables")
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []*layout.Table{base, other} {
		if is := got[i]; !reflect.DeepEqual(is.Types, want.Types) || !reflect.DeepEqual(is.Options, want.Options) ||
			is.Name != want.Name || is.Release != want.Release || is.Scope != want.Scope || is.BasedOn != want.BasedOn || hash(is, nil) != hash(want, nil) {
			t.Errorf("%+v, not %+v", is, want)
		}
	}
}

// A table that is based on another one has the differences alone.
func TestTextOfDifferences(t *testing.T) {
	base, other := example()
	const want = `{
 "release": "X 2",
 "scope": "requests",
 "based_on": "x-1",
 "provenance": {"recipe": "x-2"},
 "hash": "abc",
 "pointer_size": 8,
 "byte_order": "little",
 "types": {
  "gone_t": null,
  "new_t": {"size": 4, "fields": {
   "n": {"offset": 0, "size": 4, "kind": "signed"}
  }},
  "other_t": {"size": 20, "fields": {
   "n": {"offset": 4, "size": 4, "kind": "signed"},
   "z": null
  }}
 },
 "options": [{"with": ["CUDA"], "types": {
  "new_t": {"size": 8, "fields": {
   "z": {"offset": 8, "size": 4, "kind": "signed"},
   "n": null
  }}
 }}, {"with": ["CUDA","debugging"], "types": {
  "same_t": null
 }}]
}
`
	if got := text(other, base); got != want {
		t.Errorf("%s", got)
	}
}

// The hash is of all that a table has and of its recipe, whatever it is based on.
func TestHash(t *testing.T) {
	_, table := example()
	r := &recipe{name: "x-2", Suite: "sid", code: "int i;"}
	is := hash(table, r)
	table.BasedOn, table.Hash = "", "old"
	if hash(table, r) != is {
		t.Error("another base makes another hash")
	}
	for what, change := range map[string]func(){
		"a release":     func() { table.Release += "." },
		"an offset":     func() { f := table.Types["new_t"].Fields["n"]; f.Offset++; table.Types["new_t"].Fields["n"] = f },
		"a type":        func() { delete(table.Types, "same_t") },
		"an option":     func() { table.Options[0].Types["new_t"].Size++ },
		"a provenance":  func() { table.Provenance.Recipe = "x-3" },
		"a pointer":     func() { table.PointerSize = 4 },
		"recipe's code": func() { r.code += "\n" },
		"a flag":        func() { r.Flags = append(r.Flags, "-m32") },
		"the package":   func() { r.Source = "x=2" },
	} {
		change()
		now := hash(table, r)
		if now == is || now == hash(table, nil) {
			t.Errorf("%s does not count", what)
		}
		is = now
	}
}

func TestDifferences(t *testing.T) {
	base, other := example()
	got := differences(base, other)
	for _, line := range []string{"  - gone_t: 1 bytes\n", "  + new_t: 4 bytes\n", "  - other_t: 16 bytes\n  + other_t: 20 bytes\n",
		`  - other_t n: {"offset": 8, "size": 4, "kind": "signed"}` + "\n" + `  + other_t n: {"offset": 4, "size": 4, "kind": "signed"}` + "\n",
		"  + CUDA and debugging: same_t: null\n"} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
	if strings.Contains(got, "  same_t:") || differences(nil, other) == "" {
		t.Error(got)
	}
	base.Provenance, base.Hash = layout.Provenance{}, "other"
	if again, _ := example(); differences(again, base) != "" {
		t.Error("where a table is from counts as a difference")
	}
}
