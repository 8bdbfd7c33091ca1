//go:build live

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/demo"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
)

func TestDump(t *testing.T) {
	j := deadlock(t)
	dump := func(t *testing.T, code int, args ...string) *shell {
		t.Helper()
		s := command(t, append([]string{"dump"}, args...)...)
		s.ends(t, code)
		runOn(t, j.PIDs...)
		return s
	}

	t.Run("order", func(t *testing.T) {
		args := arguments(j)
		slices.Reverse(args)
		s := dump(t, 0, append(args, "--json")...)
		for k, p := range parse(t, &s.out).Processes {
			rank := demo.Ranks - 1 - k
			if p.Inferior != k+1 || p.PID != j.PIDs[rank] || p.GlobalRank != mqs.Known(int32(rank)) || p.Unavailable != "" {
				t.Errorf("process %d is inferior %d, process %d, rank %v: %s", k, p.Inferior, p.PID, p.GlobalRank, p.Unavailable)
			}
		}
		if s.err.Len() > 0 {
			t.Errorf("stderr:\n%s", &s.err)
		}
	})

	t.Run("view", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "out.txt")
		dump(t, 0, append(arguments(j), "--comm", "halo exchange", "--queue", "unexpected", "--output", file)...)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		says(t, bytes.NewBuffer(text), "halo exchange", "Unexpected messages", "524288")
		if bytes.Contains(text, []byte("MPI_COMM_WORLD")) || bytes.Contains(text, []byte("receives")) {
			t.Errorf("more than was asked for:\n%s", text)
		}
		s := dump(t, 1, arguments(j)[0], "--comm", `it's "one" \ more`)
		says(t, &s.err, `mpi-queues: no communicator has the name or id "it's \"one\" \\ more"; there are `)
	})

	t.Run("a vendor's DLL", func(t *testing.T) {
		pid := arguments(j)[0]
		s := dump(t, 0, "--source", "both", pid)
		says(t, &s.out, ", compared with ")
		path := parse(t, &dump(t, 0, "--json", "--source", "dll", pid).out).Processes[0].DLL
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("the DLL that was used: %v", err)
		}
		open := t.TempDir()
		other := filepath.Join(open, "libqueues.so")
		if err := os.WriteFile(other, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(open, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"dump", "report"} {
			s := command(t, name, "--source", "dll", "--dll", other, pid)
			_ = s.Run() // whether that is an error is of no matter here
			if all := s.out.String() + s.err.String(); !strings.Contains(all, "To trust it all the same: `--dll-safe-path "+open+"'") || strings.Contains(all, "set mpi-queues") {
				t.Errorf("%s says:\n%s", name, all)
			}
			s = command(t, name, "--source", "dll", "--dll", other, "--dll-safe-path", open, "--dll-timeout", "60", pid)
			s.ends(t, 0)
			if name == "dump" {
				says(t, &s.out, ", read by libqueues.so")
			}
		}
		runOn(t, j.PIDs...)
	})

	t.Run("others", func(t *testing.T) {
		other := exec.Command("sleep", "600")
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = other.Process.Kill(), other.Wait() }()
		pid := strconv.Itoa(other.Process.Pid)
		s := dump(t, 0, pid, arguments(j)[1], "999999999")
		says(t, &s.out, "does not use an MPI library", "Rank 1 of 3", "there is no process 999999999")
		s = dump(t, 1, pid)
		says(t, &s.err, "mpi-queues: ", "does not use an MPI library")
		runOn(t, other.Process.Pid)
	})

	t.Run("stopped", func(t *testing.T) {
		pid := j.PIDs[0]
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		stopped := func() bool { p, err := tracee.Read(pid); return err == nil && p.State == 'T' }
		until(t, "the process to stop", stopped)
		s := command(t, "dump", strconv.Itoa(pid))
		s.ends(t, 0)
		says(t, &s.out, "Rank 0 of 3")
		until(t, "the process to be stopped as before", stopped)
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		until(t, "the process to go on", func() bool { return !stopped() })
	})

	t.Run("core", func(t *testing.T) {
		core := saveCore(t, j.PIDs[1], filepath.Join(t.TempDir(), "core file"))
		s := dump(t, 0, "--core", j.Program, core)
		says(t, &s.out, "Rank 1 of 3", "isend", "irecv")
		s = dump(t, 1, "--core", core, j.Program)
		says(t, &s.err, "is not a core file (its ELF type is ET_")
	})
}

