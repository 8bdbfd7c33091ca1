//go:build matrix

// Package mpich tests mpi-queues on MPICH as its users have it: with the programs of tests/programs and
// of MPICH's own test suite, on builds that differ for a debugger, and on the distribution's stripped
// build. Nothing is skipped.
package mpich

import (
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

// result is what a test writes down of the variant, but for its check and outcome.
func (v *variant) result(t *testing.T) result.Result {
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
	return result.Result{MPI: v.work.MPI.Release(t), Build: build, Layout: layout}
}

// record writes down what a test has shown of the variant.
func (v *variant) record(t *testing.T, check, outcome string) {
	t.Helper()
	r := v.result(t)
	r.Check, r.Outcome = check, outcome
	v.work.Record(t, r)
}

// row is the variant with the programs that are chosen.
func (v *variant) row(t *testing.T, name string, runs func(p live.Program) bool) live.Row {
	t.Helper()
	r := live.Row{Workspace: v.work, Name: name, Library: v.work.MPI.Kind, Result: v.result(t), Shown: map[string]any{"layout": "dwarf"}, Runs: runs}
	r.Result.Outcome = "equal"
	if v.isStripped {
		r.Shown["layout"] = "table"
	}
	return r
}

var (
	work     *live.Workspace
	variants []*variant
)

func TestMain(m *testing.M) {
	live.Main(m, func(w *live.Workspace) error {
		work = w
		cache, err := live.Built("./build")
		if err != nil {
			return err
		}
		for _, b := range live.MPICHBuilds {
			v := &variant{MPICHBuild: b, prefix: b.Prefix(cache)}
			if v.work, err = work.With(b.Name, b.MPI(cache)); err != nil {
				return err
			}
			variants = append(variants, v)
		}
		return nil
	})
}
