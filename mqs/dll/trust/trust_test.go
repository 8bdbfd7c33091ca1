package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// shelf is a folder, trusted itself, with a library in a folder of its own.
func shelf(t *testing.T) (dir, library string) {
	t.Helper()
	// Not t.TempDir alone: the name is to be the real one.
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	must(t, os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "lib"), 0o755))
	library = filepath.Join(dir, "lib", "dll.so")
	must(t, os.WriteFile(library, []byte("library"), 0o644), os.Chmod(filepath.Dir(library), 0o755), os.Chmod(library, 0o644))
	return dir, library
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// refusal is the place and the reason of a refusal, below dir.
func refusal(err error, dir string) string {
	var d *Error
	if !errors.As(err, &d) {
		return fmt.Sprint(err)
	}
	place, _ := filepath.Rel(dir, d.Place)
	return place + " " + d.Reason
}

func TestFile(t *testing.T) {
	everybody := "can be written to by everybody"
	for name, c := range map[string]struct {
		change func(dir string) error
		path   string // lib/dll.so if empty
		want   string // the refusal, none if empty
	}{
		"as made": {},
		"writable file": {change: func(dir string) error { return os.Chmod(dir+"/lib/dll.so", 0o646) },
			want: "lib/dll.so " + everybody},
		"writable folder": {change: func(dir string) error { return os.Chmod(dir+"/lib", 0o757) },
			want: "lib " + everybody},
		"writable folder above": {change: func(dir string) error { return os.Chmod(dir, 0o777) },
			want: ". " + everybody},
		"sticky folder": {change: func(dir string) error { return os.Chmod(dir+"/lib", 0o777|fs.ModeSticky) },
			want: "lib " + everybody},
		"sticky folder above": {change: func(dir string) error { return os.Chmod(dir, 0o777|fs.ModeSticky) }},
		"link": {change: func(dir string) error { return os.Symlink("lib/dll.so", dir+"/link") },
			path: "link"},
		"link to a folder": {change: func(dir string) error { return os.Symlink(dir+"/lib", dir+"/link") },
			path: "link/dll.so"},
		"link in a sticky folder": {change: func(dir string) error {
			return errors.Join(os.Symlink("lib/dll.so", dir+"/link"), os.Chmod(dir, 0o777|fs.ModeSticky))
		}, path: "link", want: ". " + everybody},
		"link out of a trusted folder": {change: func(dir string) error {
			return errors.Join(os.Mkdir(dir+"/open", 0o700), os.Chmod(dir+"/open", 0o777),
				os.Symlink("../open/dll.so", dir+"/lib/link"), os.WriteFile(dir+"/open/dll.so", nil, 0o600))
		}, path: "lib/link", want: "open " + everybody},
		"back out of an open folder": {change: func(dir string) error {
			return errors.Join(os.Mkdir(dir+"/open", 0o700), os.Chmod(dir+"/open", 0o777),
				os.Symlink("../lib", dir+"/open/link"))
		}, path: "open/link/dll.so", want: "open " + everybody},
	} {
		t.Run(name, func(t *testing.T) {
			dir, library := shelf(t)
			if c.change != nil {
				must(t, c.change(dir))
			}
			path := library
			if c.path != "" {
				path = dir + "/" + c.path
			}
			real, err := File(path, nil)
			if c.want == "" {
				if err != nil || real != library {
					t.Errorf("%s, %v", real, err)
				}
				return
			}
			if got := refusal(err, dir); got != c.want {
				t.Errorf("%s\nnot %s", got, c.want)
			}
			// The list of safe folders allows it.
			if _, err := File(path, []string{dir}); err != nil {
				t.Error(err)
			}
		})
	}
}

// What no list of safe folders can allow.
func TestUnusable(t *testing.T) {
	dir, _ := shelf(t)
	must(t, os.Symlink("loop", dir+"/loop"), os.Symlink("nowhere", dir+"/broken"), unix.Mkfifo(dir+"/fifo", 0o600))
	for path, want := range map[string]string{
		"lib/dll.so":          "is no absolute path",
		"":                    "is no absolute path",
		"/":                   "is not a regular file",
		dir + "/lib":          "is not a regular file",
		dir + "/lib/.":        "is not a regular file",
		dir + "/fifo":         "is not a regular file",
		dir + "/lib/dll.so/x": "is not a regular file",
		dir + "/lib/dll.so/.": "is not a regular file",
		dir + "/loop":         "more than 40 links",
		dir + "/broken":       "no such file",
		dir + "/none/dll.so":  "no such file",
		dir + "/\x00":         "invalid argument",
	} {
		_, err := File(path, []string{"/"})
		var d *Error
		if err == nil || errors.As(err, &d) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %s", path, err, want)
		}
	}
}

