package layout

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
)

// file is a table as its file has it. That of a table that is based on another one has what
// differs: types with their size (0 if that is the same) and members, and null for a type or a
// member that the other has and this one has not.
type file struct {
	Table
	Types map[string]*fileType `json:"types"`
}

type fileType struct {
	Size   int                `json:"size,omitempty"`
	Fields map[string]*Member `json:"fields,omitempty"`
}

// maxBases bounds how many tables stand below each other.
const maxBases = 100

// ReadTables reads the tables in a folder, in the order of their names. Of a table that is based
// on another one it returns the whole.
func ReadTables(files fs.FS, folder string) ([]*Table, error) {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return nil, err
	}
	all := map[string]*file{}
	var names []string
	for _, e := range entries {
		text, err := fs.ReadFile(files, folder+"/"+e.Name())
		if err != nil {
			return nil, err
		}
		f := new(file)
		if err := json.Unmarshal(text, f); err != nil {
			return nil, fmt.Errorf("layout table %s: %w", e.Name(), err)
		}
		f.Name = strings.TrimSuffix(e.Name(), ".json")
		all[f.Name], names = f, append(names, f.Name)
	}
	var out []*Table
	for _, name := range names {
		t, err := whole(all, name)
		if err != nil {
			return nil, fmt.Errorf("layout table %s: %w", name, err)
		}
		out = append(out, t)
	}
	return out, nil
}

// MustReadTables is [ReadTables] for tables that are part of the program. It panics on what is no
// table.
func MustReadTables(files fs.FS, folder string) []*Table {
	tables, err := ReadTables(files, folder)
	if err != nil {
		panic(err)
	}
	return tables
}

// whole is a table with what it has from those that it is based on.
func whole(all map[string]*file, name string) (*Table, error) {
	var chain []*file // the table itself first
	for at := name; at != ""; at = chain[len(chain)-1].BasedOn {
		f, ok := all[at]
		switch {
		case !ok:
			return nil, fmt.Errorf("there is no table %s to be based on", at)
		case len(chain) == maxBases:
			return nil, fmt.Errorf("it stands on more than %d tables, or on itself", maxBases-1)
		}
		chain = append(chain, f)
	}
	out := chain[0].Table
	out.Types = map[string]Type{}
	for i := len(chain) - 1; i >= 0; i-- {
		if err := chain[i].apply(out.Types); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// apply makes a table's types of those of the table that it is based on.
func (f *file) apply(types map[string]Type) error {
	for name, change := range f.Types {
		if change == nil {
			delete(types, name)
			continue
		}
		t := types[name]
		if t.Fields == nil {
			t.Fields = map[string]Member{}
		}
		if change.Size != 0 {
			t.Size = change.Size
		}
		for field, m := range change.Fields {
			if m == nil {
				delete(t.Fields, field)
			} else {
				t.Fields[field] = *m
			}
		}
		if t.Size <= 0 {
			return fmt.Errorf("%s has no size", name)
		}
		types[name] = t
	}
	return nil
}
