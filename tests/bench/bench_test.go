//go:build bench

// Package bench measures mpi-queues on many pending receives against a plain
// walk in gdb's Python and against Open MPI's own DLL. All three run in turn on
// the same two ranks while one gdb holds them stopped, and write to a pipe that
// the benchmark reads; only ratios within one run mean anything.
//
//	go test -tags bench -count 1 -timeout 30m -v ./tests/bench
//
// It needs gdb, gcc and Open MPI with its DLL. On stdout is the table for .github/ARCHITECTURE.md.
package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	// A round runs the two that are compared with once, and what is quick more
	// often. Ratios are those within a round, since other work on the machine
	// comes and goes; of the rounds' ratios, and of times, the median counts.
	rounds  = 5
	repeats = 3

	// The targets.
	roundTripsTarget    = 40 // plus one per bytesPerRoundTrip read
	bytesPerRoundTrip   = 256 << 10
	againstPythonTarget = 5.0
	againstDLLTarget    = 10.0
	growthTarget        = 12.0 // for ten times as many
	textCommand         = "mpi-queues -limit unlimited"
	jsonCommand         = "mpi-queues -json"
	endHelper           = "python import mpi_queues.link; mpi_queues.link.LINK.close(); print('ended')"
)

// tools are what all sizes share.
type tools struct {
	root, dir, helper, many, dllhost, layout, types string
}

// result is what was measured for one size.
type result struct {
	n                                    int
	first, cold, text, json, python, dll time.Duration
	best                                 time.Duration // of text
	againstPython, againstDLL            float64
	cost                                 cost
	textBytes, jsonBytes                 int
	fetches                              int64
}

func TestManyReceives(t *testing.T) {
	tools := prepare(t)
	var results []*result
	for _, n := range []int{10_000, 100_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := measure(t, tools, n)
			results = append(results, r)
		})
	}
	if len(results) != 2 {
		t.FailNow()
	}
	growth := ratio(results[1].best, results[0].best)
	report(results)
	for _, r := range results {
		r.judge()
	}
	atMost(growthTarget, "%.1f times as long for %d receives as for %d", growth, results[1].n, results[0].n)
}

// prepare builds everything that is run.
func prepare(t *testing.T) *tools {
	t.Helper()
	root, err := filepath.Abs("../..")
	must(t, err)
	dir := t.TempDir()
	k := &tools{root: root, dir: dir, helper: os.Getenv("MPI_QUEUES_HELPER"), many: filepath.Join(dir, "many"),
		dllhost: filepath.Join(dir, "dllhost"), layout: filepath.Join(dir, "layout"), types: filepath.Join(dir, "types.o")}
	if k.helper == "" {
		k.helper = filepath.Join(dir, "mpi-queues")
		build(t, root, "go", "build", "-o", k.helper, "./cmd/mpi-queues")
	}
	programs := filepath.Join(root, "tests", "programs")
	build(t, programs, "mpicc.openmpi", "-O1", "-g", "-o", k.many, "many.c", "expect.c", "expect_json.c")
	build(t, filepath.Join(root, "tests", "bench", "dllhost"), "gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", k.dllhost, "dllhost.c", "-ldl")

	layouts, err := readTable(root, release(t))
	must(t, err)
	text, err := layouts.forDLL()
	must(t, err)
	must(t, os.WriteFile(k.layout, []byte(text), 0o666))
	source, err := layouts.forC("opal_pointer_array_t", "ompi_communicator_t", "mca_pml_ob1_comm_t",
		"mca_pml_ob1_comm_proc_t", "mca_pml_ob1_recv_request_t")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "types.c"), []byte(source), 0o666))
	build(t, dir, "gcc", "-g", "-fno-eliminate-unused-debug-types", "-c", "types.c")
	return k
}

