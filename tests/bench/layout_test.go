//go:build bench

package bench

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// table is an embedded table of the product's, mqs/openmpi/tables.
type table struct {
	Release string               `json:"release"`
	Types   map[string]tableType `json:"types"`
}

type tableType struct {
	Size   int                   `json:"size"`
	Fields map[string]tableField `json:"fields"`
}

type tableField struct {
	Offset int    `json:"offset"`
	Size   int    `json:"size"`
	Kind   string `json:"kind"`
	Type   string `json:"type"`
}

func readTable(path string) (*table, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := new(table)
	return t, json.Unmarshal(text, t)
}

// forDLL is the table as dllhost reads it.
func (t *table) forDLL() (string, error) {
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
func (t *table) forC(types ...string) (string, error) {
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
			fmt.Fprintf(&members, "  %s;\n", f.declare(name, field))
			at = f.Offset + f.Size
		}
		pad(typ.Size)
		fmt.Fprintf(&b, "typedef struct %s {\n%s} __attribute__((packed)) %s;\n", name, &members, name)
		fmt.Fprintf(&b, "_Static_assert(sizeof(%s) == %d, \"%s\");\n", name, typ.Size, name)
		return nil
	}
	for _, name := range types {
		if err := declare(name); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func (f tableField) declare(typ, field string) string {
	integers := map[int]string{1: "char", 2: "short", 4: "int", 8: "long"}
	switch f.Kind {
	case "struct":
		if f.Type != "" {
			return f.Type + " " + field
		}
	case "pointer":
		to, ok := pointers[typ+"."+field]
		if !ok {
			to = "void"
		}
		return to + " *" + field
	case "signed", "unsigned":
		return f.Kind + " " + integers[f.Size] + " " + field
	}
	return fmt.Sprintf("char %s[%d]", field, f.Size)
}
