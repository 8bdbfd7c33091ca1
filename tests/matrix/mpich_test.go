//go:build matrix

package matrix

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// stock is the distribution's MPICH, which is stripped and leaves its messages to UCX.
type stock struct {
	*live.Workspace
	library      expect.Library
	release, ucx string
}

// Of the distribution's stripped MPICH each program's account must be what is shown of
// it, field by field, as far as UCX and the library's requests keep it: with UCX's old
// and new protocols, live and in a core.
func TestStockMPICH(t *testing.T) {
	w, err := work.With("stock", live.StockMPICH)
	if err != nil {
		t.Fatal(err)
	}
	s := &stock{w, w.MPI.Library(t), w.MPI.Release(t), ""}
	s.ucx = s.versionOfUCX(t)
	programs := []struct {
		program string
		ranks   int
		args    []string
	}{
		{"queues", 3, nil},
		{"requests", 2, nil},
		{"groups", 4, nil},
		{"sessions", 3, nil},
		{"blocked", 3, []string{"recv"}},
		{"blocked", 3, []string{"send"}},
		{"blocked", 3, []string{"ssend"}},
		{"blocked", 3, []string{"barrier"}},
		{"many", 2, []string{"100"}},
		{"many", 2, []string{"100", "wild"}},
		{"many", 2, []string{"100", "specific"}},
		{"spawn", 2, nil},
	}
	if strings.HasPrefix(s.release, "MPICH 4.") {
		programs = programs[:len(programs)-1] // MPI_Comm_spawn ends the job over UCX
	}
	for _, protocols := range []string{"n", "y"} {
		for _, c := range programs {
			t.Run(strings.Join(append([]string{"protocols " + protocols, c.program}, c.args...), " "), func(t *testing.T) {
				t.Parallel()
				job := s.Start(t, c.program, c.ranks, []string{"-env", "UCX_PROTO_ENABLE", protocols, "-env", "UCX_RNDV_THRESH", "8192"}, c.args...)
				of := *s
				if c.program == "sessions" {
					of.library.Found = false // it is found by its MPI_COMM_WORLD
				}
				for _, account := range job.Accounts {
					t.Run(account.Name, func(t *testing.T) { of.readBothWays(t, job, account) })
				}
			})
		}
	}
}

// versionOfUCX asks UCX itself, in a process of its own: a debugger can't call a function
// of a process everywhere.
func (s *stock) versionOfUCX(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("python3", "-c", `import ctypes
version = ctypes.CDLL("libucp.so.0").ucp_get_version_string
version.restype = ctypes.c_char_p
print(version().decode())`).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *stock) record(t *testing.T, layout, check, outcome string) {
	t.Helper()
	s.Record(t, result.Result{MPI: s.release, Build: live.System(t) + ", stripped, UCX " + s.ucx, Layout: layout, Check: check, Outcome: outcome})
}

// compare says how a process differs from its account.
func (s *stock) compare(account *expect.Account, process expect.Object) []string {
	return s.library.Fidelity().Compare(account, process)
}

func (s *stock) readBothWays(t *testing.T, job *live.Job, account *expect.Account) {
	core := filepath.Join(t.TempDir(), "core")
	var first expect.Object
	for _, where := range job.Ways(account, core) {
		t.Run(where.Name, func(t *testing.T) {
			s.record(t, "embedded tables", where.Name, "equal as far as kept")
			r := s.ReadOf(t, job, where, func(p expect.Object) []string { return s.compare(account, p) })
			process := r.Process(t)
			s.describes(t, process, job)
			if first == nil {
				first = process
				// Its launcher knows.
				live.Report(t, expect.Values(expect.Object{"global_rank": account.GlobalRank, "world_size": account.WorldSize}, process, "global_rank", "world_size"))
				return
			}
			likeLive(process, first)
			for key := range first {
				if !reflect.DeepEqual(process[key], first[key]) {
					t.Errorf("%s is\n%v\nthe live process's is\n%v", key, process[key], first[key])
				}
			}
		})
	}
	_ = os.Remove(core)
}

// likeLive takes over from a live process what its launcher alone knows.
func likeLive(process, alive expect.Object) {
	take := func(to, from expect.Object, keys ...string) {
		for _, key := range keys {
			if to[key] == nil {
				to[key] = from[key]
			}
		}
	}
	take(process, alive, "global_rank", "world_size")
	core, first := expect.Communicators(process), expect.Communicators(alive)
	if len(core) > 0 && len(first) > 0 && core[0]["unique_id"] == "0x0" && first[0]["unique_id"] == "0x0" {
		take(core[0], first[0], "local_rank", "size", "group")
	}
}

// describes checks what is said of the process as a whole.
func (s *stock) describes(t *testing.T, process expect.Object, job *live.Job) {
	t.Helper()
	version, _, _ := strings.Cut(s.release[len("MPICH "):], " ")
	major, minor, _ := strings.Cut(s.ucx, ".")
	minor, _, _ = strings.Cut(minor, ".")
	want := map[string]any{"mpi": "MPICH", "mpi_version": nil, "source": "native", "layout": "table", "layout_name": "UCX " + major + "." + minor, "image": job.Program}
	if strings.HasPrefix(version, "4.0") {
		want["mpi_version"] = version + " ch4:ucx"
	}
	if s.library.Found {
		want["layout_name"] = "MPICH " + version
	}
	for key, value := range want {
		if process[key] != value {
			t.Errorf("%s is %v, want %v", key, process[key], value)
		}
	}
	if s.library.Found {
		return
	}
	notes, _ := process["notes"].([]any)
	if note, _ := append(notes, "")[0].(string); len(notes) != 1 || !strings.HasPrefix(note, "libmpich.so.12 is stripped, so this is what UCX beneath it has: ") {
		t.Errorf("the notes are %v", notes)
	}
}

// Where UCX beneath a stripped MPICH can't be read, the user is told what there is not to be
// seen; and why there is nothing to see and the three ways out where the library's own
// objects can't be read either.
func TestStockMPICHUnreadable(t *testing.T) {
	w, err := work.With("unreadable", live.StockMPICH)
	if err != nil {
		t.Fatal(err)
	}
	job := w.Start(t, "blocked", 2, []string{"-env", "LD_LIBRARY_PATH", live.UCXWithoutTree(t)}, "recv")
	out := w.GDB(t, live.Process(job.Accounts[0].PID), "info address MPII_Version_string", "mpi-queues")
	out.Lacks(t, "Traceback")
	if w.MPI.Library(t).Found {
		out.Contains(t, "In MPI_Recv", "Pending receives: not available: a network library has its messages",
			"this MPICH leaves its messages to UCX, which can't be read")
		return
	}
	out.Contains(t, "libmpich.so.12 is stripped", "debug symbols", "debuginfod", "MPICHLIB_CFLAGS=-g", "--enable-debuginfo")
	// Up to 4.1 its version is there to be read.
	if strings.Contains(out.Stdout, `Symbol "MPII_Version_string" is `) {
		out.Contains(t, strings.TrimPrefix(w.MPI.Release(t), "MPICH ")+" ch4:ucx")
	}
}

// gdb starts jobs of the distribution's MPICH, whose launcher has no symbols.
func TestStockMPICHStartedJobs(t *testing.T) {
	w, err := work.With("started", live.StockMPICH)
	if err != nil {
		t.Fatal(err)
	}
	w.StartedJobs(t)
}