func TestSafe(t *testing.T) {
	dir, library := shelf(t)
	must(t, os.Chmod(dir+"/lib", 0o777), os.Symlink("lib", dir+"/link"), os.Mkdir(dir+"/li", 0o700))
	for folder, safe := range map[string]bool{
		"/": true, dir: true, dir + "/": true, dir + "/lib": true, dir + "/link": true, dir + "/lib/../lib": true,
		dir + "/li": false, library: false, dir + "/none": false, "lib": false, "": false,
	} {
		if _, err := File(library, []string{"/none", folder}); (err == nil) != safe {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		// Root's folders are there; nobody can make those of a third one.
		if _, err := File("/etc/passwd", nil); err != nil {
			t.Error(err)
		}
		return
	}
	const other = 54321 // nobody's
	for name, want := range map[string]string{
		"lib/dll.so": "lib/dll.so belongs to user 54321",
		"lib":        "lib belongs to user 54321",
		"link":       "link belongs to user 54321",
	} {
		dir, library := shelf(t)
		must(t, os.Symlink("lib/dll.so", dir+"/link"), os.Lchown(dir+"/"+name, other, 0))
		path := library
		if name == "link" {
			path = dir + "/link"
		}
		_, err := File(path, nil)
		if got := refusal(err, dir); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

func TestGroup(t *testing.T) {
	dir, library := shelf(t)
	must(t, os.Chmod(library, 0o664))
	info, err := os.Stat(library)
	must(t, err)
	group := int(info.Sys().(*syscall.Stat_t).Gid)
	_, err = File(library, nil)
	if allowed := group == 0 || privateGroup(group, os.Geteuid()); allowed != (err == nil) {
		t.Errorf("group %d: %v", group, err)
	}
	if os.Geteuid() != 0 {
		return
	}
	must(t, os.Chown(library, 0, 54321), os.Chmod(library, 0o664))
	_, err = File(library, nil)
	if got, want := refusal(err, dir), "lib/dll.so can be written to by the group 54321"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// An access list for user 54321 in a file of root's group.
func TestAccessList(t *testing.T) {
	dir, library := shelf(t)
	must(t, os.Chmod(library, 0o664), os.Chown(library, -1, os.Getegid()))
	entry := func(tag, rights byte, id uint32) string {
		return string([]byte{tag, 0, rights, 0, byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)})
	}
	const none = 0xffffffff
	list := "\x02\x00\x00\x00" + entry(1, 6, none) + entry(2, 6, 54321) + entry(4, 4, none) + entry(16, 6, none) + entry(32, 4, none)
	err := unix.Setxattr(library, "system.posix_acl_access", []byte(list), 0)
	if err == unix.ENOTSUP {
		t.Skip("the file system has no access lists")
	}
	must(t, err)
	_, err = File(library, nil)
	if got := refusal(err, dir); !strings.HasPrefix(got, "lib/dll.so can be written to by") {
		t.Error(got)
	}
}

func TestPrivateGroup(t *testing.T) {
	const users = "root:x:0:0::/:\nann:x:1000:1000::/:\nbob:x:1001:100::/:\n"
	for groups, want := range map[string]bool{
		"root:x:0:\nann:x:1000:\n":              true,
		"ann:x:1000:ann\n":                      true,
		"ann:x:1000:bob\n":                      false,
		"ann:x:1000:ann,bob\n":                  false,
		"users:x:1000:\n":                       false,
		"ann:x:1001:\n":                         false,
		"ann:x:1000:\nalias:x:1000:\n":          false,
		"":                                      false,
		"ann:x:1000\nbroken\n::\nann:y:1000:\n": true,
	} {
		if onlyMember("ann", "1000", groups, users) != want {
			t.Errorf("%q", groups)
		}
	}
	if onlyMember("ann", "1000", "ann:x:1000:\n", users+"eve:x:1002:1000::/:\n") {
		t.Error("somebody else's first group")
	}
}

func TestFolder(t *testing.T) {
	dir, library := shelf(t)
	must(t, os.Symlink("lib", dir+"/link"))
	for path, want := range map[string]string{dir: dir, dir + "/lib": dir + "/lib", dir + "/link": dir + "/lib", dir + "/lib/..": dir, "/": "/"} {
		if real, err := Folder(path); real != want || err != nil {
			t.Errorf("%s: %s, %v", path, real, err)
		}
	}
	for _, path := range []string{library, dir + "/none", "lib", ""} {
		if real, err := Folder(path); err == nil {
			t.Errorf("%s: %s", path, real)
		}
	}
	for mode, want := range map[fs.FileMode]string{
		0o757:                 "lib can be written to by everybody",
		0o777 | fs.ModeSticky: "lib can be written to by everybody",
	} {
		must(t, os.Chmod(dir+"/lib", mode))
		if _, err := Folder(dir + "/link"); refusal(err, dir) != want {
			t.Errorf("%v: %v", mode, err)
		}
		if _, err := Parent(dir + "/link"); mode&fs.ModeSticky == 0 && refusal(err, dir) != want || mode&fs.ModeSticky != 0 && err != nil {
			t.Errorf("%v, for folders: %v", mode, err)
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	must(t, os.Chmod(dir+"/lib", 0o755), os.Chown(dir+"/lib", 54321, 0))
	if _, err := Folder(dir + "/lib"); refusal(err, dir) != "lib belongs to user 54321" {
		t.Error(err)
	}
}
