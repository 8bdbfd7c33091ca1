package main

import (
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// keep is what is wanted of some types: of each member the first spelling that there is, and the
// types on the way to it.
func keep(types map[string]layout.Type, scope layout.Scope, wants []layout.Want) map[string]layout.Type {
	out := map[string]layout.Type{}
	for _, w := range wants {
		t, ok := types[w.Name]
		if !ok {
			continue
		}
		keepType(out, w.Name, t.Size)
		for _, spellings := range w.Members {
			for _, path := range spellings {
				if keepMember(out, types, w.Name, path) {
					break
				}
			}
		}
	}
	// A member names its type where that is in the table.
	for name, t := range out {
		for field, f := range t.Fields {
			f.Type = types[name].Fields[field].Type
			if _, ok := out[f.Type]; !ok {
				f.Type = ""
			}
			t.Fields[field] = f
		}
	}
	if scope == layout.ScopeRequests {
		for name := range out {
			shrink(out, name)
		}
	}
	return out
}

// shrink makes a type end where its last member does, and returns its size.
func shrink(types map[string]layout.Type, name string) int {
	t := types[name]
	if len(t.Fields) > 0 {
		t.Size = 0
	}
	for field, f := range t.Fields {
		if f.Type != "" {
			f.Size = shrink(types, f.Type)
			t.Fields[field] = f
		}
		t.Size = max(t.Size, f.Offset+f.Size)
	}
	types[name] = t
	return t.Size
}

func keepType(out map[string]layout.Type, name string, size int) {
	if _, ok := out[name]; !ok {
		out[name] = layout.Type{Size: size, Fields: map[string]layout.Member{}}
	}
}

// keepMember keeps the member at a path, if there is one.
func keepMember(out, types map[string]layout.Type, name, path string) bool {
	head, rest, isNested := strings.Cut(path, ".")
	f, ok := types[name].Fields[head]
	if !ok || isNested && (f.Kind != layout.KindStruct || !keepMember(out, types, f.Type, rest)) {
		return false
	}
	keepType(out, name, types[name].Size)
	out[name].Fields[head] = f
	return true
}
