//go:build live

package gdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A gdb on the launcher's host attaches to the ranks of both hosts, finds the deadlock that a report finds, in its
// words, and lets go of all of them. Options choose ranks.
func TestAttachToHosts(t *testing.T) {
	t.Parallel()
	s := work.Spread(t, live.OverAgent, "deadlock", "send-ring", 3)
	s.Via = ""
	report := s.Deadlocked(t, fmt.Sprintf("report %d", s.Launcher))
	launcher := s.LauncherName(t)
	attach := func(options string) string { return fmt.Sprintf("mpi-attach %s %d", options, s.Launcher) }

	all := s.GDB(t, attach(""), "mpi-ranks", "mpi-deadlock -all", "mpi-detach", "info inferiors", "info connections",
		"show sysroot", "show remotetimeout", "maint show target-non-stop")
	all.Contains(t, fmt.Sprintf("Attached 3 ranks of %s (process %d): inferiors 1-3 are ranks 0-2.", launcher, s.Launcher),
		"Rank 1 is on "+live.SecondHost+".\n", strings.TrimSpace(report), "Detached 3 processes, which go on running.", "No connections.",
		`The current system root is "target:".`, "Timeout limit to wait for target to respond is 2.", "non-stop mode is auto")
	s.NothingIsLeft(t)

	s.ByMPIRun(t)
	byLauncher := s.GDB(t, attach("-hosts "+strings.Join(s.Names, ",")+" -via mpirun"), "mpi-detach")
	byLauncher.Contains(t, "Attached 3 ranks of "+launcher, "Detached 3 processes")
	s.NothingIsLeft(t)
	s.Via, s.Env = "", ""

	one := s.GDB(t, attach("-ranks 1,7"), "mpi-ranks", "mpi-continue 0", "mpi-detach")
	one.Contains(t, "warning: unknown rank 7", "Attached 1 rank of "+launcher, "inferior 1 is rank 1.", "Rank 0 is not attached.")
	s.NothingIsLeft(t)

	partners := s.GDB(t, attach("-ranks 1"), "mpi-attach -partners", "mpi-attach -partners", "mpi-detach")
	partners.Contains(t, "Attached 2 ranks of "+launcher, "2 ranks of "+launcher, "were attached before", "Detached 3 processes")
	s.NothingIsLeft(t)

	s.GDB(t, attach("-culprits"), "mpi-detach").Contains(t, "Attached 1 rank of "+launcher, "inferior 1 is rank 0.")
	s.GDB(t, attach("-via none"), "mpi-detach").Contains(t, "Attached 2 ranks of "+launcher, "Rank 1 ", ": `mpi-attach -hosts HOSTS")
	s.GDB(t, attach("-ranks 9")).Contains(t, "Unknown rank 9.")
	s.NothingIsLeft(t)

	// Left without a word, they run on as well, and also if gdb is killed.
	s.GDB(t, attach(""))
	s.NothingIsLeft(t)
	s.GDB(t, attach("-ranks 1"), "python gdb.flush()", "shell kill -9 $PPID").Contains(t, "inferior 1 is rank 1.")
	s.NothingIsLeft(t)

	if out, err := s.Command(live.SecondHost, "mount --bind /dev/null $(command -v gdbserver)").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	s.GDB(t, attach(""), "mpi-detach").Contains(t, "Attached 2 ranks of "+launcher, "inferior 1 is rank 0, inferior 2 is rank 2.",
		"Rank 1 could not be attached: there is no gdbserver in the folders of PATH there: install it.")
	s.NothingIsLeft(t)
}

// What is shown of ranks on other hosts agrees with what their programs say of themselves. Of a host whose files are
// others, gdb reads them from there.
func TestQueuesOfHosts(t *testing.T) {
	t.Parallel()
	s := work.Spread(t, live.OverAgent, "requests", "", 2)
	s.Via = ""
	for _, way := range []string{"the same files", "other files"} {
		t.Run(way, func(t *testing.T) {
			if way == "other files" {
				program := filepath.Join(t.TempDir(), "other")
				if err := os.WriteFile(program, []byte("not a program"), 0o755); err != nil {
					t.Fatal(err)
				}
				out, err := s.Command(live.FirstHost, fmt.Sprintf("mount --bind %s %s", program, work.Program(t, "tests/programs/requests.c"))).CombinedOutput()
				if err != nil {
					t.Fatal(err, string(out))
				}
			}
			folder := t.TempDir()
			commands := []string{fmt.Sprintf("mpi-attach -ranks 1 %d", s.Launcher)}
			commands = append(commands, "mpi-queues -json -output "+filepath.Join(folder, "json"), "mpi-detach")
			out := s.GDB(t, commands...)
			text, err := os.ReadFile(filepath.Join(folder, "json"))
			if err != nil {
				t.Fatal(err, out.All())
			}
			d, err := expect.ParseDocument(text)
			if err != nil || len(d.Processes) != 1 {
				t.Fatal(err, string(text))
			}
			live.Report(t, expect.Compare(s.Accounts[1], d.Processes[0]))
			if way == "other files" {
				out.Contains(t, "The files that rank 1 executes on "+live.SecondHost+" are not known to be those of this machine")
			}
			s.NothingIsLeft(t)
		})
	}
}
