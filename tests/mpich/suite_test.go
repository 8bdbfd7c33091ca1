//go:build matrix

package mpich

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// suiteSample is the fraction of the suite's programs that a run tries: one of so many.
const suiteSample = 5

// stops is how often each program is stopped.
const stops = 3

// Programs of MPICH's own test suite can be stopped anywhere and displayed:
// without an error, and with nothing that can't be.
func TestSuite(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		if v.IsOverUCX() {
			continue // tests/mpich/build leaves its suite out
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			sample.LogSeed(t)
			v.record(t, "own suite", "plausible")
			programs := v.suite(t)
			if len(programs) < 50 {
				t.Fatalf("the suite has %d programs", len(programs))
			}
			n := 0
			programs = slices.DeleteFunc(programs, func(program) bool { n++; return !v.inTurn(n) || !sample.Chosen(v.Name, n/2, suiteSample) })
			shown := make([]int, len(programs))
			t.Run("programs", func(t *testing.T) {
				for i, p := range programs {
					t.Run(p.name, func(t *testing.T) {
						t.Parallel()
						shown[i] = v.stopAndDisplay(t, p, int64(i))
					})
				}
			})
			sum := 0
			for _, n := range shown {
				sum += n
			}
			t.Logf("%d programs, %d stops with communicators", len(programs), sum)
			// Many stops are before MPI_Init or after MPI_Finalize: the slower the machine, the more.
			if sum < len(programs)/3 {
				t.Errorf("only %d stops of %d programs had anything to show", sum, len(programs))
			}
		})
	}
}

// program is one of the suite, as its list says that it is run.
type program struct {
	name  string
	ranks int
	args  []string
}

// suite reads the lists of programs, each one's first line.
func (v *variant) suite(t *testing.T) []program {
	folder := filepath.Join(v.prefix, "suite", "pt2pt")
	var out []program
	for _, list := range []string{"testlist", "testlist.dtp"} {
		text, err := os.ReadFile(filepath.Join(folder, list))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 2 || slices.ContainsFunc(out, func(p program) bool { return p.name == f[0] }) {
				continue
			}
			ranks, err := strconv.Atoi(f[1])
			if _, missing := os.Stat(filepath.Join(folder, f[0])); err != nil || missing != nil {
				continue
			}
			p := program{name: f[0], ranks: ranks}
			for _, word := range f[2:] {
				if arg, ok := strings.CutPrefix(word, "arg="); ok {
					p.args = append(p.args, arg)
				}
			}
			out = append(out, p)
		}
	}
	return out
}

