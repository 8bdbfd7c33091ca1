//go:build matrix || full

package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// program is one of the suite, as its list says that it is run.
type program struct {
	folder, name string
	// source is its file, and defines are the compiler's flags that make it this one of those
	// that share the file.
	source  string
	defines []string
	ranks   int
	args    []string
	// spawns is true of one that starts further processes.
	spawns bool
}

func (p *program) String() string { return p.folder + " " + p.name }

// folders are the parts of the suite whose programs take part.
var folders = []string{
	"attr", "coll", "comm", "datatype", "errhan", "group", "info", "init", "io", "part", "pt2pt", "rma", "spawn", "topo",
	"threads/coll", "threads/comm", "threads/init", "threads/part", "threads/pt2pt", "threads/rma", "threads/spawn",
}

// mostRanks is what a small machine can run.
const mostRanks = 4

// programs are those of the lists that are one source file each, need no
// setting of MPICH's, and are expected to pass. A program is there for each line that it has.
func programs(t *testing.T) []program {
	t.Helper()
	var out []program
	for _, folder := range folders {
		variables := makefile(filepath.Join(source, folder, "Makefile.am"))
		for _, list := range []string{"testlist", "testlist.in"} { // others are for hardware, and for generated types
			text, err := os.ReadFile(filepath.Join(source, folder, list))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if p, ok := parse(folder, line); ok && p.find(variables) {
					out = append(out, p)
				}
			}
		}
	}
	if len(out) < 200 {
		t.Fatalf("the suite in %s has %d programs", source, len(out))
	}
	return out
}

// makefile reads the variables of a file for Automake, as words.
func makefile(path string) map[string][]string {
	text, _ := os.ReadFile(path) // without one, sources are called as their programs are
	out := map[string][]string{}
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		if name, words, ok := strings.Cut(line, "="); ok {
			out[strings.TrimSpace(name)] = strings.Fields(words)
		}
	}
	return out
}

// find finds a program's source file. ok is false if there is more than one, or none.
func (p *program) find(variables map[string][]string) (ok bool) {
	files := variables[p.name+"_SOURCES"]
	if len(files) == 0 {
		files = []string{p.name + ".c"}
	}
	p.source = filepath.Join(source, p.folder, files[0])
	for _, flag := range variables[p.name+"_CPPFLAGS"] {
		if strings.HasPrefix(flag, "-D") {
			p.defines = append(p.defines, flag)
		}
	}
	text, err := os.ReadFile(p.source)
	p.spawns = strings.Contains(string(text), "MPI_Comm_spawn")
	return err == nil && len(files) == 1 && (p.ranks > 1 || p.spawns)
}

func parse(folder, line string) (p program, ok bool) {
	words := strings.Fields(line)
	if len(words) < 2 {
		return p, false
	}
	p = program{folder: folder, name: words[0]}
	var err error
	if p.ranks, err = strconv.Atoi(words[1]); err != nil || p.ranks < 1 || p.ranks > mostRanks {
		return p, false
	}
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "arg":
			p.args = append(p.args, value)
		case "timeLimit":
		default: // xfail, mem, env, mpiversion, ...
			return p, false
		}
	}
	return p, true
}

// toolchain compiles for one MPI.
type toolchain struct {
	folder, compiler string
}

// flags of all that is compiled. Programs are optimised as little as their users' are
// when they look for a mistake.
var flags = []string{"-g", "-O1", "-w", "-pthread"}

func (c *toolchain) compile(args ...string) error {
	args = slices.Concat(flags, []string{"-I", work.Root + "/tests/suite/testdata", "-I", source + "/include"}, args)
	if out, err := exec.Command(c.compiler, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", c.compiler, strings.Join(args, " "), err, out)
	}
	return nil
}

func (c *toolchain) path(name string) string { return filepath.Join(c.folder, name) }

// prepare compiles what programs are linked with, and the library that is preloaded.
func (c *toolchain) prepare() error {
	for _, name := range []string{"mtest", "mtest_common", "mtest_single", "mtest_thread", "dtypes"} {
		if err := c.compile("-c", "-o", c.path(name+".o"), filepath.Join(source, "util", name+".c")); err != nil {
			return err
		}
	}
	return c.compile("-fPIC", "-shared", "-o", c.path("again.so"), filepath.Join(work.Root, "tests", "suite", "testdata", "again.c"), "-ldl")
}

// build compiles a program. That an MPI lacks what it calls is no error of anyone.
func (c *toolchain) build(p program) (string, error) {
	path := c.path(strings.ReplaceAll(p.folder, "/", "-") + "-" + p.name)
	threads := "mtest_single"
	if strings.HasPrefix(p.folder, "threads/") {
		threads = "mtest_thread"
	}
	return path, c.compile(slices.Concat(p.defines, []string{"-o", path, p.source,
		c.path("mtest.o"), c.path("mtest_common.o"), c.path(threads + ".o"), c.path("dtypes.o"), "-lm"})...)
}
