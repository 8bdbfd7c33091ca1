package launch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// shape writes a job in a line: its launcher, its ranks with what is known of each, and so on.
func shape(j *Job) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d of %d:", j.Name, j.Launcher, j.Size.Value)
	for _, r := range j.Ranks {
		fmt.Fprintf(&b, " %d=%d", r.Number.Value, r.PID)
		if r.Host != "" {
			b.WriteString("@" + r.Host)
		}
		if r.Exited {
			b.WriteString("!")
		}
	}
	if j.Self != nil {
		fmt.Fprintf(&b, " self %d", j.Self.Number.Value)
	}
	if j.Others != nil {
		fmt.Fprintf(&b, " others %v", j.Others)
	}
	return b.String()
}

func pmixEnv(job, rank string) string {
	return "PMIX_NAMESPACE=" + job + " PMIX_RANK=" + rank + " OMPI_COMM_WORLD_RANK=" + rank + " OMPI_COMM_WORLD_SIZE=2"
}

func pmiEnv(rank, fd string) string {
	return "HYDI_CONTROL_FD=7 PMI_RANK=" + rank + " PMI_FD=" + fd + " PMI_SIZE=2"
}

func slurmEnv(rank, node string) string {
	return "SLURM_JOB_ID=5 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=4 SLURM_PROCID=" + rank + " SLURMD_NODENAME=" + node
}

// Programs of ranks, in the order of what they do without.
var (
	prterun = []madeUp{
		{pid: 10, parent: 1, name: "bash"},
		{pid: 20, parent: 10, name: "prterun"},
		{pid: 30, parent: 20, name: "sh", env: pmixEnv("n@1", "1"), program: "/bin/sh"},
		{pid: 31, parent: 20, name: "prog", env: pmixEnv("n@1", "0"), program: "/prog", isMPI: true},
		{pid: 32, parent: 30, name: "prog", env: pmixEnv("n@1", "1"), program: "/prog", isMPI: true},
		{pid: 33, parent: 31, name: "sleep", env: pmixEnv("n@1", "0"), program: "/bin/sleep"},
		{pid: 40, parent: 20, name: "child", env: pmixEnv("n@2", "0"), program: "/child", isMPI: true},
		{pid: 50, parent: 1, name: "other", env: pmixEnv("m@1", "0"), program: "/other"},
	}
	hydra = []madeUp{
		{pid: 10, parent: 1, name: "mpirun"}, // a script, as Intel's
		{pid: 20, parent: 10, name: "mpiexec.hydra"},
		{pid: 21, parent: 20, name: "hydra_pmi_proxy", env: "HYDI_CONTROL_FD=7"},
		{pid: 22, parent: 20, name: "hydra_pmi_proxy", env: "HYDI_CONTROL_FD=9"},
		{pid: 31, parent: 22, name: "prog", env: pmiEnv("1", "6")},
		{pid: 32, parent: 21, name: "prog", env: pmiEnv("0", "6")},
		{pid: 40, parent: 20, name: "hydra_pmi_proxy"},
		{pid: 41, parent: 40, name: "one", env: "PMI_SPAWNED=1 PMI_SIZE=2 PMI_RANK=0 PMI_FD=6"},
		{pid: 42, parent: 40, name: "one", env: "PMI_SPAWNED=1 PMI_SIZE=2 PMI_RANK=1 PMI_FD=8"},
		{pid: 43, parent: 40, name: "two", env: "PMI_SPAWNED=1 PMI_SIZE=2 PMI_RANK=0 PMI_FD=9"},
	}
	slurmNode = []madeUp{
		{pid: 20, parent: 1, name: "slurmstepd"},
		{pid: 21, parent: 1, name: "slurmstepd"},
		{pid: 31, parent: 20, name: "prog", env: slurmEnv("0", "n1") + " PMI_RANK=0"},
		{pid: 32, parent: 21, name: "prog", env: slurmEnv("1", "n2") + " PMI_RANK=1"},
	}
	// A job inside a shell that is a rank of Slurm's.
	inStep = []madeUp{
		{pid: 20, parent: 1, name: "slurmstepd"},
		{pid: 21, parent: 20, name: "bash", env: slurmEnv("0", "n1"), program: "/bin/bash"},
		{pid: 22, parent: 21, name: "prterun", env: slurmEnv("0", "n1"), program: "/bin/prterun"},
		{pid: 31, parent: 22, name: "prog", env: slurmEnv("0", "n1") + " " + pmixEnv("n@1", "0"), isMPI: true},
		{pid: 32, parent: 22, name: "prog", env: slurmEnv("0", "n1") + " " + pmixEnv("n@1", "1"), isMPI: true},
	}
)

