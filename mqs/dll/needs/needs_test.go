package needs

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/dll/trust"
)

// bench is a folder, trusted itself, with an open one, where anybody can put
// things, and a library libdep.so in each.
func bench(t *testing.T) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err, os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755))
	for name, mode := range map[string]os.FileMode{"own": 0o755, "open": 0o777, "sticky": 0o777 | os.ModeSticky} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700), os.Chmod(filepath.Join(dir, name), mode))
		library(t, filepath.Join(dir, name, "libdep.so"))
	}
	return dir
}

// library compiles one.
func library(t *testing.T, path string, flags ...string) {
	t.Helper()
	args := append([]string{"-shared", "-fPIC", "-x", "c", "/dev/null", "-x", "none", "-o", path, "-Wl,--no-as-needed"}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %v: %v\n%s", args, err, out)
	}
	must(t, os.Chmod(path, 0o755))
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestCheck(t *testing.T) {
	const rpath, runpath = "-Wl,--disable-new-dtags,-rpath,", "-Wl,--enable-new-dtags,-rpath,"
	everybody := " can be written to by everybody"
	for name, c := range map[string]struct {
		flags func(dir string) []string
		want  string // the place at fault, below the folder; none if empty
	}{
		"nothing":   {flags: func(string) []string { return nil }},
		"own":       {flags: func(dir string) []string { return []string{dir + "/own/libdep.so", runpath + "$ORIGIN/own"} }},
		"runpath":   {flags: func(dir string) []string { return []string{runpath + dir + "/open"} }, want: "open"},
		"rpath":     {flags: func(dir string) []string { return []string{rpath + dir + "/own:" + dir + "/open"} }, want: "open"},
		"sticky":    {flags: func(dir string) []string { return []string{runpath + dir + "/sticky"} }, want: "sticky"},
		"origin":    {flags: func(string) []string { return []string{runpath + "${ORIGIN}/../" + "open"} }},
		"beside":    {flags: func(string) []string { return []string{runpath + "$ORIGIN/open"} }, want: "open"},
		"none yet":  {flags: func(dir string) []string { return []string{runpath + dir + "/open/later/lib"} }, want: "open"},
		"no folder": {flags: func(dir string) []string { return []string{runpath + dir + "/own/later"} }},
		"link to where none is": {flags: func(dir string) []string {
			must(t, os.Symlink("../open/later", dir+"/own/link"))
			return []string{runpath + dir + "/own/link"}
		}, want: "open"},
		"by its path": {flags: func(dir string) []string { return []string{dir + "/open/libdep.so"} }, want: "open"},
		"writable file": {flags: func(dir string) []string {
			must(t, os.Chmod(dir+"/own/libdep.so", 0o757))
			return []string{dir + "/own/libdep.so", runpath + dir + "/own", "-Wl,-soname,libx.so"}
		}, want: "own/libdep.so"},
		"of what it needs": {flags: func(dir string) []string {
			library(t, dir+"/own/libsecond.so", runpath+dir+"/open")
			return []string{dir + "/own/libsecond.so"}
		}, want: "open"},
		"for processors": {flags: func(dir string) []string {
			must(t, os.MkdirAll(dir+"/own/glibc-hwcaps/x86-64-v3", 0o755), os.Chmod(dir+"/own/glibc-hwcaps/x86-64-v3", 0o777))
			return []string{runpath + dir + "/own"}
		}, want: "own/glibc-hwcaps/x86-64-v3"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := bench(t)
			path := filepath.Join(dir, "dll.so")
			library(t, path, c.flags(dir)...)
			err := Check(path, nil)
			var distrust *trust.Error
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want == "":
			case !errors.As(err, &distrust) || distrust.Because() != filepath.Join(dir, c.want)+everybody:
				t.Errorf("%v", err)
			default:
				if err := Check(path, []string{dir}); err != nil {
					t.Errorf("with a safe folder: %v", err)
				}
			}
		})
	}
}

