//go:build matrix

// Package mpich tests mpi-queues on MPICH as its users have it: with the programs of tests/programs and
// of MPICH's own test suite, on builds that differ for a debugger, and on the distribution's stripped
// build. Nothing is skipped.
package mpich

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// variant is a build of tests/mpich/build.
type variant struct {
	live.MPICHBuild
	prefix string // where it is installed
	work   *live.Workspace
	// provider is libfabric's that all messages go through, empty where shared memory has those inside a node.
	provider string
	// through is this build with all messages going through a provider, by the provider.
	through map[string]*variant
	// bare is this build with its library stripped, and isStripped is true of that.
	bare       *variant
	isStripped bool
}

// inTurn says whether it is the variant's turn to show the nth of many things: one build
// of either device does, and that over UCX.
func (v *variant) inTurn(n int) bool {
	return v.IsOverUCX() || v.DebuggerSupport == ((n%2 == 0) != v.IsCH4())
}

// record writes down what a test has shown of the variant.
func (v *variant) record(t *testing.T, check, outcome string) {
	t.Helper()
	build := v.Device
	if !v.IsOverUCX() {
		build, _, _ = strings.Cut(build, ":") // the usual netmod
	}
	layout := "DWARF"
	switch {
	case v.isStripped:
		build, layout = build+", stripped", "embedded tables"
	case v.DebuggerSupport:
		build += ", --enable-debuginfo"
	default:
		build += ", types only"
	}
	if v.provider != "" {
		build += ", " + v.provider
	}
	v.work.Record(t, result.Result{MPI: v.work.MPI.Release(t), Build: build, Layout: layout, Check: check, Outcome: outcome})
}

var (
	work     *live.Workspace
	variants []*variant
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
	for _, b := range live.MPICHBuilds {
		v := &variant{MPICHBuild: b, prefix: b.Prefix(cache)}
		if v.work, err = work.With(b.Name, b.MPI(cache)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		variants = append(variants, v)
	}
	return m.Run()
}
