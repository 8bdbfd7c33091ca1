//go:build live

package gdb

import (
	"os"
	"path/filepath"
	"testing"
)

// A program that uses MPI is a job of one rank where no launcher starts it, however it is named.
func TestStartedWithoutLauncher(t *testing.T) {
	t.Parallel()
	s := session(t)
	plain := s.program + " " + s.folder + " finish"
	rank := work.Helper + " rank -- " + plain
	s.Do("file " + s.program)
	s.Do("break measure")
	for _, command := range []string{plain, rank, s.script(t, "exec "+rank)} {
		s.Says("mpi-run "+command, "Attached 1 rank of started", "hit Breakpoint 1")
		s.Says("mpi-ranks", "breakpoint 1")
		s.Says("mpi-queues", "Rank 0 of 1")
		s.Says("mpi-continue", "[The launcher exited with code 07]")
		s.awaitNone(t)
	}
	s.Says("mpi-run -start", "main (")
	s.Do("kill")
	s.awaitNone(t)
}

// Ranks do not wait in MPI_Init for a launcher that nobody debugs, since a script has started it.
func TestStartedByScript(t *testing.T) {
	t.Parallel()
	s := session(t)
	s.Do("file " + s.program)
	s.Do("break measure")
	s.Says("mpi-run "+s.script(t, s.command("finish")+"\nexit 4"), "Attached 3 ranks", "hit Breakpoint 1")
	s.Do("delete")
	s.Says("mpi-continue", "[The launcher exited with code 04]")
	s.awaitNone(t)
}

// TestStartedWithOddNames checks that a job gets the working folder and the environment of gdb's user as they are, whose bytes
// need not be UTF-8.
func TestStartedWithOddNames(t *testing.T) {
	folder, value := filepath.Join(t.TempDir(), "a\xff"), "\xfc: two\nlines"
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ODD", value)
	s := session(t)
	s.Do("source " + s.script(t, "cd "+folder))
	s.Says("mpi-run "+s.script(t, `pwd > "$0.said"; printf %s "$ODD" >> "$0.said"; exec `+work.Helper+" rank -- "+s.program+" "+s.folder+" finish"), "[The launcher exited with code 07]")
	got, err := os.ReadFile(filepath.Join(s.folder, "script.said"))
	if want := folder + "\n" + value; err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	s.awaitNone(t)
}

// script makes a script of some lines, and returns its path.
func (s started) script(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(s.folder, "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+lines+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
