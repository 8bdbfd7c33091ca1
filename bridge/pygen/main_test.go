package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The committed Python file is what the protocol's Go source says.
func TestGeneratedFileIsFresh(t *testing.T) {
	want, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../python/mpi_queues/protocol.py")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("python/mpi_queues/protocol.py is stale: run `go generate ./bridge`")
	}
}

// What a message borrows of another package has a name in the protocol, or is made of what has.
func TestBorrowedTypes(t *testing.T) {
	for name, c := range map[string]struct{ protocol, says, lacks string }{
		"a struct with a name":        {"type Place = place.Place\ntype Ask struct {\n// Where it is.\nWhere []*Place `json:\"where\"`\n}", "where: List[Optional[Place]]", "secret"},
		"one under the other's name":  {"type Spot = place.Place\ntype Ask struct {\nWhere place.Place `json:\"where\"`\n}", "where: Spot", "class Place"},
		"what the struct is made of":  {"type Place = place.Place", "at: Dict[str, int]", ""},
		"a struct without a name":     {"type Ask struct {\nWhere place.Place `json:\"where\"`\n}", "no name for Place", ""},
		"no type":                     {"type Ask struct {\nWhere place.Nowhere `json:\"where\"`\n}", "no type Nowhere", ""},
		"a type of no project's":      {"type Ask struct {\nWhere time.Time `json:\"where\"`\n}", "imports no time", ""},
		"an alias of what is no type": {"type Place = place.Nowhere", "no type Nowhere", ""},
	} {
		root := t.TempDir()
		for file, text := range map[string]string{
			"bridge/protocol.go":  "package bridge\nimport \"github.com/mpi-queues/mpi-queues/mqs/place\"\n" + c.protocol,
			"bridge/jobs.go":      "package bridge",
			"bridge/callbacks.go": "package bridge",
			"mqs/place/place.go": "package place\ntype Number uint64\n// Place is a place.\ntype Place struct {\n" +
				"At map[string]Number `json:\"at,omitempty\"`\nSecret int `json:\"secret\" protocol:\"-\"`\n}",
		} {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		text, err := generate(filepath.Join(root, "bridge"))
		if err != nil {
			text = []byte(err.Error())
		}
		if !strings.Contains(string(text), c.says) || c.lacks != "" && strings.Contains(string(text), c.lacks) {
			t.Errorf("%s: %s", name, text)
		}
	}
}
