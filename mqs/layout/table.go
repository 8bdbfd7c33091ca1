package layout

import (
	"slices"
	"strings"
)

// A Table is the embedded layouts of one release of an MPI or of what it stands on, as a stock
// build compiles them, and what its configuration changes of them.
type Table struct {
	// Name is that of the table's file, without ".json".
	Name string `json:"-"`
	// Release that the table describes, such as "Open MPI 4.1.4".
	Release string `json:"release"`
	// Scope says what the table is for, if not for all that a decoder reads.
	Scope Scope `json:"scope,omitempty"`
	// BasedOn names the table of which this one's file has only the differences, if any.
	BasedOn string `json:"based_on,omitempty"`
	// Provenance says where the values are from.
	Provenance Provenance `json:"provenance"`
	// Hash is that of all the rest of the table and of its recipe, as mqs/layout/gen writes it. A file that
	// was edited by hand has another one.
	Hash string `json:"hash"`
	// PointerSize (in bytes) and ByteOrder ("little" or "big") say which ABI.
	PointerSize int    `json:"pointer_size"`
	ByteOrder   string `json:"byte_order"`
	// Architecture is the machine's, as gdb calls it, if another one than this lays out types of the C library differently;
	// empty for x86-64 and what is as it.
	Architecture string `json:"architecture,omitempty"`
	// Types by name.
	Types map[string]Type `json:"types"`
	// Options are what the release's configuration changes of the types.
	Options []Option `json:"options,omitempty"`
	// With are the options of a build that has these types: see [Table.Variants].
	With []string `json:"-"`

	base     *Table // of the name BasedOn
	variants *variants
}

// A Provenance says where a table's values are from: a recipe by which they can be made again,
// or headers and a way.
type Provenance struct {
	// Recipe is the name of the recipe's file, without ".json", in the folder recipes beside the
	// tables.
	Recipe string `json:"recipe,omitempty"`
	// Headers and Values say which headers define the types, and how the values were found.
	Headers string `json:"headers,omitempty"`
	Values  string `json:"values,omitempty"`
}

// Type is the layout of one C type in a table.
type Type struct {
	Size   int               `json:"size"` // bytes
	Fields map[string]Member `json:"fields"`
}

// Member is a member of a C type in a table.
type Member struct {
	Field
	// Type names the member's own type where the table lists it: its members are then found
	// through this one.
	Type string `json:"type,omitempty"`
}

// Scope says what a table has the members for.
type Scope string

// The scopes of tables.
const (
	// ScopeAll is all that a decoder reads.
	ScopeAll Scope = ""
	// ScopeRequests is requests and the communicators that they are on: what a library without
	// symbols of its own is read by, as the transport beneath it points to its requests. A type
	// ends there with the last member that is listed: what is behind it is not read.
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

// ownArchitectures are those that have tables of their own: their pthread_mutex_t has 48 bytes, and not 40 (glibc's
// bits/pthreadtypes-arch.h).
var ownArchitectures = []string{"aarch64"}

// Fits says whether the table is for an ABI: the width of its pointers in bytes, its order of bytes, and gdb's name for
// the architecture.
func (t *Table) Fits(pointerSize int, isBigEndian bool, architecture string) bool {
	if slices.Contains(ownArchitectures, architecture) && t.Architecture != architecture || t.Architecture != "" && t.Architecture != architecture {
		return false
	}
	return t.PointerSize == pointerSize && (t.ByteOrder == "big") == isBigEndian
}

// Layouts answers the queries from the table.
func (t *Table) Layouts(queries []TypeQuery) *Layouts {
	return &Layouts{Source: "table", Name: t.String(), table: t, queries: queries}
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