func build(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// release is the version of the Open MPI on this machine.
func release(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("ompi_info", "--version").Output()
	must(t, err)
	var version string
	if _, err := fmt.Sscanf(string(out), "Open MPI v%s", &version); err != nil {
		t.Fatalf("ompi_info --version says %q", out)
	}
	return version
}

// measure runs all there is on n receives.
func measure(t *testing.T, k *tools, n int) *result {
	t.Helper()
	_, pids := job(t, k.many, 2, n)
	s := newSession(t, k.helper)
	for i, pid := range pids {
		if i > 0 {
			s.do("add-inferior -no-connection")
			s.do("inferior 2")
		}
		s.do(fmt.Sprintf("attach %d", pid))
	}
	s.do("inferior 1")
	s.do("source " + filepath.Join(k.root, "gdbinit"))
	s.do("source " + filepath.Join(k.root, "tests", "bench", "walk.py"))

	r := &result{n: n}
	var colds, texts, jsons, pythons, dlls []time.Duration
	text := func() time.Duration {
		out, took := s.do(textCommand)
		if got := strings.Count(out, " MPI_INT "); got != n {
			t.Fatalf("%s shows %d receives of %d:\n%s\n%s", textCommand, got, n, tail([]byte(out)), s.stderr())
		}
		r.textBytes = len(out)
		return took
	}
	r.first = text()
	for range repeats {
		if out, _ := s.do(endHelper); out != "ended\n" {
			t.Fatalf("the helper can't be ended: %s\n%s", out, s.stderr())
		}
		colds = append(colds, text())
	}
	r.cost = s.debugged(textCommand)
	var againstPython, againstDLL []float64
	for range rounds {
		python := walk(s, k, n)
		text() // the symbols of a file have come and gone: warm again
		var mine []time.Duration
		for range repeats {
			mine = append(mine, text())
		}
		dll, fetches := host(t, k, pids[0], n)
		out, took := s.do(jsonCommand)
		checkJSON(t, out, n)
		r.jsonBytes, r.fetches = len(out), fetches

		texts, jsons = append(texts, mine...), append(jsons, took)
		pythons, dlls = append(pythons, python), append(dlls, dll)
		againstPython = append(againstPython, ratio(python, median(mine)))
		againstDLL = append(againstDLL, ratio(dll, median(mine)))
	}
	r.cold, r.text, r.json, r.python, r.dll = median(colds), median(texts), median(jsons), median(pythons), median(dlls)
	r.best, r.againstPython, r.againstDLL = slices.Min(texts), median(againstPython), median(againstDLL)
	return r
}

// walk runs the walk in Python, with the types that it needs.
func walk(s *session, k *tools, n int) time.Duration {
	s.t.Helper()
	s.do("add-symbol-file " + k.types)
	defer s.do("remove-symbol-file " + k.types)
	out, took := s.do("walk")
	if got := strings.Count(out, " datatype "); got != n {
		s.t.Fatalf("the walk in Python shows %d receives of %d:\n%s\n%s", got, n, tail([]byte(out)), s.stderr())
	}
	return took
}

// host runs the DLL in a process of its own, from start to last byte.
func host(t *testing.T, k *tools, pid, n int) (time.Duration, int64) {
	t.Helper()
	out, w, err := os.Pipe()
	must(t, err)
	defer func() { _ = out.Close() }()
	var said strings.Builder
	cmd := exec.Command(k.dllhost, fmt.Sprint(pid), k.layout)
	cmd.Stdout, cmd.Stderr = w, &said
	start := time.Now()
	must(t, cmd.Start())
	must(t, w.Close())
	output, err := readUntil(out, "")
	took := time.Since(start)
	must(t, err)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("dllhost: %v\n%s", err, &said)
	}
	var receives int
	var fetches int64
	words := strings.TrimSpace(said.String())
	last := words[strings.LastIndexByte(words, '\n')+1:]
	if _, err := fmt.Sscanf(last, "dllhost: %d receives, %d fetches", &receives, &fetches); err != nil || receives != n {
		t.Fatalf("the DLL shows %d receives of %d, so that there is nothing to compare with:\n%s\n%s", receives, n, tail(output), words)
	}
	return took, fetches
}

func checkJSON(t *testing.T, out string, n int) {
	t.Helper()
	var doc struct {
		Processes []struct {
			Communicators []struct {
				PendingReceives []struct{} `json:"pending_receives"`
			} `json:"communicators"`
		} `json:"processes"`
	}
	must(t, json.Unmarshal([]byte(out), &doc))
	got := 0
	for _, p := range doc.Processes {
		for _, c := range p.Communicators {
			got += len(c.PendingReceives)
		}
	}
	if got != n {
		t.Fatalf("%s shows %d receives of %d", jsonCommand, got, n)
	}
}

// judge holds a size against the targets.
func (r *result) judge() {
	atMost(float64(roundTripsTarget+r.cost.bytes/bytesPerRoundTrip), "%.0f round trips for %d receives", float64(r.cost.roundTrips), r.n)
	atLeast(againstPythonTarget, "%.1f times as fast as a walk in Python of %d receives", r.againstPython, r.n)
	atLeast(againstDLLTarget, "%.1f times as fast as Open MPI's DLL on %d receives", r.againstDLL, r.n)
}

// report prints the table for .github/ARCHITECTURE.md.
func report(results []*result) {
	row := func(title string, cell func(r *result) string) {
		fmt.Printf("| %s |", title)
		for _, r := range results {
			fmt.Printf(" %s |", cell(r))
		}
		fmt.Println()
	}
	seconds := func(d func(r *result) time.Duration) func(r *result) string {
		return func(r *result) string { return fmt.Sprintf("%.3f s", d(r).Seconds()) }
	}
	against := func(d time.Duration, times float64) string {
		return fmt.Sprintf("%.2f s, %.1f times as long", d.Seconds(), times)
	}
	row("pending receives", func(r *result) string { return fmt.Sprint(r.n) })
	fmt.Println("|---|---|---|")
	row("`"+textCommand+"`", seconds(func(r *result) time.Duration { return r.text }))
	row("the same, and the helper starts", seconds(func(r *result) time.Duration { return r.cold }))
	row("the same, first command of the session", seconds(func(r *result) time.Duration { return r.first }))
	row("`"+jsonCommand+"`", seconds(func(r *result) time.Duration { return r.json }))
	row("round trips", func(r *result) string { return fmt.Sprint(r.cost.roundTrips) })
	row("bytes read", func(r *result) string { return megabytes(int(r.cost.bytes)) })
	row("bytes shown as text, as JSON", func(r *result) string { return megabytes(r.textBytes) + ", " + megabytes(r.jsonBytes) })
	row("a plain walk of the lists in gdb's Python", func(r *result) string { return against(r.python, r.againstPython) })
	row("Open MPI's own DLL, driven in process, a system call a fetch", func(r *result) string { return against(r.dll, r.againstDLL) })
	row("fetches of the DLL", func(r *result) string { return fmt.Sprint(r.fetches) })
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("\nThe machine has %d processors; its load at the end: %s", runtime.NumCPU(), load)
}

func megabytes(n int) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func ratio(a, b time.Duration) float64 { return a.Seconds() / b.Seconds() }

func median[T cmp.Ordered](d []T) T {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}
