package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/tagged"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ofi"
	"github.com/mpi-queues/mpi-queues/mqs/transport/psm"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ucx"
)

// A set is the tables of one MPI or transport.
type set struct {
	folder string // of the package, with tables and recipes below it, relative to the project's
	wants  func(layout.Scope) []layout.Want

	tables  []*layout.Table    // in the order of their names
	texts   map[string]string  // of the files, by the table's name
	recipes map[string]*recipe // by name
}

// sets lists who has tables.
func sets() []*set {
	return []*set{
		{folder: "mqs/mpich", wants: mpich.Wants},
		{folder: "mqs/openmpi", wants: openmpi.Wants},
		{folder: "mqs/openmpi/tagged", wants: tagged.Wants},
		{folder: "mqs/transport/ofi", wants: ofi.Wants},
		{folder: "mqs/transport/psm", wants: psm.Wants},
		{folder: "mqs/transport/ucx", wants: ucx.Wants},
	}
}

// readSets reads the tables and the recipes of a project.
func readSets(root string) ([]*set, error) {
	all := sets()
	for _, s := range all {
		folder := os.DirFS(filepath.Join(root, s.folder))
		var err error
		if s.tables, err = layout.ReadTables(folder, "tables"); err != nil {
			return nil, err
		}
		s.texts = map[string]string{}
		for _, t := range s.tables {
			text, err := fs.ReadFile(folder, "tables/"+t.Name+".json")
			if err != nil {
				return nil, err
			}
			s.texts[t.Name] = string(text)
		}
		if s.recipes, err = readRecipes(folder); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// table returns the table of a name, nil if there is none.
func (s *set) table(name string) *layout.Table {
	at := slices.IndexFunc(s.tables, func(t *layout.Table) bool { return t.Name == name })
	if at < 0 {
		return nil
	}
	return s.tables[at]
}

// put puts a table in the place of the one of its name, or adds it.
func (s *set) put(t *layout.Table) {
	at, ok := slices.BinarySearchFunc(s.tables, t.Name, func(t *layout.Table, name string) int { return strings.Compare(t.Name, name) })
	if ok {
		s.tables[at] = t
	} else {
		s.tables = slices.Insert(s.tables, at, t)
	}
}

// recipeNames are the names of the set's recipes, in order.
func (s *set) recipeNames() []string { return slices.Sorted(maps.Keys(s.recipes)) }

// recipeOf is the recipe that a table says it is made by, nil if it says headers and a way.
func (s *set) recipeOf(t *layout.Table) (*recipe, error) {
	p := t.Provenance
	switch r := s.recipes[p.Recipe]; {
	case p.Recipe != "" && r == nil:
		return nil, fmt.Errorf("%s: there is no recipe %s", t.Name, p.Recipe)
	case p.Recipe != "" && (p.Headers != "" || p.Values != ""):
		return nil, fmt.Errorf("%s has a recipe and another provenance", t.Name)
	case p.Recipe == "" && (p.Headers == "" || p.Values == ""):
		return nil, fmt.Errorf("%s does not say where its values are from", t.Name)
	default:
		return r, nil
	}
}

// renew brings a table up to date: it leaves out what nothing wants any more, and hashes the rest.
// It fails on a table that is no longer what its recipe has given.
func (s *set) renew(t *layout.Table) error {
	r, err := s.recipeOf(t)
	if err != nil {
		return err
	}
	if r != nil && hash(t, r) != t.Hash {
		return fmt.Errorf("%s/tables/%s.json is not what its recipe has given: run `./tests/run tables -update'", s.folder, t.Name)
	}
	with := [][]string{nil}
	for _, o := range t.Options {
		with = append(with, o.With)
	}
	var types []map[string]layout.Type
	for _, w := range with {
		types = append(types, keep(t.TypesWith(w), t.Scope, s.wants(t.Scope)))
	}
	setTypes(t, with, types)
	t.Hash = hash(t, r)
	return nil
}

// setTypes gives a table its types: those without options, which come first, and with each combination of them.
func setTypes(t *layout.Table, with [][]string, types []map[string]layout.Type) {
	t.Types, t.Options = types[0], nil
	for i := 1; i < len(with); i++ {
		if changes := layout.DiffTypes(t.Expect(with[i]), types[i]); len(changes) > 0 {
			t.Options = append(t.Options, layout.Option{With: with[i], Types: changes})
		}
	}
}

// make makes a table by its recipe.
func (s *set) make(w *workshop, r *recipe) (*layout.Table, error) {
	paths, err := w.objects(r)
	if err != nil {
		return nil, err
	}
	t := &layout.Table{Name: r.name, Release: r.Release, Scope: r.Scope, Provenance: layout.Provenance{Recipe: r.name},
		Architecture: machines[r.Architecture].name}
	if r.BasedOn != "" {
		base := s.table(r.BasedOn)
		if base == nil {
			return nil, fmt.Errorf("there is no table %s to be based on", r.BasedOn)
		}
		t.Base(base)
	}
	var types []map[string]layout.Type
	for _, path := range paths {
		o, err := readObject(path)
		if err != nil {
			return nil, err
		}
		of, err := o.types(r.Scope, s.wants(r.Scope))
		if err != nil {
			return nil, err
		}
		t.PointerSize, t.ByteOrder, types = o.pointerSize, o.byteOrder, append(types, of)
	}
	setTypes(t, r.combinations(), types)
	t.Hash = hash(t, r)
	return t, nil
}

// text is the file of one of the set's tables.
func (s *set) text(t *layout.Table) (string, error) {
	if t.BasedOn == "" {
		return text(t, nil), nil
	}
	base := s.table(t.BasedOn)
	if base == nil {
		return "", fmt.Errorf("%s: there is no table %s to be based on", t.Name, t.BasedOn)
	}
	return text(t, base), nil
}

// write writes the files of the set's tables, those that change.
func (s *set) write(root string) error {
	for _, t := range s.tables {
		is, err := s.text(t)
		if err != nil {
			return err
		}
		if is == s.texts[t.Name] {
			continue
		}
		if err := os.WriteFile(filepath.Join(root, s.folder, "tables", t.Name+".json"), []byte(is), 0o666); err != nil {
			return err
		}
	}
	return nil
}
