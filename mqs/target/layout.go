package target

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Layouts knows the layouts of C types. Its Source says where they came from.
type Layouts struct {
	// Source is "dwarf" or "table".
	Source string
	// Name is the release that a table describes, empty for DWARF.
	Name string

	types map[string]*Layout
	table *Table // that they are from, or nil
}

// FromDWARF asks the target for the types, in one round trip. Types that it
// has no debug information for are absent.
func FromDWARF(r *Reader, queries []TypeQuery) (*Layouts, error) {
	found, err := r.t.FindTypes(r.ctx, queries)
	if err != nil {
		return nil, err
	}
	l := &Layouts{Source: "dwarf", types: map[string]*Layout{}}
	for i, t := range found {
		if t != nil {
			l.types[queries[i].Name] = t
		}
	}
	return l, nil
}

// Find answers further queries as [Target.FindTypes] does: from the table, if
// these layouts are from one, and from debug information what it lacks.
func (l *Layouts) Find(r *Reader, queries []TypeQuery) ([]*Layout, error) {
	found, err := r.t.FindTypes(r.ctx, queries)
	if err != nil || l.table == nil {
		return found, err
	}
	known := l.table.Layouts(queries)
	for i, q := range queries {
		if t := known.types[q.Name]; t != nil {
			found[i] = t
		}
	}
	return found, nil
}

// Empty is true if there is no type at all.
func (l *Layouts) Empty() bool { return len(l.types) == 0 }

// Size returns the size of a type in bytes.
func (l *Layouts) Size(name string) (size int, ok bool) {
	t, ok := l.types[name]
	if !ok {
		return 0, false
	}
	return t.Size, true
}

// Field returns where a member stands, path being as in [TypeQuery].
func (l *Layouts) Field(name, path string) (f Field, ok bool) {
	t, ok := l.types[name]
	if !ok {
		return Field{}, false
	}
	f, ok = t.Fields[path]
	return f, ok
}

// A Table is the embedded layouts of one release of an MPI, as its stock build
// compiles them. Members that are themselves listed types are followed.
type Table struct {
	// Release that the table describes, such as "Open MPI 4.1.4".
	Release string `json:"release"`
	// PointerSize and ByteOrder ("little" or "big") say which ABI.
	PointerSize int    `json:"pointer_size"`
	ByteOrder   string `json:"byte_order"`
	// Types by name.
	Types map[string]struct {
		Size   int `json:"size"`
		Fields map[string]struct {
			Field
			// Type names the member's own type where the table lists it.
			Type string `json:"type,omitempty"`
		} `json:"fields"`
	} `json:"types"`
}

// ParseTable reads a table from its JSON form.
func ParseTable(text []byte) (*Table, error) {
	t := new(Table)
	if err := json.Unmarshal(text, t); err != nil {
		return nil, fmt.Errorf("layout table: %w", err)
	}
	return t, nil
}

// Fits says whether the table is for the ABI of the process.
func (t *Table) Fits(info Info) bool {
	return t.PointerSize == info.PointerSize && (t.ByteOrder == "big") == info.BigEndian
}

// Layouts answers the queries from the table.
func (t *Table) Layouts(queries []TypeQuery) *Layouts {
	l := &Layouts{Source: "table", Name: t.Release, types: map[string]*Layout{}, table: t}
	for _, q := range queries {
		whole, ok := t.Types[q.Name]
		if !ok {
			continue
		}
		out := &Layout{Size: whole.Size, Fields: map[string]Field{}}
		for _, path := range q.Fields {
			if f, ok := t.field(q.Name, path); ok {
				out.Fields[path] = f
			}
		}
		l.types[q.Name] = out
	}
	return l
}

func (t *Table) field(name, path string) (Field, bool) {
	head, rest, nested := strings.Cut(path, ".")
	f, ok := t.Types[name].Fields[head]
	if !ok || !nested {
		return f.Field, ok
	}
	inner, ok := t.field(f.Type, rest)
	inner.Offset += f.Offset
	return inner, ok && f.Kind == KindStruct
}
