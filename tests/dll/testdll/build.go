// Package testdll compiles the queue DLLs of tests/dll: the reference DLL, which reads the toy processes
// there and checks the debugger, and rogue DLLs.
package testdll

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Set is DLLs that tests share, each compiled when it is first asked for, into
// a folder below one that the caller removes. What several have in common is compiled once.
type Set struct {
	folder string

	mu    sync.Mutex
	built map[string]func() (string, error)
}

// In returns an empty set that compiles into folder, which must be there.
func In(folder string) *Set {
	return &Set{folder: folder, built: map[string]func() (string, error){}}
}

// Source is the project's tests/dll.
func Source() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(file))
}

// Reference returns the path of the reference DLL, compiled with options.
func (s *Set) Reference(t testing.TB, options ...string) string {
	t.Helper()
	return s.link(t, "reference", options, source{file: "reference.c"})
}

// Without returns the path of a reference DLL that lacks an entry point.
func (s *Set) Without(t testing.TB, entry string) string {
	t.Helper()
	return s.link(t, "without_"+entry, nil, source{"reference.c", []string{"-D" + entry + "=left_out"}})
}

// Rogue returns the path of a DLL with a fault in one entry point: see
// tests/dll/rogue.h. The file's name has both. An option -DANSWER=N describes the fault; all others are for the whole DLL.
func (s *Set) Rogue(t testing.TB, fault, entry string, options ...string) string {
	t.Helper()
	described := []string{"-DFAULT=" + strconv.Quote(fault), "-DWHERE=" + strconv.Quote(entry)}
	var others []string
	for _, option := range options {
		if strings.HasPrefix(option, "-DANSWER=") {
			described = append(described, option)
		} else {
			others = append(others, option)
		}
	}
	return s.link(t, "rogue_"+fault+"_"+entry, others, source{file: "rogue.c"}, source{file: "rogue_faults.c"}, source{"rogue_fault.c", described})
}

// source is a file of tests/dll, and compiler options for this file alone.
type source struct {
	file    string
	options []string
}

// link returns the path of lib<name>.so, made from sources and from the files that all DLLs have in common. Options that begin with -D
// or -f are for the compiler, all others for the linker.
func (s *Set) link(t testing.TB, name string, options []string, sources ...source) string {
	t.Helper()
	for _, common := range []string{"reference_walk.c", "reference_checks.c", "reference_log.c"} {
		sources = append(sources, source{file: common})
	}
	flags, args := slices.Clone(compilerFlags), []string{"-shared", "-pthread"}
	for _, option := range options {
		if strings.HasPrefix(option, "-D") || strings.HasPrefix(option, "-f") {
			flags = append(flags, option)
		} else {
			args = append(args, option)
		}
	}
	for _, one := range sources {
		object := strings.TrimSuffix(one.file, ".c") + ".o"
		path, err := s.make(object, slices.Concat(flags, one.options, []string{"-c", one.file}))
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	path, err := s.make("lib"+name+".so", args)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var compilerFlags = []string{"-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-fvisibility=hidden", "-pthread"}

// make returns the path of the file that gcc writes when it is called with args. Each file has a folder of its own.
func (s *Set) make(name string, args []string) (string, error) {
	key := strings.Join(args, "\x00") + "\x00" + name
	s.mu.Lock()
	build, ok := s.built[key]
	if !ok {
		path := filepath.Join(s.folder, strconv.Itoa(len(s.built)), name)
		build = sync.OnceValues(func() (string, error) { return path, compile(path, args) })
		s.built[key] = build
	}
	s.mu.Unlock()
	return build()
}

func compile(path string, args []string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	gcc := exec.Command("gcc", append([]string{"-o", path}, args...)...)
	gcc.Dir = Source()
	if out, err := gcc.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(gcc.Args, " "), err, out)
	}
	return nil
}
