package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// other is a user whom no machine has.
const other = 54321

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func onlyRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
}

func fill(f *os.File) error {
	_, err := f.WriteString("new")
	return err
}

// has checks what a file has, and that its folder has nothing besides what is named.
func has(t *testing.T, path, want string, names ...string) {
	t.Helper()
	if text, err := os.ReadFile(path); string(text) != want || err != nil {
		t.Errorf("%s has %q, %v", path, text, err)
	}
	files, _ := os.ReadDir(filepath.Dir(path))
	var left []string
	for _, f := range files {
		left = append(left, f.Name())
	}
	if fmt.Sprint(left) != fmt.Sprint(names) {
		t.Errorf("%v are there, not %v", left, names)
	}
}

// TestWrite checks that links stay, and that a file that fails is as it was before.
func TestWrite(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "file"), filepath.Join(folder, "link")
	must(t, os.Symlink("file", link), Write(link, fill))
	has(t, file, "new", "file", "link")
	must(t, os.Chmod(file, 0o640))
	full := errors.New("full")
	if err := Write(link, func(*os.File) error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
	has(t, file, "new", "file", "link")
	must(t, os.WriteFile(file, []byte("before"), 0), Write(link, fill))
	has(t, link, "new", "file", "link")
	if info, err := os.Lstat(file); err != nil || info.Mode() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	must(t, os.Symlink("loop", filepath.Join(folder, "loop")))
	for path, why := range map[string]string{"loop": "too many", "none/file": "no such file", ".": "is a directory"} {
		if err := Write(filepath.Join(folder, path), fill); err == nil || !strings.Contains(err.Error(), " can't be written: "+why) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestWritePipe checks that a descriptor's link is followed, as the shells' >(...) and /dev/stdout need it.
func TestWritePipe(t *testing.T) {
	from, to, err := os.Pipe()
	must(t, err)
	defer func() { _ = from.Close() }()
	must(t, Write(fmt.Sprintf("/proc/self/fd/%d", to.Fd()), fill), to.Close())
	text := make([]byte, 4)
	if n, err := from.Read(text); string(text[:n]) != "new" {
		t.Errorf("%q, %v", text[:n], err)
	}
}

// TestLinksOfOthers checks the kernel's rule (fs.protected_symlinks) for links in folders like /tmp.
func TestLinksOfOthers(t *testing.T) {
	onlyRoot(t)
	for _, c := range []struct {
		mode          fs.FileMode
		folder, owner int
		follows       bool
	}{
		{fs.ModeSticky | 0o777, 0, other, false}, {fs.ModeSticky | 0o777, other, other, true}, {fs.ModeSticky | 0o777, other, 0, true},
		{0o777, 0, other, true}, {fs.ModeSticky | 0o755, 0, other, true},
	} {
		dir := t.TempDir()
		sticky, precious, link, own := dir+"/sticky", dir+"/precious", dir+"/sticky/link", dir+"/own"
		must(t, os.Mkdir(sticky, 0o700), os.Symlink("../precious", link), os.Symlink("sticky/link", own),
			os.Chown(sticky, c.folder, -1), os.Lchown(link, c.owner, -1), os.Chmod(sticky, c.mode))
		for _, path := range []string{link, own} {
			must(t, os.WriteFile(precious, []byte("precious"), 0o600))
			err := Write(path, fill)
			if c.follows {
				must(t, err)
				has(t, link, "new", "link")
				continue
			}
			if want := link + " can't be written: it is a symbolic link owned by user 54321"; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Error(err)
			}
			has(t, link, "precious", "link")
		}
	}
}

// TestWriteOwn checks that a name that others can foresee leads nowhere else, and that their files stay.
func TestWriteOwn(t *testing.T) {
	folder := t.TempDir()
	precious, path := filepath.Join(t.TempDir(), "precious"), filepath.Join(folder, "report")
	must(t, WriteOwn(path, fill), os.Chmod(path, 0o600), WriteOwn(path, fill))
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	must(t, os.Remove(path), os.WriteFile(precious, []byte("precious"), 0o600), os.Symlink(precious, path), WriteOwn(path, fill))
	has(t, precious, "precious", "precious")
	has(t, path, "new", "report")
	onlyRoot(t)
	must(t, os.Chown(path, other, -1))
	if err := WriteOwn(path, fill); err == nil || err.Error() != path+" can't be written: it belongs to user 54321" {
		t.Error(err)
	}
}

// TestFolder checks into whose folders reports are written.
func TestFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	folder := dir + "/a/b"
	check := func(path, why string) {
		t.Helper()
		switch real, err := Folder(path); {
		case why == "" && (err != nil || real != folder):
			t.Errorf("%s, %v", real, err)
		case why != "" && (err == nil || !strings.HasPrefix(err.Error(), why)):
			t.Errorf("%v does not say %q", err, why)
		}
	}
	check(folder+"/", "")
	must(t, os.Symlink("a/b", dir+"/link"), os.Chmod(folder, 0o777))
	check(dir+"/link/", "")
	onlyRoot(t)
	for _, c := range []struct {
		user, group int
		mode        fs.FileMode
		why         string
	}{
		{other, other, 0o755, folder + " belongs to user 54321: name"}, {other, other, 0o775, folder + " belongs to"},
		{other, 0, 0o755, folder + " belongs to"}, {other, 0, 0o775, ""}, {other, 0, 0o777, folder + " can be written to by everybody"},
		{other, 0, fs.ModeSticky | 0o777, folder + " belongs to"},
	} {
		must(t, os.Chown(folder, c.user, c.group), os.Chmod(folder, c.mode))
		check(folder, c.why)
	}
	must(t, os.Chown(folder, 0, 0), os.Chmod(dir, fs.ModeSticky|0o777), os.Lchown(dir+"/link", other, -1))
	check(dir+"/link", dir+"/link can't be written: it is a symbolic link owned by user 54321")
}
