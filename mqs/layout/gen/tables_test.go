package main

import (
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

const root = "../../.."

// No table has been edited by hand: each file is what the generator writes of the table, with the
// hash of what it has and of its recipe.
func TestTablesAreGenerated(t *testing.T) {
	all, err := readSets(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if len(s.tables) == 0 {
			t.Errorf("%s has no tables", s.folder)
		}
		for _, table := range s.tables {
			hashed := *table
			if err := s.renew(&hashed); err != nil {
				t.Error(err)
			} else if is, err := s.text(&hashed); err != nil || is != s.texts[table.Name] {
				t.Errorf("%s is not what it would be written as: run `go generate ./...' (%v)", filepath.Join(s.folder, "tables", table.Name), err)
			}
		}
	}
}

// Each recipe is of a table, and says of it what it says itself.
func TestRecipesHaveTables(t *testing.T) {
	all, err := readSets(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for name, r := range s.recipes {
			table := s.table(name)
			if table == nil {
				t.Errorf("%s: recipe %s has no table", s.folder, name)
			} else if table.Release != r.Release || table.Scope != r.Scope || table.BasedOn != r.BasedOn {
				t.Errorf("%s: recipe %s is of %s, scope %q, based on %q, but the table of %s, scope %q, based on %q", s.folder, name,
					r.Release, r.Scope, r.BasedOn, table.Release, table.Scope, table.BasedOn)
			}
		}
	}
}

func TestProvenance(t *testing.T) {
	s := &set{recipes: map[string]*recipe{"x-1": {name: "x-1"}}}
	for _, c := range []struct {
		of   layout.Provenance
		good bool
	}{
		{layout.Provenance{Recipe: "x-1"}, true},
		{layout.Provenance{Recipe: "x-2"}, false},
		{layout.Provenance{Recipe: "x-1", Headers: "x.h"}, false},
		{layout.Provenance{Headers: "x.h", Values: "read"}, true},
		{layout.Provenance{Headers: "x.h"}, false},
		{layout.Provenance{Values: "read"}, false},
		{layout.Provenance{}, false},
	} {
		if r, err := s.recipeOf(&layout.Table{Name: "x", Provenance: c.of}); (err == nil) != c.good || (r != nil) != (c.good && c.of.Recipe != "") {
			t.Errorf("%+v: %v, %v", c.of, r, err)
		}
	}
}
