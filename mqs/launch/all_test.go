package launch

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
)

func TestAll(t *testing.T) {
	for name, c := range map[string]struct {
		processes []madeUp
		want      []string
	}{
		"Open MPI's, with a spawned one": {prterun, []string{
			"prterun 20 of 2: 0=31 1=32", "prterun 20 of 2: 0=40", " 0 of 2: 0=50"}},
		"hydra's": {hydra, []string{
			"mpiexec.hydra 20 of 2: 0=32 1=31", "mpiexec.hydra 20 of 2: 0=41 1=42", "mpiexec.hydra 20 of 2: 0=43"}},
		"of Slurm's, not known to use MPI":  {slurmNode, []string{"slurmstepd 20 of 2: 0=31 1=32"}},
		"in a shell that is a step":         {inStep, []string{"prterun 22 of 2: 0=31 1=32"}},
		"a step that has nothing of MPI's":  {[]madeUp{{pid: 20, parent: 1, name: "slurmstepd"}, {pid: 21, parent: 20, name: "prog", env: slurmEnv("0", "n1")}}, nil},
		"a program without a launcher, yet": {[]madeUp{{pid: 10, parent: 1, name: "prog", isMPI: true}}, nil},
		"none":                              {[]madeUp{{pid: 10, parent: 1, name: "bash"}}, nil},
	} {
		var got []string
		for _, j := range machine(t, c.processes...).jobs(0) {
			got = append(got, shape(j))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Other users' jobs are no processes that one may debug.
func TestAllOfOneUser(t *testing.T) {
	s := machine(t, of(func(p *madeUp) {
		if p.pid == 50 {
			p.uid = 7
		}
	}, prterun...)...)
	var got []string
	for _, j := range s.jobs(7) {
		got = append(got, shape(j))
	}
	if !slices.Equal(got, []string{" 0 of 2: 0=50"}) {
		t.Errorf("%q", got)
	}
}

// TestManyJobs lists many made-up jobs of one user: some side by side, some started by one shell, and each inside a step of Slurm.
// tests/growth runs it to check that the work grows in proportion to the number of jobs.
func TestManyJobs(t *testing.T) {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("MPI_QUEUES_TEST_SIZE"), "100"))
	if err != nil {
		t.Fatal(err)
	}
	processes := []madeUp{{pid: 20, parent: 1, name: "bash"}}
	for i := range n / 3 {
		pid := 30 + 3*i
		processes = append(processes,
			madeUp{pid: pid, parent: 20, name: "sleep", env: pmixEnv(fmt.Sprint("n", i), "0")},
			madeUp{pid: pid + 1, parent: 20, name: "sh", env: fmt.Sprintf("SLURM_JOB_ID=%d SLURM_STEP_ID=0 SLURM_PROCID=0 PMI_RANK=0", i)},
			madeUp{pid: pid + 2, parent: pid + 1, name: "sleep", env: pmixEnv(fmt.Sprint("m", i), "0")})
	}
	s := machine(t, processes...)
	if all := s.jobs(0); len(all) != n/3*2 {
		t.Errorf("%d jobs of %d", len(all), n/3*2)
	}
	if j, err := s.find(20); err != nil || j.Launcher != 20 {
		t.Errorf("%+v, %v", j, err)
	}
	if j, err := s.find(30); err != nil || len(j.Others) != n/3*2-1 {
		t.Errorf("%+v, %v", j, err)
	}
}
