//go:build matrix

package matrix

import (
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// The debugger that the run names, another than gdb, shows the same queues as
// gdb of the same ranks, which stand still, and of a core file.
func TestSameAsGDB(t *testing.T) {
	t.Parallel()
	gdb, _, _ := strings.Cut(live.Version(t, "gdb"), ",")
	outcome := "the queues of " + gdb
	for _, c := range []struct {
		program string
		ranks   int
		args    []string
	}{{"queues", 3, nil}, {"requests", 2, nil}, {"groups", 4, nil}, {"spawn", 2, nil}, {"many", 2, []string{"100"}}, {"blocked", 3, []string{"recv"}}} {
		t.Run(c.program, func(t *testing.T) {
			job := work.Start(t, c.program, c.ranks, nil, c.args...)
			job.Pause(t)
			t.Run("live", func(t *testing.T) { sameAsGDB(t, outcome, pids(job)...) })
			core := filepath.Join(t.TempDir(), "core")
			gcore := exec.Command("gdb", "-nx", "-batch", "-p", pids(job)[0], "-ex", "generate-core-file "+core)
			if out, err := gcore.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Run("core", func(t *testing.T) { sameAsGDB(t, outcome, "--core", job.Program, core) })
		})
	}
}

// sameAsGDB compares what the two debuggers show in a dump with args.
func sameAsGDB(t *testing.T, outcome string, args ...string) {
	t.Helper()
	work.Record(t, result.Result{MPI: work.MPI.Release(t), Layout: "embedded table", Check: path.Base(t.Name()), Outcome: outcome})
	dump := func(debugger string) *expect.Document {
		d, err := expect.ParseDocument(work.Shell(t, append([]string{"dump", "--json", "--internal", "--gdb", debugger}, args...)...))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	want, got := dump("gdb"), dump(work.Debugger)
	if len(want.Processes) == 0 || len(got.Processes) != len(want.Processes) {
		t.Fatalf("it shows %d processes, gdb %d", len(got.Processes), len(want.Processes))
	}
	for i, p := range want.Processes {
		for key := range p {
			if !reflect.DeepEqual(got.Processes[i][key], p[key]) {
				t.Errorf("process %d: %s is\n%v\ngdb's is\n%v", i, key, got.Processes[i][key], p[key])
			}
		}
	}
}

// A debugger without Python, as the run names one, is refused with a sentence.
func TestNoPython(t *testing.T) {
	t.Parallel()
	work.Record(t, result.Result{MPI: work.MPI.Release(t), Layout: "–", Check: "live", Outcome: "says why not"})
	const sentence = "mpi-queues needs a gdb that was built with Python, and this one was not: use another gdb"
	job := work.Start(t, "many", 2, nil, "3")
	out := work.GDB(t, live.Process(job.Accounts[0].PID))
	out.Contains(t, sentence)
	dump := exec.CommandContext(t.Context(), work.Helper, append([]string{"dump", "--gdb", work.Debugger}, pids(job)...)...)
	text, err := dump.CombinedOutput()
	if err == nil || dump.ProcessState.ExitCode() != 1 {
		t.Errorf("dump: %v", err)
	}
	if strings.Count(string(text), sentence) != 1 || !strings.Contains(string(text), work.Debugger) {
		t.Errorf("dump says:\n%s", text)
	}
}

func pids(job *live.Job) (out []string) {
	for _, a := range job.Accounts {
		out = append(out, strconv.Itoa(a.PID))
	}
	return out
}
