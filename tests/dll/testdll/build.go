// Package testdll compiles the queue DLLs of tests/dll: the reference DLL, which reads the toy processes
// there and checks the debugger, and rogue DLLs.
package testdll

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Set is DLLs that tests share, each compiled when it is first asked for, into
// a folder of its own below one that the caller removes.
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
	return s.build(t, "reference", []string{"reference.c"}, options)
}

// Without returns the path of a reference DLL that lacks an entry point.
func (s *Set) Without(t testing.TB, entry string) string {
	t.Helper()
	return s.build(t, "without_"+entry, []string{"reference.c"}, []string{"-D" + entry + "=left_out"})
}

// Rogue returns the path of a DLL with a fault in one entry point: see
// tests/dll/rogue.h. The file's name has both.
func (s *Set) Rogue(t testing.TB, fault, entry string, options ...string) string {
	t.Helper()
	options = append([]string{"-DFAULT=" + strconv.Quote(fault), "-DWHERE=" + strconv.Quote(entry)}, options...)
	return s.build(t, "rogue_"+fault+"_"+entry, []string{"rogue.c", "rogue_faults.c"}, options)
}

// build compiles lib<name>.so from sources and what all DLLs have in common.
func (s *Set) build(t testing.TB, name string, sources, options []string) string {
	t.Helper()
	key := name + " " + strings.Join(options, " ")
	s.mu.Lock()
	build, ok := s.built[key]
	if !ok {
		folder := filepath.Join(s.folder, strconv.Itoa(len(s.built)))
		build = sync.OnceValues(func() (string, error) { return compile(folder, name, sources, options) })
		s.built[key] = build
	}
	s.mu.Unlock()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func compile(folder, name string, sources, options []string) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(folder, "lib"+name+".so")
	args := []string{"-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", "-o", path}
	args = append(append(args, options...), sources...)
	args = append(args, "reference_walk.c", "reference_checks.c", "reference_log.c")
	gcc := exec.Command("gcc", args...)
	gcc.Dir = Source()
	if out, err := gcc.CombinedOutput(); err != nil {
		return "", fmt.Errorf("gcc %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return path, nil
}
