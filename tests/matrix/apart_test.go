//go:build matrix

package matrix

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// apart is a gdb on the first of two hosts, each of which gets two ranks of a job.
type apart struct {
	*live.Session
	t               *testing.T
	program, folder string
}

// endings are what ends a job, and the argument of its program.
var endings = map[string]struct {
	argument string
	end      func(*apart)
}{
	"by itself": {"finish", func(s *apart) {
		out := ""
		for range 4 {
			if out += s.Do("mpi-continue"); strings.Contains(out, "[The launcher exited with code 07]") {
				return
			}
		}
		s.t.Errorf("the job does not end:\n%s", out)
	}},
	"interrupted": {"wait", func(s *apart) {
		s.hangs()
		s.Type("\x03")
		s.Await(live.Prompt)
		s.Says("mpi-queues -all", "Pending receives", "Rank 1 of 4", "In MPI_Recv on MPI_COMM_WORLD")
		s.Send("quit")
		s.End()
	}},
	"killed": {"wait", func(s *apart) { s.Do("kill inferiors 1 2") }},
	"with gdb": {"wait", func(s *apart) {
		s.hangs()
		live.Kill(s.t, s.PID())
	}},
}

// Ranks on another host run without a debugger, and say so. The job ends as any other does, and
// nothing of it is left on either host, whatever ends it. The other host is Slurm's third node, of
// tests/matrix/slurm.
func TestSlurmApart(t *testing.T) {
	for _, c := range slurm {
		t.Run(c.name, func(t *testing.T) {
			c.mpi.Launcher = []string{"srun", "--mpi=" + c.plugin, "--partition=apart"}
			w, err := work.With("slurm-apart-"+c.name, c.mpi)
			if err != nil {
				t.Fatal(err)
			}
			t.Run("jobs", func(t *testing.T) {
				for name, c := range endings {
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						s := sitDown(t, w, "TMPDIR=/tmp")
						s.starts(strings.Join(w.MPI.Launcher, " ")+" -N 2 -n 4 --ntasks-per-node=2", c.argument, "Ranks 2-3 are on n3:")
						if rows := s.Do("mpi-ranks"); !elsewhere.MatchString(rows) {
							t.Errorf("ranks 2 and 3 are not on n3:\n%s", rows)
						}
						c.end(s)
						live.NothingRuns(t, s.program, s.folder)
					})
				}
				t.Run("all elsewhere", func(t *testing.T) {
					t.Parallel()
					s := sitDown(t, w, "TMPDIR=/tmp")
					s.Says(strings.Join([]string{"mpi-run", strings.Join(w.MPI.Launcher, " "), "-w n3 -n 2", s.program, s.folder, "wait"}, " "),
						"No rank of the job runs on this machine, and gdb debugs only those that do: ranks 0-1 are on n3.")
					live.NothingRuns(t, s.program, s.folder)
				})
			})
			untilNoStep(t)
		})
	}
}

// The same goes for launchers that start a daemon on each host by a program like ssh. They do not say
// where the other ranks are.
func TestApart(t *testing.T) {
	t.Parallel()
	agent := otherHost(t)
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for name, mpi := range map[string]live.MPI{
		"openmpi": withLauncher(live.OpenMPI, "mpirun.openmpi", "--allow-run-as-root", "--host", here+":2,elsewhere:2"),
		"mpich":   withLauncher(live.StockMPICH, "mpiexec.mpich", "-launcher", "ssh", "-launcher-exec", agent, "-hosts", here+",elsewhere", "-ppn", "2"),
	} {
		w, err := work.With("apart-"+name, mpi)
		if err != nil {
			t.Fatal(err)
		}
		for ending, c := range endings {
			t.Run(name+" "+ending, func(t *testing.T) {
				s := sitDown(t, w, "OMPI_MCA_plm_rsh_agent="+agent, "PRTE_MCA_plm_ssh_agent="+agent, "OMPI_MCA_btl_tcp_if_include=lo")
				s.starts(strings.Join(mpi.Launcher, " ")+" -n 4", c.argument, "Ranks 2-3 of 4 are not on this machine:")
				c.end(s)
				live.NothingRuns(t, s.program, s.folder)
			})
		}
	}
}

