package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// young makes a /proc with a process 7 in a state, which was started at so many ticks, at 100 s after boot.
func young(t *testing.T, state string, started int) procfs.FS {
	t.Helper()
	f := procfs.FS(t.TempDir())
	if err := os.MkdirAll(f.Path(7), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(string(f), "uptime"): "100.00 50.00\n",
		f.Path(7, "stat"):                  fmt.Sprintf("7 (mpirun) %s 5 7 7 0 -1 4194560 1 2 3 4 100 23 0 0 20 0 1 0 %d 8 9\n", state, started),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// TestAwait checks that a launcher which has just been started is waited for until it has started its ranks, and that nothing
// else is waited for.
func TestAwait(t *testing.T) {
	neither := machineError(t)
	job := func(ranks, here int32) func() (*Job, error) {
		return func() (*Job, error) { return &Job{Ranks: make([]Rank, ranks), Here: mqs.Known(here)}, nil }
	}
	isNeither := func() (*Job, error) { return nil, neither }
	fails := func() (*Job, error) { return nil, errors.New("another") }
	self := func() (*Job, error) { return &Job{Self: &Rank{}, Here: mqs.Known[int32](2)}, nil }
	for name, c := range map[string]struct {
		proc  procfs.FS
		finds []func() (*Job, error)
		looks int
	}{
		"a launcher that starts":    {young(t, "S", 9990), []func() (*Job, error){isNeither, job(1, 2), job(2, 2)}, 3},
		"an old process":            {young(t, "S", 10), []func() (*Job, error){isNeither}, 0},
		"a process of the future":   {young(t, "S", 10010), []func() (*Job, error){isNeither}, 0},
		"a process that is stopped": {young(t, "t", 9990), []func() (*Job, error){isNeither}, 0},
		"another error":             {young(t, "S", 9990), []func() (*Job, error){fails}, 1},
		"a rank":                    {young(t, "S", 9990), []func() (*Job, error){self}, 1},
		"no process":                {procfs.FS(t.TempDir()), nil, 0},
	} {
		looks := 0
		await(t.Context(), c.proc, 7, func() (*Job, error) { looks++; return c.finds[looks-1]() })
		if looks != c.looks {
			t.Errorf("%s: %d looks, want %d", name, looks, c.looks)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	await(ctx, young(t, "S", 9990), 7, isNeither) // ends
}

// machineError is the error on a process that is no launcher.
func machineError(t *testing.T) error {
	t.Helper()
	_, err := machine(t, madeUp{pid: 20, parent: 1, name: "mpirun"}).find(20)
	if err == nil {
		t.Fatal("it is a launcher")
	}
	return err
}