// stopAndDisplay runs a program with rank 0 in gdb, and returns how many
// displays showed communicators.
func (v *variant) stopAndDisplay(t *testing.T, p program, seed int64) int {
	folder := t.TempDir()
	path := filepath.Join(v.prefix, "suite", "pt2pt", p.name)
	args := []string{"-n", "1", "gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off",
		"-ex", "source " + filepath.Join(work.Root, "gdbinit"), "-ex", "set mpi-queues helper " + work.Helper,
		"-ex", "set $seed = " + strconv.FormatInt(seed, 10), "-ex", fmt.Sprintf("set $stops = %d", stops),
		"-ex", `set $folder = "` + folder + `"`, "-x", filepath.Join(work.Root, "tests", "mpich", "stops.py"), "--args", path}
	args = append(args, p.args...)
	if p.ranks > 1 {
		args = append(append(args, ":", "-n", strconv.Itoa(p.ranks-1), path), p.args...)
	}
	job := exec.Command(filepath.Join(v.prefix, "bin", "mpiexec.hydra"), args...)
	job.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	job.Dir = folder
	var out bytes.Buffer
	job.Stdout, job.Stderr = &out, &out
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	// The launcher, gdb and the ranks have a process group each.
	end := func() {
		for _, pid := range append(live.Descendants(job.Process.Pid), job.Process.Pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	stop := live.AfterPatience(func() {
		t.Error("it does not end")
		end()
	})
	displayed := filepath.Join(folder, "end")
	go func() {
		if live.Soon(func() bool { return live.Exists(displayed) }) {
			end() // the other ranks would wait for rank 0
		}
	}()
	_ = job.Wait()
	stop()
	said := out.String()
	for _, bad := range []string{"Python Exception", "Traceback", "Error occurred", "please report it"} {
		if strings.Contains(said, bad) {
			t.Errorf("gdb says %q:\n%s", bad, said)
		}
	}
	shown := 0
	for i := range strings.Count(said, "displayed ") {
		if v.checkDisplay(t, filepath.Join(folder, strconv.Itoa(i))) {
			shown++
		}
	}
	return shown
}

// checkDisplay holds what was shown at one stop against what can be.
func (v *variant) checkDisplay(t *testing.T, path string) bool {
	where, _ := os.ReadFile(path + ".where")
	text, err := os.ReadFile(path + ".json")
	if err != nil {
		// Before MPI_Init and after MPI_Finalize there is nothing.
		said, _ := os.ReadFile(path + ".said")
		if strings.Contains(string(said), "no message queues") {
			return false
		}
		t.Errorf("nothing was shown, but %q, at\n%s", said, where)
		return false
	}
	d, err := expect.ParseDocument(text)
	if err != nil || len(d.Processes) != 1 {
		t.Errorf("%v at\n%s", err, where)
		return false
	}
	p := d.Processes[0]
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf(format+"; at\n%s\n%s", append(args, where, p["notes"])...)
	}
	if p["unavailable"] != nil {
		fail("unavailable: %v", p["unavailable"])
	}
	if p["source"] != "native" {
		fail("read by %v", p["source"])
		return false
	}
	world := number(p["world_size"])
	for _, c := range expect.Communicators(p) {
		size, rank := number(c["size"]), number(c["local_rank"])
		peers, _ := c["remote_group"].([]any)
		if peers == nil {
			peers, _ = c["group"].([]any)
		}
		if size < 1 || size > world || rank < 0 || rank >= size {
			fail("%v has rank %v of %v", c["name"], rank, size)
		}
		group, _ := c["group"].([]any)
		if float64(len(group)) != size || len(peers) == 0 {
			fail("%v has %v members and the group %v", c["name"], size, group)
			continue
		}
		if g := number(group[int(rank)]); g != number(p["global_rank"]) {
			fail("%v: this process has the global rank %v", c["name"], g)
		}
		for _, queue := range expect.Queues {
			ops, _ := expect.Operations(c, queue)
			for _, op := range ops {
				if what := impossible(op, queue, len(peers)); what != "" {
					fail("%v: %s: %s: %v", c["name"], queue, what, op)
				}
			}
		}
	}
	return len(expect.Communicators(p)) > 0
}

// impossible says what of an operation can't be.
func impossible(op expect.Object, queue string, peers int) string {
	for _, key := range []string{"desired_local_rank", "actual_local_rank"} {
		least := 0.0
		if key[0] == 'd' && queue == "pending_receives" {
			least = -1
		}
		if n := number(op[key]); op[key] != nil && (n < least || n >= float64(peers)) {
			return key
		}
	}
	for _, key := range []string{"desired_tag", "actual_tag"} {
		if n := number(op[key]); op[key] != nil && (n < 0 || n > math.MaxInt32) {
			return key
		}
	}
	for _, key := range []string{"desired_length", "actual_length", "count"} {
		if n := number(op[key]); op[key] != nil && (n < 0 || n > 1<<40) {
			return key
		}
	}
	if s, _ := op["status"].(string); s == "" || queue == "unexpected_messages" && op["actual_length"] == nil {
		return "status or length"
	}
	if name, _ := op["datatype"].(string); name != "" && strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "datatype"
	}
	return ""
}

func number(v any) float64 {
	n, ok := v.(json.Number)
	if !ok {
		return math.NaN()
	}
	f, _ := n.Float64()
	return f
}
