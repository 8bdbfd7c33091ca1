package packaging

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestPythonVersion(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.3": "1.2.3", "v1.2.3": "1.2.3", "1.2.3-rc.4": "1.2.3rc4", "v1.2.3-beta2": "1.2.3b2", "1.2.3+meta": "1.2.3",
		"1.2.3-0.20260101000000-abcdef": "1.2.3.dev0", "0.0.0-dev": "0.0.0.dev0", "(devel)": "0.dev0", "": "0.dev0",
	} {
		if got := pythonVersion(version); got != want {
			t.Errorf("%q is %q, not %q", version, got, want)
		}
	}
}

// No program, and one for another machine, get no tag.
func TestPlatformTag(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if tag, err := platformTag(self); err != nil || !strings.HasPrefix(tag, "manylinux_2_") {
		t.Errorf("%q, %v", tag, err)
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if tag, err := platformTag(script); err == nil {
		t.Errorf("a script is for %s", tag)
	}
}

// The record has each file, and is the last of them; the same files make the same archive.
func TestPack(t *testing.T) {
	files := []entry{{"a/scripts/program", []byte("program"), 0o755}, {"a.dist-info/WHEEL", []byte("wheel\n"), 0o644}}
	var b, again bytes.Buffer
	if err := pack(&b, files, "a.dist-info/RECORD"); err != nil {
		t.Fatal(err)
	}
	if err := pack(&again, files, "a.dist-info/RECORD"); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("the same files make another archive", err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	record, err := r.Open("a.dist-info/RECORD")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(record).ReadAll()
	if err != nil || len(lines) != len(r.File) {
		t.Fatalf("%q, %v", lines, err)
	}
	for i, line := range lines[:len(files)] {
		if line[0] != r.File[i].Name || line[2] != strconv.Itoa(len(files[i].data)) || !strings.HasPrefix(line[1], "sha256=") {
			t.Errorf("%q is of %s", line, r.File[i].Name)
		}
	}
	if mode := r.File[0].Mode(); mode != 0o755 {
		t.Errorf("the program has the mode %v", mode)
	}
}

// What goes into a program has its terms. The list of modules is Go's own.
func TestLicences(t *testing.T) {
	text, err := licences("github.com/mpi-queues/mpi-queues/cmd/mpi-queues")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"The Go programming language", "github.com/ebitengine/purego v", "github.com/spf13/cobra v", "Apache License"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing", part)
		}
	}
	if _, err := (module{"example.org/none", "v1.0.0", t.TempDir()}).licence(); err == nil || !strings.Contains(err.Error(), "example.org/none") {
		t.Errorf("a module without a licence: %v", err)
	}
}