// The daemons of this machine tell how many ranks of a job are here, also of those that have yet to be
// started.
func TestRanksHere(t *testing.T) {
	hydraOf := func(here string) []madeUp {
		env := func(rank string) string { return strings.Replace(pmiEnv(rank, "6"), "SIZE=2", "SIZE=9", 1) }
		return []madeUp{
			{pid: 20, parent: 1, name: "mpiexec.hydra"},
			{pid: 21, parent: 20, name: "hydra_pmi_proxy", env: "HYDI_CONTROL_FD=7"},
			{pid: 22, parent: 20, name: "hydra_pmi_proxy", env: "HYDI_CONTROL_FD=9"},
			{pid: 31, parent: 21, name: "prog", env: env("0") + " MPI_LOCALNRANKS=2"},
			{pid: 32, parent: 21, name: "prog", env: env("1") + " MPI_LOCALNRANKS=2"},
			{pid: 33, parent: 22, name: "prog", env: env("2") + here},
		}
	}
	slurmOf := func(counts, node string) []madeUp {
		return []madeUp{{pid: 31, parent: 1, name: "prog", env: slurmEnv("0", "n1") + " SLURM_STEP_TASKS_PER_NODE=" + counts + " SLURM_NODEID=" + node}}
	}
	prte := []madeUp{{pid: 31, parent: 1, name: "prog", env: pmixEnv("n@1", "0") + " OMPI_COMM_WORLD_LOCAL_SIZE=3"}}
	table := []madeUp{
		{pid: 20, parent: 1, name: "mpirun", table: []entry{{"here", "/prog", 31}, {"far", "/prog", 31}, {"here", "/prog", 32}}},
		{pid: 31, parent: 20, name: "prog", program: "/prog"},
	}
	alone := []madeUp{{pid: 31, parent: 1, name: "prog", isMPI: true}}
	for _, c := range []struct {
		name      string
		processes []madeUp
		want      mqs.Maybe[int32]
	}{
		{"PRRTE", prte, mqs.Known[int32](3)},
		{"two daemons", hydraOf(" MPI_LOCALNRANKS=3"), mqs.Known[int32](5)},
		{"a daemon that says nothing", hydraOf(""), mqs.Maybe[int32]{}},
		{"Slurm, one number", slurmOf("2", "0"), mqs.Known[int32](2)},
		{"Slurm, first nodes", slurmOf("2(x3),1", "2"), mqs.Known[int32](2)},
		{"Slurm, last node", slurmOf("2(x3),1", "3"), mqs.Known[int32](1)},
		{"Slurm, no such node", slurmOf("2(x3),1", "4"), mqs.Maybe[int32]{}},
		{"Slurm, nonsense", slurmOf("2(y3),1", "0"), mqs.Maybe[int32]{}},
		{"table", table, mqs.Known[int32](2)},
		{"alone", alone, mqs.Known[int32](1)},
	} {
		j, err := machine(t, c.processes...).find(31)
		if err != nil || j.Here != c.want {
			t.Errorf("%s: %+v, %v", c.name, j, err)
		}
	}
}