// saveCore writes a core file of a process, and returns its path.
func saveCore(t *testing.T, pid int, path string) string {
	t.Helper()
	gcore := exec.Command("gdb", "-nx", "-batch", "-p", strconv.Itoa(pid), "-ex", "gcore "+path)
	if out, err := gcore.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// pausing is a gdb that attaches to a process and then stands still, whatever
// it is told. It says so in the file that it returns.
func pausing(t *testing.T, pid int, ignore string) (gdb, attached string) {
	t.Helper()
	folder := t.TempDir()
	gdb, attached = filepath.Join(folder, "gdb"), filepath.Join(folder, "attached")
	script := fmt.Sprintf(`#!/bin/sh
exec gdb -nx -batch -ex 'attach %d' -ex 'python import signal, os' -ex 'python %s' \
  -ex 'python os.rename("%s", "%s")' -ex 'python while True: signal.pause()'
`, pid, ignore, attached+".new", attached)
	for path, text := range map[string]string{gdb: script, attached + ".new": ""} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return gdb, attached
}

// TestDumpInterrupted ends dump and gdb in the middle in all ways that there are.
func TestDumpInterrupted(t *testing.T) {
	j := deadlock(t)
	pid := j.PIDs[2]
	heedless := "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])"
	try := func(t *testing.T, ignore string, limit time.Duration) (s *shell, isAttached bool) {
		gdb, attached := pausing(t, pid, ignore)
		s = command(t, "dump", strconv.Itoa(pid), "--gdb", gdb, "--timeout", limit.String())
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "gdb to attach", func() bool {
			_, err := os.Stat(attached)
			isAttached = err == nil
			p, err := tracee.Read(s.Process.Pid)
			return isAttached || err != nil || p.State == 'Z'
		})
		return s, isAttached
	}
	start := func(t *testing.T, ignore string) *shell {
		s, isAttached := try(t, ignore, patience)
		if !isAttached {
			_ = s.Wait()
			t.Fatalf("gdb has not attached: %s", &s.err)
		}
		return s
	}
	tracer := func(t *testing.T) int {
		p, err := tracee.Read(pid)
		if err != nil || p.Tracer == 0 {
			t.Fatalf("nothing debugs process %d (%v)", pid, err)
		}
		return p.Tracer
	}

	for _, gdb := range []struct{ name, ignore string }{{"gdb heeds it", "pass"}, {"gdb does not heed it", heedless}} {
		t.Run("timeout, "+gdb.name, func(t *testing.T) {
			// The slower the machine, the longer it takes until gdb has attached.
			for limit := 2 * time.Second; ; limit *= 2 {
				s, isAttached := try(t, gdb.ignore, limit)
				s.ends(t, 1)
				if isAttached || limit > patience {
					says(t, &s.err, fmt.Sprintf("gdb made no progress within %s and was told to end: --timeout gives it more", limit))
					break
				}
			}
			runOn(t, pid)
		})
		t.Run("SIGINT, "+gdb.name, func(t *testing.T) {
			s := start(t, gdb.ignore)
			if err := s.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			s.ends(t, 1)
			says(t, &s.err, "mpi-queues: interrupted; the processes run on")
			runOn(t, pid)
		})
	}
	t.Run("gdb killed", func(t *testing.T) {
		s := start(t, "pass")
		if err := syscall.Kill(tracer(t), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		s.ends(t, 1)
		says(t, &s.err, "signal: killed")
		runOn(t, pid)
	})
	t.Run("dump killed", func(t *testing.T) {
		s := start(t, "pass")
		gdb := tracer(t)
		if err := s.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		s.ends(t, killed)
		until(t, "gdb to end", func() bool { p, err := tracee.Read(gdb); return err != nil || p.State == 'Z' })
		runOn(t, pid)
	})
	t.Run("debugged", func(t *testing.T) {
		s := start(t, "pass")
		second := command(t, "dump", strconv.Itoa(pid))
		second.ends(t, 1)
		says(t, &second.err, fmt.Sprintf("mpi-queues: process %d is being debugged already, by gdb (process %d)", pid, tracer(t)))
		if err := s.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		s.ends(t, 1)
		runOn(t, pid)
	})
}

// TestKilledInTheMiddle kills report while its gdb has attached to ranks and waits for it. gdb ends
// and lets the ranks go, also where the kernel does not tell it of the death: the socket does.
func TestKilledInTheMiddle(t *testing.T) {
	j := deadlock(t)
	deaf := filepath.Join(t.TempDir(), "gdb")
	if err := os.WriteFile(deaf, []byte("#!/bin/sh\nexec 3<&0\ngdb \"$@\" <&3 3<&- &\nwait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tracer := func(pid int) int {
		p, err := tracee.Read(pid)
		if err != nil {
			t.Fatal(err)
		}
		return p.Tracer
	}
	for _, gdb := range []string{"gdb", deaf} {
		for name, last := range map[string]int{"attaching": j.PIDs[0], "reading": j.PIDs[len(j.PIDs)-1]} {
			t.Run(filepath.Dir(gdb)+", "+name, func(t *testing.T) {
				s := command(t, "report", "--gdb", gdb, strconv.Itoa(j.Launcher.Process.Pid))
				if err := s.Start(); err != nil {
					t.Fatal(err)
				}
				until(t, "gdb to attach", func() bool { return tracer(last) != 0 })
				if err := s.Process.Signal(syscall.SIGSTOP); err != nil { // gdb gets no answer any more
					t.Fatal(err)
				}
				gdb := tracer(j.PIDs[0])
				if err := s.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				s.ends(t, killed)
				until(t, "gdb to end", func() bool { return gdb == 0 || tracee.HasEnded(gdb) })
				runOn(t, j.PIDs...)
			})
		}
	}
}