// What can't be told is not loaded, and what is no library is the loader's to refuse.
func TestOddFiles(t *testing.T) {
	dir := bench(t)
	path := filepath.Join(dir, "dll.so")
	library(t, path, "-Wl,-rpath,/usr/$LIB")
	if err := Check(path, nil); err == nil || !strings.Contains(err.Error(), "can't be told") {
		t.Error(err)
	}
	library(t, path, dir+"/own/libdep.so", "-Wl,-rpath,$ORIGIN/own")
	must(t, Check(path, nil))
	whole, err := os.ReadFile(path)
	must(t, err)
	for what, c := range map[string]struct {
		damage func(b []byte) []byte
		says   string
	}{
		"program headers": {func(b []byte) []byte { b[56], b[57] = 0xff, 0xff; return long(b) }, "it has too many program headers"},
		"cut":             {func(b []byte) []byte { return b[:100] }, "EOF"},
		"their place":     {func(b []byte) []byte { b[39] = 0xff; return b }, "negative offset"},
		"the list's size": {func(b []byte) []byte {
			binary.LittleEndian.PutUint64(dynamicHeader(b)[32:], maxDynamic+16)
			return long(b)
		}, "it has too many dynamic entries"},
		"a name's place": {func(b []byte) []byte {
			first := binary.LittleEndian.Uint64(dynamicHeader(b)[8:]) // it is a DT_NEEDED
			binary.LittleEndian.PutUint64(b[first+8:], 1<<40)
			return b
		}, "it has no name at 0x10000"},
	} {
		must(t, os.WriteFile(path, c.damage(slices.Clone(whole)), 0o755))
		if err := Check(path, nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, os.WriteFile(path, []byte("text"), 0o755))
	if err := Check(path, nil); err != nil {
		t.Error(err)
	}
}

// TestFits checks that a library of another class, byte order or processor is refused by name.
func TestFits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dll.so")
	library(t, path)
	must(t, Fits(path))
	whole, err := os.ReadFile(path)
	must(t, err)
	for what, at := range map[string]int{"class": elf.EI_CLASS, "order": elf.EI_DATA, "machine": 18} {
		other := slices.Clone(whole)
		other[at] ^= 3
		must(t, os.WriteFile(path, other, 0o755))
		if err := Fits(path); err == nil || !strings.HasPrefix(err.Error(), path+" is built for ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, b := range [][]byte{nil, whole[:18], []byte("text that is no library at all")} {
		must(t, os.WriteFile(path, b, 0o755))
		must(t, Fits(path))
	}
	must(t, Fits(path+".none"))
}

// long is a file that has as much as it says.
func long(b []byte) []byte { return append(b, make([]byte, 8<<20)...) }

// dynamicHeader is the program header of a library's dynamic entries (elf(5), Elf64_Phdr).
func dynamicHeader(b []byte) []byte {
	for at := binary.LittleEndian.Uint64(b[32:]); ; at += 56 {
		if binary.LittleEndian.Uint32(b[at:]) == uint32(elf.PT_DYNAMIC) {
			return b[at : at+56]
		}
	}
}

// Two libraries that need each other.
func TestCircle(t *testing.T) {
	dir := bench(t)
	a, b := filepath.Join(dir, "own", "liba.so"), filepath.Join(dir, "own", "libb.so")
	library(t, a, "-Wl,-soname,liba.so")
	library(t, b, "-Wl,-soname,libb.so", a, "-Wl,-rpath,$ORIGIN")
	library(t, a, "-Wl,-soname,liba.so", b, "-Wl,-rpath,$ORIGIN")
	if err := Check(a, nil); err != nil {
		t.Error(err)
	}
}

func TestEnvironment(t *testing.T) {
	dir := bench(t)
	env := []string{"HOME=/", "LD_PRELOAD=/x.so", "LD_AUDIT=/y.so", "LDFLAGS=-s",
		"LD_LIBRARY_PATH=:" + dir + "/own:lib:" + dir + "/open;$ORIGIN:" + dir + "/own/$LIB"}
	want := []string{"HOME=/", "LDFLAGS=-s", "LD_LIBRARY_PATH=" + dir + "/own"}
	if got := Environment(env, nil); !slices.Equal(got, want) {
		t.Error(got)
	}
	want[2] += ":" + dir + "/open"
	if got := Environment(env, []string{dir}); !slices.Equal(got, want) {
		t.Error(got)
	}
	if got := Environment([]string{"LD_LIBRARY_PATH=."}, nil); len(got) > 0 {
		t.Error(got)
	}
}

// The user's own list counts as the library's.
func TestSearchedByTheUser(t *testing.T) {
	dir := bench(t)
	must(t, os.Chmod(dir+"/own/libdep.so", 0o757))
	path := filepath.Join(dir, "dll.so")
	library(t, dir+"/libdep.so", "-Wl,-soname,libdep.so")
	library(t, path, dir+"/libdep.so")
	t.Setenv("LD_LIBRARY_PATH", dir+"/own")
	var distrust *trust.Error
	if err := Check(path, nil); !errors.As(err, &distrust) || distrust.Place != dir+"/own/libdep.so" {
		t.Error(err)
	}
}
