package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The committed files are what the model's fields, tags and comments say.
func TestGeneratedFilesAreFresh(t *testing.T) {
	files, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("mqs/document/%s is stale: run `go generate ./mqs/document`", name)
		}
	}
}

// A field of the model is in the documents, or says that it is not.
func TestFieldsThatNoDocumentCanHave(t *testing.T) {
	type part struct {
		X int `json:"x" document:"line"`
	}
	for want, wrong := range map[string]reflect.Type{
		"say its key": reflect.TypeFor[struct{ Lost string }](),
		`no option "nul"`: reflect.TypeFor[struct {
			X string `json:"x" document:"nul"`
		}](),
		"invalid syntax": reflect.TypeFor[struct {
			X int `json:"x" document:"min=one"`
		}](),
		"needs a min": reflect.TypeFor[struct {
			X int `json:"x" document:"null"`
		}](),
		"has a float64": reflect.TypeFor[struct {
			X float64 `json:"x"`
		}](),
		"list of float64": reflect.TypeFor[struct {
			X []float64 `json:"x"`
		}](),
		"indented alike": reflect.TypeFor[struct {
			X []part `json:"x"`
			Y []part `json:"y" document:"line"`
		}](),
	} {
		m := &model{objects: map[reflect.Type]*object{}}
		if _, err := m.root(wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, not %q", wrong, err, want)
		}
	}
}
