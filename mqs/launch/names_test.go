package launch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// What tells a job from others on all machines.
func TestNames(t *testing.T) {
	const hydra = "hydra_pmi_proxy --control-port away:4711 --rmk user --pgid 0 --proxy-id 1"
	for name, c := range map[string]struct {
		env, daemon string
		want        []string
	}{
		"pmix":                                {"PMIX_NAMESPACE=12.1 PMIX_RANK=0", "orted", []string{"pmix:12.1"}},
		"pmix in a step":                      {"PMIX_NAMESPACE=12.1 PMIX_RANK=0 SLURM_JOB_ID=7 SLURM_STEP_ID=2 SLURM_PROCID=0", "slurmstepd", []string{"pmix:12.1", "slurm:7.2"}},
		"pmix beside a step":                  {"PMIX_NAMESPACE=12.1 PMIX_RANK=3 SLURM_JOB_ID=7 SLURM_STEP_ID=2 SLURM_PROCID=0", "orted", []string{"pmix:12.1"}},
		"pmix with an odd name":               {"PMIX_NAMESPACE=x\ntouch\n PMIX_RANK=0", "orted", nil},
		"pmix, an odd name that is too long":  {"PMIX_NAMESPACE=" + strings.Repeat("x", maxName) + " PMIX_RANK=0", "orted", nil},
		"a step with an odd name":             {"PMIX_NAMESPACE=12.1 PMIX_RANK=0 SLURM_JOB_ID=7\x1b SLURM_STEP_ID=2 SLURM_PROCID=0", "orted", []string{"pmix:12.1"}},
		"hydra, an odd name that is too long": {"PMI_RANK=0 PMI_SIZE=2", strings.Replace(hydra, "away", strings.Repeat("a", maxName), 1), nil},
		"hydra":                               {"PMI_RANK=0 PMI_SIZE=2", hydra, []string{"hydra:away:4711.0"}},
		"hydra, of IPv6":                      {"PMI_RANK=0 PMI_SIZE=2", strings.Replace(hydra, "away", "[fe80::1]", 1), nil},
		"hydra on one machine":                {"PMI_RANK=0 PMI_SIZE=2", strings.Replace(hydra, "away", "127.0.0.1", 1), nil},
		"hydra, spawned":                      {"PMI_RANK=0 PMI_SIZE=2 PMI_SPAWNED=1", hydra, nil},
		"hydra, of another sort":              {"PMI_RANK=0 PMI_SIZE=2", "hydra_pmi_proxy", nil},
		"hydra, and no port":                  {"PMI_RANK=0 PMI_SIZE=2", "hydra_pmi_proxy --pgid 0 --control-port", nil},
		"hydra, and an odd group":             {"PMI_RANK=0 PMI_SIZE=2", strings.Replace(hydra, "--pgid 0", "--pgid \x1b[31m", 1), nil},
	} {
		s := machine(t, madeUp{pid: 10, parent: 1, name: "daemon"}, madeUp{pid: 11, parent: 10, name: "a.out", env: c.env, isMPI: true})
		line := strings.ReplaceAll(c.daemon, " ", "\x00") + "\x00"
		if err := os.WriteFile(filepath.Join(string(s.proc), "10", "cmdline"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		g, _ := s.groupOf(s.processes[11])
		if g == nil {
			t.Errorf("%s: no group", name)
			continue
		}
		var j Job
		if s.name(&j, g); !slices.Equal(j.Names, c.want) || j.HasOddName != strings.Contains(name, "odd name") {
			t.Errorf("%s: %q, %v, want %q", name, j.Names, j.HasOddName, c.want)
		}
	}
}

// Slurm's srun says which step it has started, also where none of the ranks is on its machine.
func TestNameOfStep(t *testing.T) {
	for want, numbers := range map[string][2]string{"slurm:12.3": {"12", "3"}, "": {"12", "x"}} {
		s := machine(t, madeUp{pid: 20, parent: 1, name: "srun", table: []entry{{"far", "prog", 31}}})
		open := s.open
		s.open = func(pid int) (memory, error) {
			m, err := open(pid)
			if f, is := m.(*fake); is && pid == 20 {
				for i, name := range []string{slurmJobSymbol, slurmStepSymbol} {
					at := inferior.Addr(0x10200 + 0x40*i)
					f.variable(name, at)
					f.Put(at, append(f.Pointer(at+0x10), make([]byte, 0x18)...))
					f.Put(at+0x10, append([]byte(numbers[i]), 0))
				}
			}
			return m, err
		}
		j, err := s.find(20)
		if err != nil || strings.Join(j.Names, " ") != want {
			t.Errorf("%+v, %v", j, err)
		}
	}
}

// Two of Slurm's nodes can be on one machine.
func TestNode(t *testing.T) {
	for want, second := range map[string]string{"n1": "n1", "": "n2"} {
		s := machine(t, madeUp{pid: 30, parent: 1, name: "prog", env: slurmEnv("0", "n1") + " PMI_RANK=0", isMPI: true},
			madeUp{pid: 31, parent: 1, name: "prog", env: slurmEnv("1", second) + " PMI_RANK=1", isMPI: true})
		if jobs := s.jobs(0); len(jobs) != 1 || jobs[0].Node != want {
			t.Errorf("%+v", jobs)
		}
	}
}

// TestSoftware checks which software a launcher is said to belong to, by what it put into its ranks' environment.
func TestSoftware(t *testing.T) {
	srun := slurmEnv("0", "n1")
	for name, c := range map[string]struct{ env, want string }{
		"mpirun":                 {pmixEnv("n@1", "0"), mqs.OpenMPILauncher},
		"mpirun in a step":       {pmixEnv("n@1", "0") + " " + srun, mqs.OpenMPILauncher},
		"another server of PMIx": {"PMIX_NAMESPACE=n PMIX_RANK=0", ""},
		"mpiexec":                {pmiEnv("0", "6"), mqs.HydraLauncher},
		"srun --mpi=none":        {srun, mqs.SlurmLauncher},
		"srun --mpi=pmi2":        {srun + " PMI_RANK=0 PMI_SIZE=2 PMI_FD=6", mqs.SlurmLauncher},
		"srun --mpi=pmix":        {srun + " PMIX_NAMESPACE=slurm.pmix.5.0 PMIX_RANK=0", mqs.SlurmLauncher},
		"another server of PMI":  {"PMI_RANK=0 PMI_SIZE=2", ""},
	} {
		j, err := machine(t, madeUp{pid: 20, parent: 1, name: "starter"}, madeUp{pid: 31, parent: 20, name: "prog", env: c.env, isMPI: true}).find(31)
		if err != nil || j.Software != c.want {
			t.Errorf("%s: %+v, %v", name, j, err)
		}
	}
	table := []entry{{"here", "/prog", 31}}
	for env, want := range map[string]string{pmixEnv("7", "0"): mqs.OpenMPILauncher, "": ""} {
		j, err := machine(t, madeUp{pid: 20, parent: 1, name: "mpirun", table: table}, madeUp{pid: 31, parent: 20, name: "prog", env: env, program: "/prog"}).find(20)
		if err != nil || j.Software != want {
			t.Errorf("by a table: %+v, %v", j, err)
		}
	}
}
