//go:build matrix

// Package wheels tests mpi-queues on the MPI libraries that `pip install' brings: stripped, without build-ids and
// queue DLLs, and with network libraries of their own.
package wheels

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

var (
	folder string // below it the wheels' environments
	work   *live.Workspace
)

func TestMain(m *testing.M) {
	live.Main(m, func(w *live.Workspace) (err error) {
		work = w
		folder, err = live.Built("./fetch")
		return err
	})
}

// wheel is a workspace for a wheel of an MPI.
func wheel(t *testing.T, name string, mpi live.MPI) *live.Workspace {
	t.Helper()
	w, err := work.With(strings.ReplaceAll(t.Name(), "/", "-")+"-"+name, mpi.In(filepath.Join(folder, name)))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// mpich is what MPICH's wheel is, but for its folder.
func mpich() live.MPI {
	m := live.StockMPICH
	m.Kind = expect.Library{MPI: "MPICH", Device: "ch4:ucx", Transport: "UCX", Stripped: true}
	return m
}
