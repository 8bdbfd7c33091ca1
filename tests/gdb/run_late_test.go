//go:build live

package gdb

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A rank that is late is not waited for any longer, and becomes an inferior when it comes.
func TestStartedLateRank(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits until the others are not waited for any longer")
	}
	t.Parallel()
	s := started{work.StartSession(t, live.Nothing()), work.Program(t, "tests/programs/started.c"), t.TempDir()}
	agent, come := filepath.Join(s.folder, "agent"), filepath.Join(s.folder, "come")
	text := "#!/bin/sh\n[ $OMPI_COMM_WORLD_RANK != 2 ] || while ! [ -e " + come + " ]; do sleep 0.1; done\n" +
		"exec " + work.Helper + " rank -- \"$@\"\n"
	if err := os.WriteFile(agent, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	s.Do("file " + s.program)
	s.Do("break measure")
	s.Do("python import mpi_queues.run; mpi_queues.run._SECONDS = 30")
	s.Says("mpi-run -start env OMPI_MCA_orte_fork_agent="+agent+" "+s.command("finish"),
		"of the job's 3 ranks have come to the debugger within 30s", "could not be attached: it is not held for the debugger")
	s.Says("mpi-ranks", "not attached, it is not held for the debugger")
	if err := os.WriteFile(come, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.Says("mpi-continue", "is rank 2.", "attached before")
}
