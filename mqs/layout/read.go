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
	Types map[string]*Change `json:"types"`
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
	made := map[string]*Table{}
	for _, name := range names {
		t, err := whole(all, name)
		if err != nil {
			return nil, fmt.Errorf("layout table %s: %w", name, err)
		}
		made[name], out = t, append(out, t)
	}
	for _, t := range out {
		t.variants = &variants{made: map[string]*Table{}}
		if t.BasedOn != "" {
			t.Base(made[t.BasedOn])
		}
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
		apply(chain[i].Types, out.Types)
		for name := range chain[i].Types {
			if t, ok := out.Types[name]; ok && t.Size <= 0 {
				return nil, fmt.Errorf("%s has no size", name)
			}
		}
	}
	return &out, nil
}
