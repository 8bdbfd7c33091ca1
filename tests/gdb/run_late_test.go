//go:build live

package gdb

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A rank that is late is not waited for any longer, and becomes an inferior when it comes. The others are woken for it, and
// go on where they were, though they step over a breakpoint all the time.
func TestStartedLateRank(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits until the others are not waited for any longer")
	}
	for mode, flag := range map[string]string{"all-stop": "", "non-stop": "-non-stop"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := started{work.StartSession(t, live.Nothing()), work.Program(t, "tests/programs/late.c"), t.TempDir()}
			exists := func(name string) bool {
				_, err := os.Stat(filepath.Join(s.folder, name))
				return err == nil
			}
			write := func(path string) {
				t.Helper()
				if err := os.WriteFile(path, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			agent, come := filepath.Join(s.folder, "agent"), filepath.Join(s.folder, "come")
			text := "#!/bin/sh\n[ $OMPI_COMM_WORLD_RANK != 2 ] || while ! [ -e " + come + " ]; do sleep 0.1; done\n" +
				"exec " + work.Helper + " rank -- \"$@\"\n"
			if err := os.WriteFile(agent, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			s.Do("file " + s.program)
			s.Do("break here if 0")
			s.Do("break MPI_Finalize")
			s.Do("python import mpi_queues.run; mpi_queues.run._SECONDS = 30")
			s.Says("mpi-run -start "+flag+" env OMPI_MCA_orte_fork_agent="+agent+" PRTE_MCA_odls_base_exec_agent="+agent+" "+s.command(""),
				"of the job's 3 ranks have come to the debugger within 30s", "could not be attached: it is not held for the debugger")
			s.Says("mpi-ranks", "not attached, it is not held for the debugger")
			s.Send("mpi-continue")
			live.Until(t, "for a rank at the breakpoint", func() bool { return exists("ready") })
			write(come)
			s.Await("is rank 2.")
			write(filepath.Join(s.folder, "go"))
			s.Await("hit Breakpoint 2")
			if flag != "" {
				// Each rank stops by itself, and the late one too.
				s.Await("hit Breakpoint 2")
				s.Await("hit Breakpoint 2")
			}
			if exists("again") {
				t.Error("a rank has come to main twice")
			}
		})
	}
}
