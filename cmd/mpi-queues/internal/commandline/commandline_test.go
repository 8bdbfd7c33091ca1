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
      --acctg-freq=<datatype>=<interval> accounting and profiling sampling
                              intervals. Supported datatypes:
                              task=<interval> energy=<interval>
      --compress[=library]    data compression library used with --bcast
      --container             Path to OCI container bundle
      --cpu-freq=min[-max[:gov]] requested cpu frequency (and governor)
  -d, --dependency=type:jobid[:time] defer job until condition on jobid is satisfied
  -D, --chdir=path            change remote current working directory
      --export=env_vars|NONE  environment variables passed to launcher with
                              optional values or NONE (pass no variables)
  -E, --preserve-env          env vars for node and task counts override
                              command-line flags
  -I, --immediate[=secs]      exit if resources not available in "secs"
      --het-group=value       hetjob component allocation(s) in which to launch
  -K, --kill-on-bad-exit      kill the job if any task terminates with a
                              non-zero exit code
  -l, --label                 prepend task number to lines of stdout/err
      --nice[=value]          decrease scheduling priority by value
  -n, --ntasks=ntasks         number of tasks to run
  -N, --nodes=N               number of nodes on which to run (N = min[-max])
  -u, --unbuffered            do not line-buffer stdout/err
      --pty[=fd]              run task zero in pseudo terminal [or in requested terminal given by fd]
      --switches=max-switches{@max-time-to-wait}
                              Optimum switches and max time to wait for optimum
  -v, --verbose               verbose mode (multiple -v's increase verbosity)
  -w, --nodelist=hosts...     request a specific list of hosts
      --mem-per-cpu=MB        maximum amount of real memory per allocated
                              cpu required by the job.
                              --mem >= --mem-per-cpu if --mem is specified.
  -B, --extra-node-info=S[:C[:T]]  combine request of sockets per node,
                              cores per socket and threads per core.
  -V, --version               output version information and exit
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
		{srun(slurmHelp), "-En 4 --acctg-freq task=1 --cpu-freq high -d after:1 ./a -n", "-En 4 --acctg-freq task=1 --cpu-freq high -d after:1 X ./a -n"},
		{srun(slurmHelp), "-I -D /tmp --pty --compress ./a", "-I -D /tmp --pty --compress X ./a"},
		{srun(slurmHelp), "-I5 -w n1,n2 --switches 2 -B 1:2 ./a", "-I5 -w n1,n2 --switches 2 -B 1:2 X ./a"},
		{srun(slurmHelp), "--container /c --cpu-bind none --ntasks-per-gpu 1 --mem-per-cpu 1 ./a", "--container /c --cpu-bind none --ntasks-per-gpu 1 --mem-per-cpu 1 X ./a"},
		{srun(slurmHelp), "-n1 ./a b : -n 3 ./c", "-n1 X ./a b : -n 3 X ./c"},
	} {
		s := syntax{c.arguments, ":", ""}
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
	for line, isRead := range map[string]bool{"--nonesuch ./a": false, "-n 2 --multi-prog file": true} {
		all, _ := words(line)
		places, err := (&syntax{srun(slurmHelp), ":", "--multi-prog"}).programs(all)
		if places != nil || err == nil != isRead {
			t.Errorf("%s: %v, %v", line, places, err)
		}
	}
}

func TestReplaced(t *testing.T) {
	for line, want := range map[string]string{
		"srun ./a":                 "exec srun ./a",
		"A=1 B='2 3' srun ./a C=4": "A=1 B='2 3' exec srun ./a C=4",
		"A=1":                      "A=1",
	} {
		if got := Replacing(line); got != want {
			t.Errorf("%s: %s, not %s", line, got, want)
		}
	}
}

func TestHasRank(t *testing.T) {
	for line, want := range map[string]bool{"srun /opt/mpi-queues rank -- ./a": true, "srun mpi-queues": false, "srun rank": false} {
		if all, _ := words(line); hasRank(all) != want {
			t.Errorf("%s: %v", line, !want)
		}
	}
}
