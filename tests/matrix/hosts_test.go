//go:build matrix

package matrix

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/hosts"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A deadlock that crosses hosts is reported with the same words as on one host, by what the launcher has reached the other
// host with. Nothing is left there.
func TestApartReport(t *testing.T) {
	agent := otherHost(t)
	// It stays, and its command line tells who has reached which host.
	reach := agent + "-reach"
	if err := os.WriteFile(reach, fmt.Appendf(nil, "#!/bin/sh\n%s \"$@\"\n", agent), 0o755); err != nil {
		t.Fatal(err)
	}
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PRTE_MCA_plm_ssh_agent", reach)
	// Where nothing stays of what has reached it, the launcher's file tells the host.
	file := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(file, fmt.Appendf(nil, "%s slots=2 # this one\nelsewhere slots=2\n", here), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OMPI_MCA_btl_tcp_if_include", "lo")
	for name, mpi := range map[string]struct {
		live.MPI
		here, apart []string
	}{
		"openmpi": {withLauncher(live.OpenMPI, "mpirun.openmpi", "--allow-run-as-root"), []string{"--oversubscribe"}, []string{"--hostfile", file}},
		"mpich":   {withLauncher(live.StockMPICH, "mpiexec.mpich"), nil, []string{"-launcher", "ssh", "-launcher-exec", reach, "-hosts", here + ",elsewhere", "-ppn", "2"}},
	} {
		w, err := work.With("apart-report-"+name, mpi.MPI)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for _, where := range [][]string{mpi.here, mpi.apart} {
			t.Run(fmt.Sprint(name, " on ", map[bool]string{true: "two hosts", false: "one host"}[want != ""]), func(t *testing.T) {
				job := w.Launch(t, "deadlock", 3, append(where, "nice"), "recv-ring")
				job.AwaitReady(t, job.Folder, 3)
				got := ""
				live.Until(t, "for the deadlock", func() bool {
					got = string(w.Shell(t, "report", strconv.Itoa(job.Launcher())))
					return strings.HasPrefix(got, "Deadlock. ")
				})
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("on two hosts:\n%s\non one:\n%s", got, want)
				}
				noCollector(t)
			})
		}
	}
}

// noCollector fails the test if a collector is left, or its gdb. Those of other hosts can be seen from here, too.
func noCollector(t *testing.T) {
	t.Helper()
	pids, err := procfs.Host.Processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		words, err := procfs.Host.CommandLine(pid)
		if err != nil || len(words) == 0 {
			continue
		}
		if slices.Contains(words, "collect") || filepath.Base(words[0]) == "gdb" {
			t.Errorf("process %d is left: %s", pid, words)
		}
	}
}

// A deadlock of MPICH's that crosses hosts is reported as a whole: Hydra has no table of its ranks, and its daemons say
// whose they are.
func TestReportOfHostsMPICH(t *testing.T) {
	t.Parallel()
	w, err := work.With("hosts", live.StockMPICH)
	if err != nil {
		t.Fatal(err)
	}
	s := w.Spread(t, func(h *hosts.Hosts) []string {
		return []string{"-launcher ssh -launcher-exec", h.Agent, "-hosts", live.FirstHost + "," + live.SecondHost, "-ppn 1"}
	}, "deadlock", "send-ring", 3)
	report := fmt.Sprintf("report %d --hosts %s,%s", s.Launcher, live.FirstHost, live.SecondHost)
	want := s.Deadlocked(t, report)
	if !strings.Contains(want, "Ranks 0-2 wait for each other") || strings.Contains(want, "Not read") {
		t.Errorf("it says\n%s", want)
	}
	s.ByLauncher(t, "mpiexec", "mpiexec.mpich", "HYDRA_LAUNCHER=ssh", "HYDRA_LAUNCHER_EXEC="+s.Agent)
	if got := s.Deadlocked(t, report); got != want {
		t.Errorf("by mpiexec:\n%s\nand by an agent:\n%s", got, want)
	}
	attach := fmt.Sprintf("mpi-attach -hosts %s,%s -via mpiexec %d", live.FirstHost, live.SecondHost, s.Launcher)
	s.GDB(t, attach, "mpi-detach").Contains(t, "Attached 3 ranks of ", "Detached 3 processes")
	s.NothingIsLeft(t)
}

// So is one that Hydra has spread by a real ssh, which nobody has to name.
func TestReportOverSSHMPICH(t *testing.T) {
	t.Parallel()
	w, err := work.With("ssh", live.StockMPICH)
	if err != nil {
		t.Fatal(err)
	}
	const program, mode, ranks = "deadlock", "recv-ring", 3
	want := w.OnOneHost(t, program, mode, ranks)
	path := ""
	s := w.Spread(t, func(h *hosts.Hosts) []string {
		path = h.SSH(t)
		return []string{"-launcher ssh -launcher-exec", path + "/ssh", "-hosts", live.FirstHost + "," + live.SecondHost, "-ppn 1"}
	}, program, mode, ranks)
	s.Via, s.Env = "", "PATH="+path+":$PATH"
	if got := s.Deadlocked(t, fmt.Sprintf("report %d", s.Launcher)); got != want {
		t.Errorf("on two hosts:\n%s\non one:\n%s", got, want)
	}
	s.NothingIsLeft(t)
}
