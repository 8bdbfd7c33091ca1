package scratch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// TestUntrusted checks that no folder is made where another user could put his own in its place: a gdb runs what is in it.
func TestUntrusted(t *testing.T) {
	tmp := filepath.Join(t.TempDir(), "tmp")
	t.Setenv("TMPDIR", tmp)
	check := func(why string) {
		t.Helper()
		f, err := New()
		if err == nil {
			f.Remove()
		}
		said := fmt.Sprint(err)
		refuses := strings.Contains(said, " in "+tmp+": ") && strings.Contains(said, why) && strings.Contains(said, "set TMPDIR")
		if refuses != (why != "") || why == "" && err != nil {
			t.Errorf("%v does not say %q", err, why)
		}
	}
	check("no such file")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	for mode, why := range map[fs.FileMode]string{0o777: "can be written to by everybody", 0o777 | fs.ModeSticky: "", 0o700: ""} {
		if err := os.Chmod(tmp, mode); err != nil {
			t.Fatal(err)
		}
		check(why)
	}
	own := tmp
	tmp = "/proc" // nobody can make a folder there
	t.Setenv("TMPDIR", tmp)
	check("no such file")
	tmp = own
	t.Setenv("TMPDIR", tmp)
	if os.Geteuid() != 0 {
		t.Skip("only root can make another user's folder")
	}
	if err := os.Chown(tmp, 54321, -1); err != nil {
		t.Fatal(err)
	}
	check("belongs to user 54321")
}
