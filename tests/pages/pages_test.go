package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/section"
)

func TestMain(m *testing.M) {
	code := m.Run()
	removeBuilt()
	os.Exit(code)
}

// TestSections: each part of a page that a program writes has its beginning and its end.
func TestSections(t *testing.T) {
	begins := regexp.MustCompile(`(?m)^<!-- begin: (.*) \(`)
	found := 0
	for name, page := range readPages(t) {
		for _, match := range begins.FindAllStringSubmatch(page, -1) {
			if _, err := section.Get(page, match[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			found++
		}
	}
	if found <= len(generated) {
		t.Errorf("there are %d sections only", found)
	}
}

// TestPages: what the pages say for the program is what it says itself.
func TestPages(t *testing.T) {
	fresh, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	for page, want := range fresh {
		got, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is stale: run `go generate ./tests/pages'", page)
		}
	}
}
