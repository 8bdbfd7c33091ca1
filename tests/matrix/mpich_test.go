//go:build matrix

package matrix

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// stock is the distribution's MPICH, which is stripped and leaves its messages to UCX.
type stock struct {
	*live.Workspace
	library      expect.Library
	release, ucx string
}

// TestStockMPICH checks that what is shown of each process with the distribution's stripped MPICH is its program's account, as
// far as UCX and the library's requests keep it: with UCX's old and new protocols, live and in a core. With the protocols that
// are not the default of its UCX, fewer programs show enough.
func TestStockMPICH(t *testing.T) {
	t.Parallel()
	w, err := work.With("stock", live.StockMPICH)
	if err != nil {
		t.Fatal(err)
	}
	s := &stock{w, w.MPI.Library(t), w.MPI.Release(t), live.UCXVersion(t)}
	for _, protocols := range []string{"n", "y"} {
		row := live.Row{
			Workspace: w, Name: "protocols " + protocols, CoreDiffers: true,
			Flags:   []string{"-env", "UCX_PROTO_ENABLE", protocols, "-env", "UCX_RNDV_THRESH", "8192"},
			Library: s.library,
			Result:  result.Result{MPI: s.release, Build: live.System(t) + ", stripped, UCX " + s.ucx, Layout: "embedded tables", Outcome: "equal as far as kept"},
			Check:   s.check,
		}
		isDefault := live.IsOfUCXsDefault(s.ucx, row.Name)
		row.Runs = func(p live.Program) bool {
			switch p.Name {
			case "lifecycle":
				return false
			case "sessions":
				return s.alwaysHasWorld()
			case "spawn":
				return !strings.HasPrefix(s.release, "MPICH 4.") // it ends the job over UCX
			case "blocked", "groups", "many":
				return (isDefault || sample.Whole()) && !p.Is("blocked waitall")
			}
			return true
		}
		live.EachProgram(t, row)
		if s.alwaysHasWorld() {
			continue
		}
		// The library is found by MPI_COMM_WORLD, which this program does not have.
		of := *s
		of.library.Found = false
		row.Library, row.Check = of.library, of.check
		row.Runs = func(p live.Program) bool { return p.Is("sessions") }
		row.Name += " without world"
		live.EachProgram(t, row)
	}
}

// alwaysHasWorld reports whether the library makes MPI_COMM_WORLD for programs that have sessions alone, too.
func (s *stock) alwaysHasWorld() bool { return !strings.HasPrefix(s.release, "MPICH 4.") }

// check looks at the process as a whole, and holds a core against the live process.
func (s *stock) check(t *testing.T, r *live.RowReading) {
	s.describes(t, r.Process)
	if r.Live == nil {
		// Its launcher knows.
		live.Report(t, expect.Values(expect.Object{"global_rank": r.Account.GlobalRank, "world_size": r.Account.WorldSize}, r.Process, "global_rank", "world_size"))
		return
	}
	likeLive(r.Process, r.Live.Process)
	for key := range r.Live.Process {
		if !reflect.DeepEqual(r.Process[key], r.Live.Process[key]) {
			t.Errorf("%s is\n%v\nthe live process's is\n%v", key, r.Process[key], r.Live.Process[key])
		}
	}
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
func (s *stock) describes(t *testing.T, process expect.Object) {
	t.Helper()
	version, _, _ := strings.Cut(s.release[len("MPICH "):], " ")
	major, minor, _ := strings.Cut(s.ucx, ".")
	minor, _, _ = strings.Cut(minor, ".")
	want := map[string]any{"mpi_version": nil, "layout": "table", "layout_name": "UCX " + major + "." + minor}
	if strings.HasPrefix(version, "4.0") {
		want["mpi_version"] = version + " ch4:ucx"
	}
	if name, _ := process["layout_name"].(string); s.library.Found && strings.HasPrefix(name, "MPICH "+version) {
		want["layout_name"] = name // with options, perhaps
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
	t.Parallel()
	w, err := work.With("unreadable", live.StockMPICH)
	if err != nil {
		t.Fatal(err)
	}
	job := w.Start(t, "blocked", 2, []string{"-env", "LD_LIBRARY_PATH", live.UCXWithoutTree(t)}, "recv")
	out := w.GDB(t, live.Process(job.Accounts[0].PID), "info address MPII_Version_string", "mpi-queues")
	out.Lacks(t, "Traceback")
	if w.MPI.Library(t).Found {
		out.Contains(t, "In MPI_Recv", "not available: a network library has its messages", "this MPICH leaves its messages to UCX, which can't be read")
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
	t.Parallel()
	w, err := work.With("started", live.StockMPICH)
	if err != nil {
		t.Fatal(err)
	}
	w.StartedJobs(t)
}

// TestStockMPICHStarting checks that a report names the rank that has not called MPI_Init or has exited, and that a rank that has
// executed a program again after MPI_Init is not said not to have called it.
func TestStockMPICHStarting(t *testing.T) {
	t.Parallel()
	w, err := work.With("starting", live.StockMPICH)
	if err != nil {
		t.Fatal(err)
	}
	program := w.Program(t, "tests/programs/starting.c")
	for mode, want := range map[string]string{
		"before": "Ranks 0, 2 wait for rank 1, which has not called MPI_Init and is blocked in pause",
		"gone":   "Deadlock. Ranks 0, 2 wait for rank 1, which has exited.",
		"again":  "Ranks 0, 2 wait for rank 1, which is blocked in pause",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w.Hang(t, []string{"mpiexec.mpich", "-disable-auto-cleanup", "-n", "3", program, mode}, want)
		})
	}
}
