package main

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// fetcher is a program that unpacks a source with one header, and counts in a file how often it
// is asked.
func fetcher(t *testing.T, script string) *workshop {
	t.Helper()
	w := &workshop{cache: filepath.Join(t.TempDir(), "cache"), fetch: filepath.Join(t.TempDir(), "fetch"), progress: io.Discard}
	if err := os.WriteFile(w.fetch, []byte("#!/bin/sh\nset -e\necho \"$*\" >>\"$0.log\"\n"+script), 0o777); err != nil {
		t.Fatal(err)
	}
	return w
}

const unpack = `mkdir "$1/source" "$1/packages"
echo 'typedef struct { int a, b; } x_t;' >"$1/source/x.h.in"
echo 'typedef int y_t;' >"$1/packages/y.h"
`

func aRecipe() *recipe {
	return &recipe{name: "x-1", Release: "X 1", Suite: "sid", Source: "x=1-1", Packages: []string{"liby-dev"}, Prepare: []string{"cp x.h.in x.h", "test -e $PACKAGES/y.h"},
		Code: "x.c", Flags: []string{"-I.", "-I$PACKAGES"}, code: "#include <x.h>\n#include <y.h>\n"}
}

func TestMake(t *testing.T) {
	w, r := fetcher(t, unpack), aRecipe()
	s := &set{recipes: map[string]*recipe{"x-1": r}, wants: func(layout.Scope) []layout.Want { return []layout.Want{want("x_t", "b"), want("y_t")} }}
	for range 2 {
		table, err := s.make(w, r)
		if err != nil {
			t.Fatal(err)
		}
		if table.Name != "x-1" || table.Release != "X 1" || len(table.Types) != 2 || table.Types["x_t"].Fields["b"].Offset != 4 || table.Hash != hash(table, r) {
			t.Errorf("%+v", table)
		}
	}
	// What is made once is kept; a recipe that changes is another one.
	r.code += "typedef int z_t;\n"
	if _, err := s.make(w, r); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(w.fetch + ".log")
	if asked := strings.Count(string(log), " sid x=1-1 liby-dev\n"); err != nil || asked != 2 {
		t.Errorf("packages were fetched %d times: %s (%v)", asked, log, err)
	}
	left, err := filepath.Glob(w.cache + "/*")
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}

// Each combination of options is compiled with what they define in the configuration's header.
func TestMakeWithOptions(t *testing.T) {
	w, r := fetcher(t, unpack+`printf '#define LONG 0\n/* #undef MORE */\n' >"$1/packages/config.h"
`), aRecipe()
	r.code = `#include <config.h>
typedef struct {
#if LONG
	long first;
#endif
#ifdef MORE
	char more;
#endif
	int b;
} x_t;
`
	r.Configuration, r.Options = "$PACKAGES/config.h", map[string]map[string]string{"long": {"LONG": "1"}, "more": {"MORE": "1"}}
	s := &set{recipes: map[string]*recipe{"x-1": r}, wants: func(layout.Scope) []layout.Want { return []layout.Want{want("x_t", "b")} }}
	table, err := s.make(w, r)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for v := range layout.Variants([]*layout.Table{table}) {
		got[v.String()] = v.Types["x_t"].Fields["b"].Offset
	}
	if want := map[string]int{"X 1": 0, "X 1 with long": 8, "X 1 with more": 4, "X 1 with long and more": 12}; !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	again := *table
	if err := s.renew(&again); err != nil || text(&again, nil) != text(table, nil) {
		t.Errorf("%v: %s became %s", err, text(table, nil), text(&again, nil))
	}
	r.Options["long"] = map[string]string{"OTHER": "1"}
	if _, err := s.make(w, r); err == nil || !strings.Contains(err.Error(), "OTHER is there 0 times") {
		t.Error(err)
	}
}

func TestNotMade(t *testing.T) {
	for _, c := range []struct {
		name, script string
		change       func(*recipe)
		isThere      bool
		say          string
	}{
		{"what the archive does not have", "exit 3", func(*recipe) {}, false, "x=1-1 of sid"},
		{"no network", "echo no network; exit 1", func(*recipe) {}, true, "no network"},
		{"a command that fails", unpack, func(r *recipe) { r.Prepare = []string{"echo broken; false; true"} }, true, "broken"},
		{"code that does not compile", unpack, func(r *recipe) { r.code = "#include <none.h>" }, true, "none.h"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, r := fetcher(t, c.script), aRecipe()
			c.change(r)
			_, err := w.objects(r)
			if err == nil || errors.Is(err, errNotThere) == c.isThere || !strings.Contains(err.Error(), c.say) {
				t.Errorf("%v", err)
			}
			if left, _ := filepath.Glob(w.cache + "/*"); len(left) != 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}
