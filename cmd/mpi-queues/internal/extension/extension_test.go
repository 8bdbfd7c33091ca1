package extension

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// extensionFolder is a folder that gdb's extension has been unpacked into.
func extensionFolder(t *testing.T) string {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(home, "share", "mpi-queues")
	if path, err := Unpack(folder); err != nil || path != filepath.Join(folder, "gdbinit") {
		t.Fatal(path, err)
	}
	return folder
}

// gdb runs what is unpacked: nobody else may have a folder of it.
func TestUnpackedWhereNobodyElseWrites(t *testing.T) {
	const everybody = " can be written to by everybody"
	for name, c := range map[string]struct {
		change func(folder string) error
		want   string // what follows the folder's path
	}{
		"as it was":       {func(string) error { return nil }, ""},
		"writable":        {func(f string) error { return os.Chmod(f, 0o777) }, everybody},
		"writable python": {func(f string) error { return os.Chmod(f+"/python", 0o777) }, "/python" + everybody},
		"writable package": {func(f string) error { return os.Chmod(f+"/python/mpi_queues", 0o777) },
			"/python/mpi_queues" + everybody},
		"linked python": {func(f string) error {
			if err := os.Rename(f+"/python", f+"/elsewhere"); err != nil {
				return err
			}
			return os.Symlink("elsewhere", f+"/python")
		}, "/python is a link"},
		"another's": {func(f string) error { return os.Chown(f, 54321, -1) }, " belongs to user 54321"},
		"another's package": {func(f string) error { return os.Chown(f+"/python/mpi_queues", 54321, -1) },
			"/python/mpi_queues belongs to user 54321"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "another") && os.Geteuid() != 0 {
				t.Skip("only root can give a folder away")
			}
			folder := extensionFolder(t)
			if err := c.change(folder); err != nil {
				t.Fatal(err)
			}
			_, err := Unpack(folder)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || err.Error() != folder+c.want):
				t.Errorf("%v, not %q", err, c.want)
			}
		})
	}
}

// A folder that another user has made ready is none, wherever it is.
func TestUnpackedBelowNobodyElse(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "open"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(home, "open"), 0o777); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(home, "open", "share", "mpi-queues")
	if _, err := Unpack(folder); err == nil || !strings.Contains(err.Error(), "can be written to by everybody") {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(home, "open", "share")); err == nil {
		t.Error("a folder was made all the same")
	}
}

// A link of a file's name is replaced, and what it leads to stays.
func TestUnpackedThroughNoLink(t *testing.T) {
	folder := extensionFolder(t)
	precious := filepath.Join(t.TempDir(), "precious")
	module := filepath.Join(folder, "python", "mpi_queues", "attach.py")
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{module, filepath.Join(folder, "gdbinit")} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(precious, path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Unpack(folder); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(precious); err != nil || string(text) != "precious" {
		t.Errorf("%.40q, %v", text, err)
	}
	if info, err := os.Lstat(module); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// The link to the helper leads to a program that stays.
func TestLinkedHelper(t *testing.T) {
	t.Setenv("GOCACHE", "/home/ann/cache")
	link := filepath.Join(extensionFolder(t), "mpi-queues")
	for _, self := range []string{"/home/ann/go/bin/mpi-queues", "/tmpfiles/mpi-queues"} {
		if err := Link(filepath.Dir(link), self); err != nil {
			t.Fatal(err)
		}
		if to, err := os.Readlink(link); err != nil || to != self {
			t.Errorf("%q, %v", to, err)
		}
	}
	for _, self := range []string{"/tmp/go-build1/b001/exe/mpi-queues", filepath.Join(t.TempDir(), "mpi-queues"), "/home/ann/cache/ab/cd-d/mpi-queues"} {
		if err := Link(filepath.Dir(link), "/home/ann/go/bin/mpi-queues"); err != nil {
			t.Fatal(err)
		}
		if err := Link(filepath.Dir(link), self); err != nil {
			t.Fatal(err)
		}
		if to, err := os.Readlink(link); err == nil {
			t.Errorf("%s: the link leads to %s", self, to)
		}
	}
}

// What a killed run has left is in nobody's way; and one that fails leaves nothing.
func TestUnpackedBesideWhatIsLeft(t *testing.T) {
	folder := extensionFolder(t)
	left := filepath.Join(folder, ".mpi-queues-1")
	if err := errors.Join(os.Mkdir(left, 0o700), os.WriteFile(filepath.Join(left, "gdbinit"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Unpack(folder); err != nil {
		t.Error(err)
	}
	link := filepath.Join(folder, "mpi-queues")
	if err := Link(folder, "/usr/bin/mpi-queues"); err != nil {
		t.Error(err)
	}
	before, _ := filepath.Glob(filepath.Join(folder, ".*"))
	if err := errors.Join(os.RemoveAll(link), os.Mkdir(link, 0o755)); err != nil { // no link takes its place
		t.Fatal(err)
	}
	if err := Link(folder, "/usr/bin/mpi-queues"); err == nil {
		t.Error("a folder was replaced")
	}
	if after, _ := filepath.Glob(filepath.Join(folder, ".*")); len(after) != len(before) {
		t.Errorf("%q are left, where %q were there", after, before)
	}
	if info, err := os.Stat(filepath.Join(folder, "gdbinit")); err != nil || info.Mode().Perm()&0o600 != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
