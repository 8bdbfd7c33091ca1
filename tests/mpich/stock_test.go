//go:build matrix

package mpich

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// stock is the distribution's own MPICH.
var stock = live.StockMPICH

// A program that is linked with the distribution's static library, which has symbols but no
// types, is read by the embedded tables.
func TestStaticByTable(t *testing.T) {
	t.Parallel()
	w, err := work.With("static", live.MPI{Compiler: staticCompiler(t), Launcher: stock.Launcher, Kind: expect.Library{MPI: "MPICH", Device: "ch4:ucx", Transport: "UCX"}})
	if err != nil {
		t.Fatal(err)
	}
	release := stock.Release(t)
	w.Record(t, result.Result{MPI: release, Build: live.System(t) + ", libmpich.a", Layout: "embedded tables", Check: "live", Outcome: "equal"})
	job := w.Start(t, "queues", 3, nil)
	for _, account := range job.Accounts {
		r := w.ReadRecorded(t, live.Process(account.PID))
		p := r.Process(t)
		if p["layout"] != "table" || p["layout_name"] != release {
			t.Fatalf("read by the %v of %v", p["layout"], p["layout_name"])
		}
		live.Report(t, w.MPI.Kind.Fidelity().Compare(account, p))
		r.Replays(t, w)
	}
}

// staticCompiler writes a compiler that links with the static library.
func staticCompiler(t *testing.T) string {
	t.Helper()
	flags, err := exec.Command("mpicc.mpich", "-link_info").Output()
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, f := range strings.Fields(string(flags))[1:] {
		if f == "-lmpich" {
			f = "-l:libmpich.a -l:libucp.so.0 -l:libuct.so.0 -l:libucm.so.0 -l:libucs.so.0 -l:libhwloc.so.15 -l:libfabric.so.1 -lm -lrt -ldl -lpthread"
		}
		words = append(words, f)
	}
	include, err := exec.Command("mpicc.mpich", "-compile_info").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields(string(include)) {
		if strings.HasPrefix(f, "-I") {
			words = append(words, f)
		}
	}
	path := filepath.Join(t.TempDir(), "mpicc")
	script := "#!/bin/sh\nexec gcc \"$@\" " + strings.Join(words, " ") + "\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func parse(t *testing.T, path, said string) expect.Object {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; gdb says:\n%s", err, said)
	}
	d, err := expect.ParseDocument(text)
	if err != nil || len(d.Processes) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	return d.Processes[0]
}
