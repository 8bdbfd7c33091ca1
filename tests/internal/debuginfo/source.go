// Package debuginfo makes separate debug files for the stripped libraries of a stock Open MPI. It turns a
// table of layouts into C types with the same offsets, and compiles them into a file that has a library's
// build id.
package debuginfo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Source returns C source that defines the types of a table that keep wants,
// and those that they are made of, each as a typedef.
func Source(table *layout.Table, keep func(name string) bool) (string, error) {
	w := writer{table: table, done: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(table.Types)) {
		if keep(name) {
			if err := w.define(name); err != nil {
				return "", err
			}
		}
	}
	return w.out.String(), nil
}

type writer struct {
	table *layout.Table
	out   strings.Builder
	done  map[string]bool
}

// member is a member of a type, with what its declaration needs.
type member struct {
	name         string
	offset, size int
	base, array  string // "int" and "", "char" and "[64]"
}

// Identifier is what a type is called in C: a table names a struct without a name by the member that it is.
func Identifier(name string) string { return strings.ReplaceAll(name, ".", "_") }

// define writes a type behind those that it needs. Members that overlap make
// it a union of structs without names, in which gdb finds them all the same.
func (w *writer) define(name string) error {
	if w.done[name] {
		return nil
	}
	w.done[name] = true
	whole, ok := w.table.Types[name]
	if !ok {
		return fmt.Errorf("the table has no %s", name)
	}
	var members []member
	for _, field := range slices.Sorted(maps.Keys(whole.Fields)) {
		f := whole.Fields[field]
		m := member{name: field, offset: f.Offset, size: f.Size}
		switch {
		case f.Kind == layout.KindArray, f.Kind == layout.KindStruct && f.Type == "":
			m.base, m.array = "char", fmt.Sprintf("[%d]", f.Size)
		case f.Kind == layout.KindStruct:
			if err := w.define(f.Type); err != nil {
				return err
			}
			if inner := w.table.Types[f.Type].Size; inner != f.Size {
				return fmt.Errorf("%s.%s has %d bytes, its type %s has %d", name, field, f.Size, f.Type, inner)
			}
			m.base = Identifier(f.Type)
		case f.Kind == layout.KindPointer:
			m.base = "void *"
		default:
			m.base = map[int]string{1: "char", 2: "short", 4: "int", 8: "long"}[f.Size]
			if m.base == "" {
				return fmt.Errorf("%s.%s is a number of %d bytes", name, field, f.Size)
			}
			m.base = string(f.Kind) + " " + m.base
		}
		members = append(members, m)
	}
	slices.SortStableFunc(members, func(a, b member) int { return a.offset - b.offset })
	w.write(Identifier(name), whole.Size, members)
	return nil
}

func (w *writer) write(name string, size int, members []member) {
	fmt.Fprintf(&w.out, "typedef %s %s {\n", structOrUnion(members), name)
	if structOrUnion(members) == "union" {
		for i, m := range members {
			w.out.WriteString("  struct __attribute__((packed)) {\n")
			w.sequence([]member{m}, m.offset+m.size, i)
			w.out.WriteString("  };\n")
		}
		fmt.Fprintf(&w.out, "  char whole_[%d];\n", size)
	} else {
		w.sequence(members, size, 0)
	}
	// Padding makes every member stand where it should, whatever its type wants.
	fmt.Fprintf(&w.out, "} __attribute__((packed)) %s;\n", name)
	fmt.Fprintf(&w.out, "_Static_assert(sizeof(%s) == %d, \"\");\n", name, size)
	for _, m := range members {
		fmt.Fprintf(&w.out, "_Static_assert(__builtin_offsetof(%s, %s) == %d, \"\");\n", name, m.name, m.offset)
	}
}

func structOrUnion(members []member) string {
	end := 0
	for _, m := range members {
		if m.offset < end {
			return "union"
		}
		end = m.offset + m.size
	}
	return "struct"
}

// sequence writes members in a row, with padding before, between and behind them.
func (w *writer) sequence(members []member, size, id int) {
	at := 0
	pad := func(to int) {
		if to > at {
			fmt.Fprintf(&w.out, "    char pad_%d_%d[%d];\n", id, at, to-at)
		}
		at = to
	}
	for _, m := range members {
		pad(m.offset)
		fmt.Fprintf(&w.out, "    %s %s%s;\n", m.base, m.name, m.array)
		at += m.size
	}
	pad(size)
}
