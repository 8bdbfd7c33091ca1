//go:build live || matrix || full

package live

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// UCXWithoutTree returns a folder with a libucs in which the symbol is not found by
// which UCX is read. It has a name instead that hashes to the same value, since the loader
// looks it up.
func UCXWithoutTree(t testing.TB) string {
	t.Helper()
	const library, name, other = "libucs.so.0", "\x00ucs_vfs_obj_context\x00", "\x00ucs_wEs_obj_context\x00"
	paths, err := filepath.Glob("/usr/lib/*/" + library)
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s is at %v (%v)", library, paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte(name)); n != 1 {
		t.Fatalf("%s has the name %d times", paths[0], n)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, library), bytes.Replace(text, []byte(name), []byte(other), 1), 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}
