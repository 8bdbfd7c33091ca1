//go:build live

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/demo"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

func TestDemo(t *testing.T) {
	s := command(t, "demo")
	s.ends(t, 0)
	says(t, &s.out, "Open MPI and a C compiler", "mpirun", "gdb -p ", "Rank 0 of 3", "Rank 1 of 3", "Rank 2 of 3",
		"Deadlock. Ranks 0-2 wait for each other", "deadlock.c:", "the one that has come from rank 1 has tag 8")
	if bytes.Contains(s.out.Bytes(), []byte("recording")) || s.err.Len() > 0 {
		t.Errorf("it did not show the program itself:\n%s%s", &s.out, &s.err)
	}
	if found := processesIn(t, s.tmp); len(found) > 0 {
		t.Errorf("left behind: %v", found)
	}
}

func TestDemoInterrupted(t *testing.T) {
	s := command(t, "demo")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the ranks", func() bool { return len(processesIn(t, s.tmp)) >= demo.Ranks })
	if err := s.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	s.ends(t, 1)
	says(t, &s.err, "mpi-queues: interrupted; the demo's processes and files are gone")
	if found := processesIn(t, s.tmp); len(found) > 0 {
		t.Errorf("left behind: %v", found)
	}
}

// TestDemoKilled kills the demo: what it can't end itself must end with it.
func TestDemoKilled(t *testing.T) {
	s := command(t, "demo")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the ranks", func() bool { return len(processesIn(t, s.tmp)) >= demo.Ranks })
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.ends(t, killed)
	until(t, "the ranks to end", func() bool { return len(processesIn(t, s.tmp)) == 0 })
}

// processesIn are the processes whose program is in a folder.
func processesIn(t *testing.T, folder string) []int {
	t.Helper()
	all, err := procfs.Host.Processes()
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, pid := range all {
		if program, err := procfs.Host.Program(pid); err == nil && strings.HasPrefix(program, folder+"/") {
			found = append(found, pid)
		}
	}
	return found
}