func TestFindByEnvironment(t *testing.T) {
	for _, c := range []struct {
		name      string
		processes []madeUp
		pid       int
		want      string
	}{
		{"launcher", prterun, 20, "prterun 20 of 2: 0=31 1=32 others [40]"},
		{"above the launcher", prterun, 10, "prterun 20 of 2: 0=31 1=32 others [40]"},
		{"rank", prterun, 32, "prterun 20 of 2: 0=31 1=32 self 1 others [40]"},
		{"wrapper", prterun, 30, "prterun 20 of 2: 0=31 1=32 self 1 others [40]"},
		{"child of a rank", prterun, 33, "prterun 20 of 2: 0=31 1=32 self 0 others [40]"},
		{"spawned", prterun, 40, "prterun 20 of 2: 0=40 self 0 others [31 32]"},
		{"launcher gone", prterun, 50, " 0 of 2: 0=50 self 0"},
		{"hydra", hydra, 20, "mpiexec.hydra 20 of 2: 0=32 1=31 others [41 42 43]"},
		{"hydra's script", hydra, 10, "mpiexec.hydra 20 of 2: 0=32 1=31 others [41 42 43]"},
		{"hydra's daemon", hydra, 22, "mpiexec.hydra 20 of 2: 0=32 1=31 others [41 42 43]"},
		{"rank of hydra's", hydra, 31, "mpiexec.hydra 20 of 2: 0=32 1=31 self 1 others [41 42 43]"},
		{"spawned by hydra", hydra, 42, "mpiexec.hydra 20 of 2: 0=41 1=42 self 1 others [31 32 43]"},
		{"spawned by hydra later", hydra, 43, "mpiexec.hydra 20 of 2: 0=43 self 0 others [31 32 41 42]"},
		{"Slurm, without srun", slurmNode, 31, "slurmstepd 20 of 2: 0=31 1=32 self 0"},
		{"launcher in a step", inStep, 22, "prterun 22 of 2: 0=31 1=32"},
		{"rank in a step", inStep, 32, "prterun 22 of 2: 0=31 1=32 self 1"},
		{"shell in a step", inStep, 21, "prterun 22 of 2: 0=31 1=32"},
		{"singleton", []madeUp{{pid: 10, parent: 1, name: "prog", isMPI: true}}, 10, " 0 of 1: 0=10 self 0"},
		{"script of a batch job", []madeUp{{pid: 10, parent: 1, name: "script", env: "SLURM_JOB_ID=5 SLURM_PROCID=0"},
			{pid: 11, parent: 10, name: "prog", env: "SLURM_JOB_ID=5 SLURM_PROCID=0", isMPI: true}}, 11, " 0 of 1: 0=11 self 0"},
		{"forks", []madeUp{{pid: 10, parent: 1, name: "mpirun"},
			{pid: 11, parent: 10, name: "time", env: pmixEnv("n", "0"), program: "/bin/time", isMPI: true},
			{pid: 12, parent: 11, name: "prog", env: pmixEnv("n", "0"), program: "/prog", isMPI: true},
			{pid: 13, parent: 12, name: "prog", env: pmixEnv("n", "0"), program: "/prog", isMPI: true}}, 10, "mpirun 10 of 2: 0=12"},
		{"stripped and static", []madeUp{{pid: 10, parent: 1, name: "mpirun"},
			{pid: 11, parent: 10, name: "sh", env: pmixEnv("n", "0"), program: "/bin/sh"},
			{pid: 12, parent: 11, name: "prog", env: pmixEnv("n", "0"), program: "/prog"}}, 10, "mpirun 10 of 2: 0=12"},
		{"ended rank", []madeUp{{pid: 10, parent: 1, name: "mpirun"},
			{pid: 11, parent: 10, name: "prog", env: pmixEnv("n", "0"), state: "Z"},
			{pid: 12, parent: 10, name: "prog", env: pmixEnv("n", "1")}}, 10, "mpirun 10 of 2: 1=12"},
		{"hydra at a port", []madeUp{{pid: 10, parent: 1, name: "proxy"},
			{pid: 11, parent: 10, name: "prog", env: "PMI_PORT=h:1 PMI_ID=3"}}, 10, "proxy 10 of 0: 3=11"},
	} {
		j, err := machine(t, c.processes...).find(c.pid)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := shape(j); got != c.want {
			t.Errorf("%s: %s\n  want %s", c.name, got, c.want)
		}
	}
}

