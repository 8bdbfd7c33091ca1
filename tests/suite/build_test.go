//go:build matrix || full

package suite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// program is one of the suite, as its list says that it is run.
type program struct {
	folder, name string
	ranks        int
	args         []string
}

// folders are the parts of the suite whose programs take part.
var folders = []string{
	"attr", "coll", "comm", "datatype", "errhan", "group", "info", "init", "io", "pt2pt", "rma", "topo",
	"threads/coll", "threads/comm", "threads/pt2pt", "threads/rma",
}

// mostRanks is what a small machine can run.
const mostRanks = 4

// programs are those of the lists that are one source file each, need no setting of
// MPICH's, and are expected to pass. Of several lines of a program, the first that fits counts.
func programs(t *testing.T) []program {
	t.Helper()
	var out []program
	for _, folder := range folders {
		lists, err := filepath.Glob(filepath.Join(source, folder, "testlist*"))
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		for _, list := range lists {
			switch filepath.Base(list) {
			case "testlist", "testlist.in":
			default:
				continue // for hardware, and for generated types
			}
			text, err := os.ReadFile(list)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				p, ok := parse(folder, line)
				if ok && !slices.Contains(seen, p.name) && live.Exists(filepath.Join(source, folder, p.name+".c")) {
					seen = append(seen, p.name)
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

func parse(folder, line string) (p program, ok bool) {
	words := strings.Fields(line)
	if len(words) < 2 {
		return p, false
	}
	p = program{folder: folder, name: words[0]}
	var err error
	if p.ranks, err = strconv.Atoi(words[1]); err != nil || p.ranks < 2 || p.ranks > mostRanks {
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
	return path, c.compile("-o", path, filepath.Join(source, p.folder, p.name+".c"),
		c.path("mtest.o"), c.path("mtest_common.o"), c.path(threads+".o"), c.path("dtypes.o"), "-lm")
}
