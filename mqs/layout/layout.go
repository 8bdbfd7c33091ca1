// Package layout has the layouts of C types: those that a process's debug information gives, and
// tables of the releases of MPIs and of what they stand on.
package layout

import (
	"encoding/json"
	"fmt"
	"io/fs"
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

// FromDWARF are layouts that debug information has; types that it does not describe are absent.
func FromDWARF(types map[string]*Layout) *Layouts { return &Layouts{Source: "dwarf", types: types} }

// Find returns the layout of a type, nil if it is not known.
func (l *Layouts) Find(name string) *Layout { return l.types[name] }

// Table is what the layouts are from, nil for debug information.
func (l *Layouts) Table() *Table { return l.table }

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
	// Scope says what the table is for, if not for all that a decoder reads.
	Scope Scope `json:"scope,omitempty"`
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

// Scope says what a table has the members for.
type Scope string

// The scopes of tables.
const (
	// ScopeAll is all that a decoder reads.
	ScopeAll Scope = ""
	// ScopeRequests is requests and the communicators that they are on: what a library without
	// symbols of its own is read by, as the transport beneath it points to its requests.
	ScopeRequests Scope = "requests"
)

// OfScope returns the tables of one scope, in their order.
func OfScope(tables []*Table, scope Scope) []*Table {
	var out []*Table
	for _, t := range tables {
		if t.Scope == scope {
			out = append(out, t)
		}
	}
	return out
}

// ParseTable reads a table from its JSON form.
func ParseTable(text []byte) (*Table, error) {
	t := new(Table)
	if err := json.Unmarshal(text, t); err != nil {
		return nil, fmt.Errorf("layout table: %w", err)
	}
	return t, nil
}

// Fits says whether the table is for an ABI: the width of its pointers in bytes, and their order.
func (t *Table) Fits(pointerSize int, isBigEndian bool) bool {
	return t.PointerSize == pointerSize && (t.ByteOrder == "big") == isBigEndian
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

// TypeQuery asks for a C type and some of its members.
type TypeQuery struct {
	Name string
	// Fields are paths of members, with dots between levels.
	Fields []string
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
	Offset int  `json:"offset"` // bytes
	Size   int  `json:"size"`   // bytes
	Kind   Kind `json:"kind"`
}

// Layout is the layout of one C type. Fields that the type lacks are absent.
type Layout struct {
	Size int `json:"size"` // bytes
	// Object is the path of the file that describes the type, empty if not known.
	Object string           `json:"object,omitempty"`
	Fields map[string]Field `json:"fields"`
}

// ReadTables reads the tables in a folder of embedded files, in the order of
// their names. It panics on what is no table: a test reads them all.
func ReadTables(files fs.FS, folder string) []*Table {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		panic(err)
	}
	var out []*Table
	for _, e := range entries {
		text, err := fs.ReadFile(files, folder+"/"+e.Name())
		if err != nil {
			panic(err)
		}
		t, err := ParseTable(text)
		if err != nil {
			panic(err)
		}
		out = append(out, t)
	}
	return out
}
