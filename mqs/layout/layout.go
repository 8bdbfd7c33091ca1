// Package layout has the layouts of C types: those that a process's debug information gives, and
// tables of the releases of MPIs and of what they stand on.
package layout

import (
	"fmt"
	"maps"
	"path"
	"slices"
)

//go:generate go run ./gen

// Layouts knows the layouts of C types. Its Source says where they came from.
type Layouts struct {
	// Source is "dwarf" or "table".
	Source string
	// Name is the release that a table describes, empty for DWARF.
	Name string

	types map[string]*Layout // of debug information
	// table supplies the types that are missing from the debug information. It is nil if there is no table.
	// queries are the types and members that are read.
	table   *Table
	queries []TypeQuery
}

// FromDWARF are layouts that debug information has; types that it does not describe are absent.
func FromDWARF(types map[string]*Layout) *Layouts { return &Layouts{Source: "dwarf", types: types} }

// Of returns only the layouts from the debug information of object files for whose paths describes is true. If describes
// is nil, there are none.
func (l *Layouts) Of(describes func(object string) bool) *Layouts {
	out := &Layouts{Source: l.Source, types: map[string]*Layout{}}
	for name, t := range l.types {
		if describes != nil && t.Object != "" && describes(t.Object) {
			out.types[name] = t
		}
	}
	return out
}

// Complete returns a table's layouts with those of a library's debug information in their place. It fails if the two
// contradict each other: then the table is of another build.
func (l *Layouts) Complete(own *Layouts) (*Layouts, error) {
	if own.Empty() {
		return l, nil
	}
	out := *l
	out.types = own.types
	for _, name := range slices.Sorted(maps.Keys(own.types)) {
		t := own.types[name]
		if known := l.Find(name); known != nil {
			if err := known.contradicts(name, t); err != nil {
				return nil, err
			}
		}
	}
	return &out, nil
}

// Covers reports whether l has every queried type that others has. Empty layouts cover nothing.
func (l *Layouts) Covers(others *Layouts) bool {
	if l.Empty() {
		return false
	}
	return !slices.ContainsFunc(others.queries, func(q TypeQuery) bool { return others.Find(q.Name) != nil && l.Find(q.Name) == nil })
}

// contradicts returns how a type of debug information differs from that of a table, nil if it does not. An array may have
// another length if no member that is read is behind it.
func (t *Layout) contradicts(name string, own *Layout) error {
	size := own.Size
	for _, member := range slices.Sorted(maps.Keys(t.Fields)) {
		f, o := t.Fields[member], own.Fields[member]
		if f.Kind == KindArray && o.Kind == KindArray && t.isLast(f) {
			size -= o.Size - f.Size
			o.Size = f.Size
		}
		if _, ok := own.Fields[member]; !ok {
			return fmt.Errorf("the debug information of %s has no %s.%s", path.Base(own.Object), name, member)
		}
		if f.Offset != o.Offset || f.Size != o.Size {
			return fmt.Errorf("the debug information of %s has %s.%s at %d, with %d bytes, not at %d, with %d", path.Base(own.Object), name, member, o.Offset, o.Size, f.Offset, f.Size)
		}
	}
	if size != t.Size {
		return fmt.Errorf("the debug information of %s has %s with %d bytes, not %d", path.Base(own.Object), name, own.Size, t.Size)
	}
	return nil
}

// isLast reports whether no member is behind another one.
func (t *Layout) isLast(f Field) bool {
	for _, other := range t.Fields {
		if other.Offset > f.Offset {
			return false
		}
	}
	return true
}

// Find returns the layout of a type, nil if it is not known.
func (l *Layouts) Find(name string) *Layout {
	if t := l.types[name]; t != nil || l.table == nil {
		return t
	}
	whole, ok := l.table.Types[name]
	if !ok {
		return nil
	}
	var out *Layout
	for _, q := range l.queries {
		if q.Name != name {
			continue
		}
		if out == nil {
			out = &Layout{Size: whole.Size, Fields: map[string]Field{}}
		}
		for _, path := range q.Fields {
			if f, ok := l.table.field(name, path); ok {
				out.Fields[path] = f
			}
		}
	}
	return out
}

// Table is what the layouts are from, nil for debug information.
func (l *Layouts) Table() *Table { return l.table }

// Empty is true if there is no type at all.
func (l *Layouts) Empty() bool { return len(l.types) == 0 && l.table == nil }

// Size returns the size of a type in bytes.
func (l *Layouts) Size(name string) (size int, ok bool) {
	if t, ok := l.types[name]; ok {
		return t.Size, true
	}
	if l.table == nil {
		return 0, false
	}
	t, ok := l.table.Types[name]
	return t.Size, ok
}

// Field returns where a member stands, path being as in [TypeQuery].
func (l *Layouts) Field(name, path string) (f Field, ok bool) {
	if t, ok := l.types[name]; ok {
		f, ok = t.Fields[path]
		return f, ok
	}
	if l.table == nil {
		return Field{}, false
	}
	return l.table.field(name, path)
}

// TypeQuery asks for a C type and some of its members.
type TypeQuery struct {
	// Name is that of a typedef, of one of C's own types, or of a struct, union or enum without the
	// keyword.
	Name string `json:"name"`
	// Fields are paths of members, with dots between levels ("req_status.MPI_TAG").
	Fields []string `json:"fields"`
}

// Kind tells how the bytes of a member are to be read.
type Kind string

// The kinds of members. A union is a KindStruct; bool is unsigned.
const (
	KindSigned   Kind = "signed"
	KindUnsigned Kind = "unsigned"
	KindPointer  Kind = "pointer"
	KindFloat    Kind = "float"
	KindArray    Kind = "array"
	KindStruct   Kind = "struct"
)

// Field is where a member stands in its type.
type Field struct {
	// Offset in bytes from the start of the type.
	Offset int `json:"offset"`
	// Size in bytes.
	Size int `json:"size"`
	// Kind is "signed", "unsigned", "pointer", "float", "array" or "struct" (unions too).
	Kind Kind `json:"kind"`
}

// Layout is the layout of one C type.
type Layout struct {
	// Size in bytes.
	Size int `json:"size"`
	// Object is the path of the library or program that describes it, empty if not known.
	Object string `json:"object,omitempty"`
	// Fields are its members by the paths that were asked for. One that it has not is absent.
	Fields map[string]Field `json:"fields"`
}
