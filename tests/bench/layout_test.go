//go:build bench

package bench

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/tests/internal/debuginfo"
)

// table is an embedded table of the product's, mqs/openmpi/tables.
type table struct{ *layout.Table }

// readTable reads the table of a release of Open MPI.
func readTable(root, release string) (table, error) {
	tables, err := layout.ReadTables(os.DirFS(filepath.Join(root, "mqs", "openmpi")), "tables")
	if err != nil {
		return table{}, err
	}
	for _, t := range tables {
		if t.Name == "openmpi-"+release {
			return table{t}, nil
		}
	}
	return table{}, fmt.Errorf("there is no table of Open MPI %s", release)
}

// forDLL is the table as dllhost reads it.
func (t table) forDLL() (string, error) {
	var b strings.Builder
	for name, typ := range t.Types {
		fmt.Fprintf(&b, "type %s %d\n", name, typ.Size)
		for field, f := range typ.Fields {
			fmt.Fprintf(&b, "field %s %s %d\n", name, field, f.Offset)
		}
	}
	return b.String(), nil
}

// pointers are the members that walk.py follows, with what they point at.
var pointers = map[string]string{
	"opal_list_item_t.opal_list_next": "struct opal_list_item_t",
	"opal_list_item_t.opal_list_prev": "struct opal_list_item_t",
	"opal_pointer_array_t.addr":       "void *",
	"mca_pml_ob1_comm_t.procs":        "struct mca_pml_ob1_comm_proc_t *",
}

// forC declares types, and those that their members have, with the members
// where the table has them.
func (t table) forC(types ...string) (string, error) {
	var b strings.Builder
	done := map[string]bool{}
	var declare func(name string) error
	declare = func(name string) error {
		if done[name] {
			return nil
		}
		done[name] = true
		typ, ok := t.Types[name]
		if !ok {
			return fmt.Errorf("the table of %s has no %s", t.Release, name)
		}
		fields := slices.SortedFunc(maps.Keys(typ.Fields), func(a, b string) int {
			return typ.Fields[a].Offset - typ.Fields[b].Offset
		})
		var members strings.Builder
		at := 0
		pad := func(to int) {
			if to > at {
				fmt.Fprintf(&members, "  char unnamed_%d[%d];\n", at, to-at)
			}
		}
		for _, field := range fields {
			f := typ.Fields[field]
			if f.Offset < at {
				return fmt.Errorf("%s.%s overlaps another member", name, field)
			}
			if f.Type != "" {
				if err := declare(f.Type); err != nil {
					return err
				}
			}
			pad(f.Offset)
			fmt.Fprintf(&members, "  %s;\n", declaration(name, field, f))
			at = f.Offset + f.Size
		}
		pad(typ.Size)
		c := debuginfo.Identifier(name)
		fmt.Fprintf(&b, "typedef struct %s {\n%s} __attribute__((packed)) %s;\n", c, &members, c)
		fmt.Fprintf(&b, "_Static_assert(sizeof(%s) == %d, \"%s\");\n", c, typ.Size, c)
		return nil
	}
	for _, name := range types {
		if err := declare(name); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// declaration declares a member of a type.
func declaration(typ, field string, f layout.Member) string {
	integers := map[int]string{1: "char", 2: "short", 4: "int", 8: "long"}
	switch f.Kind {
	case layout.KindStruct:
		if f.Type != "" {
			return debuginfo.Identifier(f.Type) + " " + field
		}
	case layout.KindPointer:
		to, ok := pointers[typ+"."+field]
		if !ok {
			to = "void"
		}
		return to + " *" + field
	case layout.KindSigned, layout.KindUnsigned:
		return string(f.Kind) + " " + integers[f.Size] + " " + field
	}
	return fmt.Sprintf("char %s[%d]", field, f.Size)
}
