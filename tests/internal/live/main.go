//go:build live || matrix || full

package live

import (
	"fmt"
	"os"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/hosts"
)

// Main is the TestMain of a package that runs jobs: it makes a workspace, has the package get ready with it, runs the tests and
// ends the process with their status.
func Main(m *testing.M, ready func(*Workspace) error) {
	hosts.Main()
	os.Exit(run(m, ready))
}

func run(m *testing.M, ready func(*Workspace) error) int {
	w, err := New()
	if err == nil {
		defer w.Close()
		err = ready(w)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Keep returns a function for [Main] that does no more than keep the workspace.
func Keep(work **Workspace) func(*Workspace) error {
	return func(w *Workspace) error {
		*work = w
		return nil
	}
}
