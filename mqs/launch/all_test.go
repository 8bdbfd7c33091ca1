package launch

import (
	"slices"
	"testing"
)

func TestAll(t *testing.T) {
	for name, c := range map[string]struct {
		processes []madeUp
		want      []string
	}{
		"Open MPI's, with a spawned one": {prterun, []string{
			"prterun 20 of 2: 0=31 1=32 others [40]", "prterun 20 of 2: 0=40 others [31 32]", " 0 of 2: 0=50"}},
		"hydra's": {hydra, []string{
			"mpiexec.hydra 20 of 2: 0=32 1=31 others [41 42 43]", "mpiexec.hydra 20 of 2: 0=41 1=42 others [31 32 43]", "mpiexec.hydra 20 of 2: 0=43 others [31 32 41 42]"}},
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