// TestOtherJobs checks that one process of each job that was spawned is named, in the order in which the jobs were started.
func TestOtherJobs(t *testing.T) {
	for pid, want := range map[int][]int{20: {41, 43}, 43: {32, 41}} {
		j, err := machine(t, hydra...).find(pid)
		if err != nil || !slices.Equal(j.OtherJobs, want) {
			t.Errorf("%d: %v, %v, want %v", pid, j, err, want)
		}
	}
	if j, err := machine(t, inStep...).find(22); err != nil || j.OtherJobs != nil {
		t.Errorf("%+v, %v", j, err)
	}
}

// Any rank can be the one that has started the others (MPIR process acquisition interface), mostly rank 0 (IBM's poe and
// MPICH 1): it holds the table, and is in it.
func TestFindOwnStarter(t *testing.T) {
	for starter, ranks := range []string{"0=31 1=32", "0=32 1=31"} {
		table := []entry{{"here", "/home/prog", 32}, {"here", "/home/prog", 32}, {"far", "/home/prog", 33}, {"here", "/home/prog", 34}}
		table[starter].pid = 31
		for name, env := range map[string]func(rank int) string{
			"without variables": func(int) string { return "" },
			"with seats":        func(rank int) string { return pmixEnv("n@1", strconv.Itoa(rank)) },
		} {
			processes := []madeUp{
				{pid: 10, parent: 1, name: "bash", program: "/bin/bash"},
				{pid: 31, parent: 10, name: "prog", table: table, env: env(starter), program: "/home/prog", isMPI: true},
				{pid: 32, parent: 31, name: "prog", env: env(1 - starter), program: "/home/prog", isMPI: true},
				{pid: 33, parent: 10, name: "other", program: "/bin/other"},
				{pid: 34, parent: 31, name: "sh", env: env(3), program: "/bin/sh"},
				{pid: 35, parent: 34, name: "prog", env: env(3), program: "/home/prog", isMPI: true},
			}
			last := "3=34"
			if env(0) != "" {
				last = "3=35"
			}
			for pid, self := range map[int]int{31: starter, 32: 1 - starter} {
				j, err := machine(t, processes...).find(pid)
				if err != nil {
					t.Errorf("starter %d, %s, %d: %v", starter, name, pid, err)
				} else if got, want := shape(j), fmt.Sprintf("prog 31 of 4: %s 2=33@far %s self %d", ranks, last, self); got != want {
					t.Errorf("starter %d, %s, %d: %s\n  want %s", starter, name, pid, got, want)
				}
			}
		}
	}
}

