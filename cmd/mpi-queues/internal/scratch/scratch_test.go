package scratch

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// What a killed process has left is removed by the next one, and nothing else is.
func TestFolders(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	left := filepath.Join(tmp, prefix+"1")
	kept := []string{filepath.Join(tmp, "mpi-queues-1"), filepath.Join(tmp, "elsewhere")}
	for _, path := range append(kept, left, filepath.Join(left, "run-1")) {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(tmp, prefix+"2")
	if err := os.Symlink(kept[1], link); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		another := filepath.Join(tmp, prefix+"3")
		if err := os.Mkdir(another, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(another, 54321, -1); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, another)
	}
	first, err := New()
	if err != nil {
		t.Fatal(err)
	}
	second, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(kept, link, first.Path, second.Path) {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(left); err == nil {
		t.Error("what was left behind is still there")
	}
	first.Remove()
	second.Remove()
	if now, _ := filepath.Glob(filepath.Join(tmp, prefix+"*")); len(now) != len(kept)-1 {
		t.Errorf("%q are there", now)
	}
}

// Each of those who come in the same moment gets a folder, whatever the others take for left behind.
func TestFoldersAtOnce(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 200 {
				f, err := New()
				if err != nil {
					t.Error(err)
					return
				}
				if !f.isThere() {
					t.Errorf("%s is not there", f.Path)
				}
				f.Remove()
			}
		}()
	}
	all.Wait()
}