func withLauncher(mpi live.MPI, launcher ...string) live.MPI {
	mpi.Launcher = launcher
	return mpi
}

// otherHost makes what is as another machine: it has a host name, processes and a folder for temporary
// files of its own, in which there is only the workspace. It returns the path of a program that
// starts commands there, as ssh does.
func otherHost(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("only root can make hosts")
	}
	folder, err := os.MkdirTemp(work.Folder, "elsewhere-")
	if err != nil {
		t.Fatal(err)
	}
	ready, agent := filepath.Join(folder, "ready"), filepath.Join(folder, "agent")
	cmd := exec.Command("unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--propagation", "unchanged", "sh", "-ec", `
		mount --make-rprivate / 2>/dev/null || true # unless it is none of its own, and private already
		hostname elsewhere
		mkdir "$0/tmp"
		mount -t tmpfs tmpfs "$0/tmp"
		mkdir -p "$0/tmp/${1#"$2"/}"
		mount --bind "$1" "$0/tmp/${1#"$2"/}"
		mount --rbind "$0/tmp" "$2"
		mount -t tmpfs tmpfs /dev/shm
		mount -t proc proc /proc
		touch "$0/ready"
		sleep infinity & wait`, folder, work.Folder, filepath.Clean(os.TempDir()))
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		live.Kill(t, cmd.Process.Pid)
		<-ended
	})
	live.Until(t, "for the other host", func() bool {
		select {
		case <-ended:
			t.Fatalf("there is no other host: %s", said.String())
		default:
		}
		return live.Exists(ready)
	})
	text := fmt.Sprintf("#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nshift\nexec nsenter --target %d --mount --uts --ipc --pid --root --wd=/ sh -c \"$*\"\n",
		procfs.Host.Children(cmd.Process.Pid)[0])
	if err := os.WriteFile(agent, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return agent
}

// elsewhere are the rows of two ranks.
var elsewhere = regexp.MustCompile(`\n  2     -         n3 +\d+ +not attached *\r?\n  3     -         n3 +\d+ +not attached`)

// sitDown starts a gdb whose temporary folder is not the other host's.
func sitDown(t *testing.T, w *live.Workspace, env ...string) *apart {
	t.Helper()
	folder, err := os.MkdirTemp(w.Folder, "job-")
	if err != nil {
		t.Fatal(err)
	}
	s := &apart{w.StartSession(t, live.Nothing(), env...), t, w.Program(t, "tests/programs/started.c"), folder}
	s.Do("file " + s.program)
	s.Do("break measure")
	return s
}

// starts starts a job of which only the ranks of this host are debugged, and stops them in measure.
func (s *apart) starts(launcher, argument, says string) {
	s.t.Helper()
	out := s.Says(strings.Join([]string{"mpi-run", launcher, s.program, s.folder, argument}, " "),
		" on elsewhere starts without a debugger: nobody waits for it there",
		"Attached 2 ranks of ", "inferiors 1-2 are ranks 0-1.", says, "hit Breakpoint 1")
	if n := strings.Count(out, "starts without a debugger"); n != 2 {
		s.t.Errorf("%d ranks start without a debugger:\n%s", n, out)
	}
	if strings.Contains(out, "have come to the debugger within") {
		s.t.Errorf("it is waited for ranks that never come:\n%s", out)
	}
}

// hangs lets the job run until all of its ranks hang.
func (s *apart) hangs() {
	s.t.Helper()
	s.Do("delete")
	s.Send("mpi-continue")
	live.Until(s.t, "for all ranks to wait", func() bool {
		names, err := filepath.Glob(filepath.Join(s.folder, "ready-*"))
		return err == nil && len(names) == 4
	})
}
