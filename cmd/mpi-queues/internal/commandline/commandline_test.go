package commandline

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"mpiexec -n 4 ./a.out":                       {"mpiexec", "-n", "4", "./a.out"},
		`A=1 mpiexec -n 4 "./a b" 'c d' e\ f`:        {"A=1", "mpiexec", "-n", "4", "./a b", "c d", "e f"},
		"mpiexec <in -n 2 ./a 2>&1 >out x 2> err y9": {"mpiexec", "-n", "2", "./a", "x", "y9"},
		`srun "a\"b" # comment`:                      {"srun", `a"b`},
	} {
		got, isSimple := words(line)
		var texts []string
		for _, w := range got {
			texts = append(texts, w.text)
		}
		if !slices.Equal(texts, want) || !isSimple {
			t.Errorf("%s: %q, %v", line, texts, isSimple)
		}
	}
	for _, line := range []string{"a | b", "a; b", "a && b", "(a)"} {
		if _, isSimple := words(line); isSimple {
			t.Errorf("%s is one command", line)
		}
	}
}

const slurmHelp = `Usage: srun [OPTIONS(0)... [executable(0) [args(0)...]]]

Parallel run options:
  -A, --account=name          charge job to specified account
      --export=environment_vars|NONE   environment variables passed to launched application
      --het-group=value       hetjob component allocation(s) in which to launch
  -K, --kill-on-bad-exit      kill the job if any task terminates with a
                              non-zero exit code
  -l, --label                 prepend task number to lines of stdout/err
      --nice[=value]          decrease scheduling priority by value
  -n, --ntasks=ntasks         number of tasks to run
  -N, --nodes=N               number of nodes on which to run (N = min[-max])
  -u, --unbuffered            do not line-buffer stdout/err
  -v, --verbose               verbose mode (multiple -v's increase verbosity)
`

func TestPrograms(t *testing.T) {
	for _, c := range []struct {
		arguments  func(string) (int, bool)
		line, want string
	}{
		{hydra, "-n 4 ./a.out -n 5", "-n 4 X ./a.out -n 5"},
		{hydra, "-genv A 1 -l -np 2 ./a : -env B 2 -n 1 ./b c", "-genv A 1 -l -np 2 X ./a : -env B 2 -n 1 X ./b c"},
		{hydra, "-ppn=2 -n 2 ./a", "-ppn=2 -n 2 X ./a"},
		{srun(slurmHelp), "-n4 --label -N 2 --nice ./a --x", "-n4 --label -N 2 --nice X ./a --x"},
		{srun(slurmHelp), "-lun 4 --export=ALL ./a", "-lun 4 --export=ALL X ./a"},
		{srun(slurmHelp), "--export ALL -vv ./a", "--export ALL -vv X ./a"},
	} {
		s := syntax{c.arguments, ":"}
		all, _ := words(c.line)
		places, err := s.programs(all)
		got := c.line
		for i := len(places) - 1; i >= 0; i-- {
			got = got[:places[i]] + "X " + got[places[i]:]
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v", c.line, got, err)
		}
	}
	if _, err := (&syntax{srun(slurmHelp), ":"}).programs([]word{{"--nonesuch", 0}, {"./a", 11}}); err == nil {
		t.Error("an option that is not known is passed over")
	}
}
