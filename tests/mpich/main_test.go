//go:build matrix

// Package mpich tests the product on MPICH as its users have it: the programs
// of tests/programs and those of MPICH's own test suite, on builds that differ
// for a debugger, and on the distribution's stripped one. Nothing is skipped.
package mpich

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// variant is a build of tests/mpich/build.
type variant struct {
	name     string
	device   string // "ch3" or "ch4"
	debugger bool   // with debugger support
	ucx      bool   // all messages are left to UCX
	prefix   string // where it is installed
	work     *live.Workspace
}

// inTurn says whether it is the variant's turn to show the nth of many things: one build
// of either device does, and that over UCX.
func (v *variant) inTurn(n int) bool {
	return v.ucx || v.debugger == ((n%2 == 0) == (v.device == "ch3"))
}

// record writes down what a test has shown of the variant.
func (v *variant) record(t *testing.T, check, outcome string) {
	t.Helper()
	build := v.device + ", types only"
	if v.ucx {
		build = v.device + ":ucx, types only"
	}
	if v.debugger {
		build = v.device + ", --enable-debuginfo"
	}
	v.work.Record(t, result.Result{MPI: v.work.MPI.Release(t), Build: build, Layout: "DWARF", Check: check, Outcome: outcome})
}

var (
	work     *live.Workspace
	variants = []*variant{
		{name: "ch3-debug", device: "ch3", debugger: true},
		{name: "ch3", device: "ch3"},
		{name: "ch4-debug", device: "ch4", debugger: true},
		{name: "ch4", device: "ch4"},
		{name: "ch4-ucx", device: "ch4", ucx: true},
	}
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	cache, err := live.Built("./build")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if work, err = live.New(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer work.Close()
	for _, v := range variants {
		v.prefix = filepath.Join(cache, v.name)
		if v.work, err = work.With(v.name, live.MPICH(v.prefix)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}