func TestFindByTable(t *testing.T) {
	table := []entry{{"here", "prog", 31}, {"n2", "prog", 32}, {"here", "prog", 33}, {"far", "prog", 31}, {"here", "prog", 35},
		{"here", "prog", 36}, {"here", "prog", 37}}
	processes := []madeUp{
		{pid: 20, parent: 1, name: "srun", table: table, program: "/bin/srun"},
		{pid: 21, parent: 20, name: "srun", program: "/bin/srun"},
		{pid: 30, parent: 1, name: "slurmstepd"},
		{pid: 31, parent: 30, name: "sh", env: slurmEnv("0", "n1"), program: "/bin/sh"},
		{pid: 32, parent: 30, name: "prog", env: slurmEnv("1", "n2"), program: "/prog"},
		{pid: 34, parent: 31, name: "prog", env: slurmEnv("0", "n1"), program: "/prog", isMPI: true},
		{pid: 35, parent: 30, name: "prog", env: slurmEnv("2", "n1"), program: "/prog"}, // another's number now
		{pid: 36, parent: 1, name: "cat", program: "/bin/cat"},                          // the same
		{pid: 37, parent: 1, name: "prog", program: "/opt/prog"},                        // with an environment of its own
	}
	const want = "srun 20 of 7: 0=34 1=32 2=33! 3=31@far 4=35! 5=36! 6=37"
	for _, pid := range []int{20, 21} {
		j, err := machine(t, processes...).find(pid)
		if err != nil {
			t.Fatal(err)
		}
		if got := shape(j); got != want {
			t.Errorf("%d: %s\n  want %s", pid, got, want)
		}
		if got := j.Ranks[0].Executable; got != "/prog" {
			t.Errorf("rank 0 runs %s", got)
		}
	}
	// From a rank up to a launcher with a table, which knows the wrapper.
	processes = []madeUp{
		{pid: 20, parent: 1, name: "mpirun", table: []entry{{"here", "sh", 31}, {"far", "sh", 31}, {"here", "prog", 33}}},
		{pid: 31, parent: 20, name: "sh", env: pmixEnv("7", "0"), program: "/bin/sh"},
		{pid: 32, parent: 31, name: "prog", env: pmixEnv("7", "0"), program: "/prog", isMPI: true},
		{pid: 33, parent: 20, name: "prog", program: "/prog", isMPI: true}, // with an environment of its own
		{pid: 40, parent: 20, name: "spawned", env: pmixEnv("8", "0"), program: "/prog", isMPI: true},
	}
	for pid, want := range map[int]string{
		20: "mpirun 20 of 3: 0=32 1=31@far 2=33 others [40]",
		31: "mpirun 20 of 3: 0=32 1=31@far 2=33 self 0 others [40]",
		32: "mpirun 20 of 3: 0=32 1=31@far 2=33 self 0 others [40]",
		33: "mpirun 20 of 3: 0=32 1=31@far 2=33 self 2 others [40]",
		40: "mpirun 20 of 2: 0=40 self 0 others [32]",
	} {
		j, err := machine(t, processes...).find(pid)
		if err != nil {
			t.Fatal(err)
		}
		if got := shape(j); got != want {
			t.Errorf("%d: %s\n  want %s", pid, got, want)
		}
	}
}

func TestFindNothing(t *testing.T) {
	s := machine(t, append(slices.Clone(prterun),
		madeUp{pid: 60, parent: 50, name: "ended", state: "Z"},
		madeUp{pid: 61, parent: 1, name: "root's", denied: true},
		madeUp{pid: 62, parent: 10, name: "mpirun"},
		madeUp{pid: 63, parent: 62, name: "prog", env: pmixEnv("k@1", "0")},
		madeUp{pid: 64, parent: 1, name: "a\x1b[2Jb"})...)
	for pid, want := range map[int][]string{
		99: {"there is no process 99"},
		60: {"process 60 (ended) has ended"},
		61: {"process 61 (root's)", "can't be read (permission denied)", "use sudo"},
		64: {"process 64 (a\ufffd[2Jb) is neither the launcher of an MPI job nor one of its ranks", "Name the process id of mpirun"},
		10: {"process 10 (bash) is above several MPI jobs", "prterun (process 20), mpirun (process 62)"},
	} {
		j, err := s.find(pid)
		if err == nil {
			t.Errorf("%d: %s", pid, shape(j))
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%d: %v\n  lacks %q", pid, err, part)
			}
		}
		var several *SeveralError
		if errors.As(err, &several) != (pid == 10) {
			t.Errorf("%d: %T", pid, err)
		}
	}
}

func TestSameName(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"node1", "node1", true}, {"node1", "node1.example.org", true}, {"node1.example.org", "node1", true},
		{"node1.example.org", "node1.example.com", false}, {"node1", "node10", false}, {"10.0.0.1", "10", false}, {"", "", false},
	} {
		if got := sameName(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %t", c.a, c.b, got)
		}
	}
	isHere := ownNames()
	for host, want := range map[string]bool{"": true, "localhost": true, "LOCALHOST.": true, "127.0.0.1": true, "127.3.2.1": true, "::1": true,
		"no-such-host.example": false, "192.0.2.77": false} {
		if got := isHere(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}
