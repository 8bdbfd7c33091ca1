package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

const code = `
#include <stdbool.h>
typedef struct inner inner_t;
struct declared;
struct inner { long count; const char *name; };
typedef enum { A, B } plain_t;
typedef enum { MINUS = -1, ZERO } __attribute__((packed)) status_t;
typedef struct tagged {
	volatile int number;
	unsigned char byte;
	bool flag;
	status_t status;
	plain_t plain;
	unsigned bits : 3;
	const inner_t in;
	struct { int x; union { double d; inner_t *p; } u; } nameless;
	union { struct { short deep; }; int other; };
	_Atomic int atomic;
	int grid[2][3];
	struct declared *elsewhere;
	void (*call)(void);
	char rest[];
} tagged_t;
struct only_a_tag { int i; };
typedef unsigned number_t;
`

// compiled is the object file of some C code.
func compiled(t *testing.T, code string) *object {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "types.c"), []byte(code), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gcc", "-g", "-fno-eliminate-unused-debug-types", "-c", "types.c")
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o, err := readObject(filepath.Join(folder, "types.o"))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// want asks for members of a type, each in spellings with bars between them.
func want(name string, members ...string) layout.Want {
	w := layout.Want{Name: name}
	for _, m := range members {
		w.Members = append(w.Members, strings.Split(m, "|"))
	}
	return w
}

func TestTypes(t *testing.T) {
	o := compiled(t, code)
	types, err := o.types(layout.ScopeAll, []layout.Want{
		want("tagged_t", "number", "byte", "flag", "status", "plain", "bits", "in.count", "in", "nameless.x", "nameless.u.d", "nameless.u.p",
			"deep", "other", "atomic", "grid", "elsewhere", "call", "rest", "gone|number", "newer.a|in.name|number", "number.x", "nothing"),
		want("only_a_tag", "i"), want("number_t"), want("declared", "x"), want("inner_t", "name.length"),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := lines(&layout.Table{Types: types})
	for _, key := range []string{"release", "scope", "ABI"} {
		delete(got, key)
	}
	want := map[string]string{
		"tagged_t":              "96 bytes",
		"tagged_t number":       `{"offset": 0, "size": 4, "kind": "signed"}`,
		"tagged_t byte":         `{"offset": 4, "size": 1, "kind": "unsigned"}`,
		"tagged_t flag":         `{"offset": 5, "size": 1, "kind": "unsigned"}`,
		"tagged_t status":       `{"offset": 6, "size": 1, "kind": "signed"}`,
		"tagged_t plain":        `{"offset": 8, "size": 4, "kind": "unsigned"}`,
		"tagged_t in":           `{"offset": 16, "size": 16, "kind": "struct", "type": "inner_t"}`,
		"tagged_t nameless":     `{"offset": 32, "size": 16, "kind": "struct", "type": "tagged_t.nameless"}`,
		"tagged_t deep":         `{"offset": 48, "size": 2, "kind": "signed"}`,
		"tagged_t other":        `{"offset": 48, "size": 4, "kind": "signed"}`,
		"tagged_t atomic":       `{"offset": 52, "size": 4, "kind": "signed"}`,
		"tagged_t grid":         `{"offset": 56, "size": 24, "kind": "array"}`,
		"tagged_t elsewhere":    `{"offset": 80, "size": 8, "kind": "pointer"}`,
		"tagged_t call":         `{"offset": 88, "size": 8, "kind": "pointer"}`,
		"tagged_t rest":         `{"offset": 96, "size": 0, "kind": "array"}`,
		"tagged_t.nameless":     "16 bytes",
		"tagged_t.nameless x":   `{"offset": 0, "size": 4, "kind": "signed"}`,
		"tagged_t.nameless u":   `{"offset": 8, "size": 8, "kind": "struct", "type": "tagged_t.nameless.u"}`,
		"tagged_t.nameless.u":   "8 bytes",
		"tagged_t.nameless.u d": `{"offset": 0, "size": 8, "kind": "float"}`,
		"tagged_t.nameless.u p": `{"offset": 0, "size": 8, "kind": "pointer"}`,
		"inner_t":               "16 bytes",
		"inner_t count":         `{"offset": 0, "size": 8, "kind": "signed"}`,
		"inner_t name":          `{"offset": 8, "size": 8, "kind": "pointer"}`,
		"only_a_tag":            "4 bytes",
		"only_a_tag i":          `{"offset": 0, "size": 4, "kind": "signed"}`,
		"number_t":              "4 bytes",
	}
	for _, key := range slices.Sorted(maps.Keys(union(got, want))) {
		if got[key] != want[key] {
			t.Errorf("%s is %s, want %s", key, got[key], want[key])
		}
	}
	if o.pointerSize != 8 || o.byteOrder != "little" {
		t.Errorf("pointers have %d bytes, and are %s endian", o.pointerSize, o.byteOrder)
	}
}

// Of a stripped library's requests, nothing behind the last member is read.
func TestTypesOfRequests(t *testing.T) {
	types, err := compiled(t, code).types(layout.ScopeRequests, []layout.Want{want("tagged_t", "nameless.x"), want("number_t")})
	if err != nil {
		t.Fatal(err)
	}
	if types["tagged_t"].Size != 36 || types["tagged_t"].Fields["nameless"].Size != 4 || types["number_t"].Size != 4 {
		t.Errorf("%+v", types)
	}
}

func TestNoObject(t *testing.T) {
	path := filepath.Join(t.TempDir(), "types.o")
	if err := os.WriteFile(path, []byte("no object"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := readObject(path); err == nil {
		t.Error("a text is taken for an object file")
	}
	if o := compiled(t, "struct a { struct { int i; } x; };"); o.named["a"] == nil || o.named["x"] != nil {
		t.Errorf("%+v", o.named)
	}
}
