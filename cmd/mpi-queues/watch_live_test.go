//go:build live

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/demo"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// A job that hangs is reported on and ended, and the last line names the culprit.
func TestWatchHang(t *testing.T) {
	j := deadlock(t)
	folder := filepath.Join(t.TempDir(), "hang")
	s := command(t, "watch", "--every", "100ms", "--hang-after", "1s", "--report", folder, "--kill", strconv.Itoa(j.PIDs[1]))
	s.ends(t, exitHang)
	lines := strings.Split(strings.TrimSpace(s.out.String()), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "Culprit: Rank 0 waits in MPI_Recv (deadlock.c:50) for a message from rank 1 with tag 7") {
		t.Errorf("the last line is %q", last)
	}
	says(t, &s.out, "Deadlock. Ranks 0-2 wait for each other", "Stacks")
	for _, name := range []string{"report.txt", "report.html", "report.json", "queues.json", "rank-0.mpiq", "rank-1.mpiq"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
	for _, files := range [][]string{{"queues.json"}, {"rank-0.mpiq", "rank-1.mpiq"}} {
		for i := range files {
			files[i] = filepath.Join(folder, files[i])
		}
		again := command(t, slices.Concat([]string{"report"}, files)...)
		again.ends(t, 0)
		says(t, &again.out, "rank 0 waits for rank 1: receive from rank 1, tag 7")
	}
	for _, pid := range append(j.PIDs, j.Launcher.Process.Pid) {
		until(t, "the end of process "+strconv.Itoa(pid), func() bool { return tracee.HasEnded(pid) })
	}
}

// TestWatchUnread checks that a job that hangs is ended also if whoever reads the report has gone, or has stopped reading.
func TestWatchUnread(t *testing.T) {
	for name, isGone := range map[string]bool{"gone": true, "stopped": false} {
		t.Run(name, func(t *testing.T) {
			j := deadlock(t)
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = reader.Close() }()
			var full int // bytes in the pipe before
			if isGone {
				_ = reader.Close()
			} else {
				for buffer := make([]byte, 4<<10); ; full += len(buffer) {
					_ = writer.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
					if _, err := writer.Write(buffer); err != nil {
						break
					}
				}
			}
			s := command(t, "watch", "--every", "100ms", "--hang-after", "500ms", "--kill", strconv.Itoa(j.Launcher.Process.Pid))
			s.Stdout, s.Stderr = writer, writer
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			_ = writer.Close()
			if isGone {
				s.ends(t, exitHang)
			}
			for _, pid := range append(j.PIDs, j.Launcher.Process.Pid) {
				until(t, "the end of process "+strconv.Itoa(pid), func() bool { return tracee.HasEnded(pid) })
			}
			if !isGone {
				text, _ := io.ReadAll(reader)
				s.ends(t, exitHang)
				says(t, bytes.NewBuffer(text[full:]), "the job hangs", "Deadlock. Ranks 0-2 wait for each other", "the job is ended", "Culprit: Rank 0")
			}
		})
	}
}

// slow compiles the program of that name.
func slow(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("testdata/slow.c")
	if err != nil {
		t.Fatal(err)
	}
	tools, _, err := demo.FindTools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "slow")
	if err := tools.Compile(t.Context(), program, source); err != nil {
		t.Fatal(err)
	}
	return program
}

// mpirun is the command line of a job of two ranks.
func mpirun(program, folder string) []string {
	return []string{"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1", "-n", "2", program, folder}
}

// A job that is slow is looked at as often as that is due, and is left alone.
func TestWatchSlow(t *testing.T) {
	program, folder := slow(t), t.TempDir()
	line := mpirun(program, folder)
	launcher := exec.Command(line[0], line[1:]...)
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = launcher.Process.Kill(); _ = launcher.Wait() })
	var pids []int
	until(t, "the ranks to be ready", func() bool {
		files, _ := os.ReadDir(folder)
		pids = nil
		for _, f := range files {
			pid, _ := strconv.Atoi(f.Name())
			pids = append(pids, pid)
		}
		return len(pids) == 2
	})
	s := command(t, "watch", "--every", "100ms", "--hang-after", "1s", "--kill", strconv.Itoa(launcher.Process.Pid))
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		for _, traced := range []bool{true, false} {
			until(t, "a look", func() bool { p, err := tracee.Read(pids[0]); return err == nil && traced == (p.Tracer != 0) })
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = launcher.Wait()
	s.ends(t, 0)
	if s.out.Len() > 0 {
		t.Errorf("it says\n%s", &s.out)
	}
}

// A job that is started and ends gives its status, and one that is interrupted ends with the watch.
func TestWatchCommand(t *testing.T) {
	program := slow(t)
	line := func(folder string) []string { return append([]string{"watch", "--"}, mpirun(program, folder)...) }
	command(t, line("/nowhere")...).ends(t, 7)

	folder := t.TempDir()
	s := command(t, line(folder)...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	until(t, "a rank", func() bool {
		files, err := os.ReadDir(folder)
		if err != nil || len(files) == 0 {
			return false
		}
		pid, err = strconv.Atoi(files[0].Name())
		return err == nil
	})
	if line, err := procfs.Host.CommandLine(pid); err != nil || line[0] != program {
		t.Errorf("the rank is %q, %v", line, err)
	}
	_ = s.Process.Signal(unix.SIGTERM)
	_ = s.Wait()
	if s.ProcessState.ExitCode() <= 0 || s.ProcessState.ExitCode() == exitHang {
		t.Errorf("the exit status is %d:\n%s", s.ProcessState.ExitCode(), &s.err)
	}
	until(t, "the job's end", func() bool { return tracee.HasEnded(pid) })
}
