//go:build bench

// Package bench measures mpi-queues on many pending receives against a plain
// walk in gdb's Python, against Open MPI's own DLL, and against what the kernel needs to copy
// the same bytes. All run in turn on the same two ranks while one gdb holds them stopped, and write to a
// pipe that the benchmark reads; only ratios within one run mean anything. It prints each figure
// beside its target, and fails on none.
//
//	go test -tags bench -count 1 -timeout 30m -v ./tests/bench
//
// It needs gdb, gcc and Open MPI with its DLL. On stdout is the table for .github/ARCHITECTURE.md.
package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	// A round runs those that are compared once, and what is quick more
	// often. Ratios are those within a round, since other work on the machine
	// comes and goes; of the rounds' ratios, and of times, the median counts.
	rounds  = 5
	repeats = 3

	textCommand = "mpi-queues -limit unlimited"
	jsonCommand = "mpi-queues -json"
	byDLL       = "set mpi-queues source dll"
	byAny       = "set mpi-queues source auto"
	endHelper   = "python import mpi_queues.link; mpi_queues.link.LINK.close(); print('ended')"
)

// The targets of one command on so many receives: how many times as fast as the DLL in process it is,
// natively and by the hosted DLL.
var targets = map[int]struct{ native, hosted float64 }{10_000: {5, 3}, 100_000: {8, 3}}

const (
	limitTarget   = 8.0 // times as long as the kernel needs to copy the bytes
	limitReceives = 100_000
	fewTarget     = 5.0 // ms for ten receives
	firstTarget   = 100 // ms for the first command of a session
)

// tools are what all sizes share.
type tools struct {
	root, dir, helper, many, dllhost, layout, types string
}

// result is what was measured for one size.
type result struct {
	n                                           int
	first                                       time.Duration
	cold, text, json, python, dll, hosted, copy []time.Duration
	cpu, dllCPU, hostedCPU                      []time.Duration
	cost                                        cost
	textBytes, jsonBytes                        int
	fetches                                     int64
	decoding                                    decoding
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
	report(results)
}

// TestFewReceives measures what a command costs whatever it reads, and what the first one of a session costs.
func TestFewReceives(t *testing.T) {
	const receives, sessions, commands = 10, 5, 20
	k := prepare(t)
	_, pids := job(t, k.many, 2, receives)
	var first, later, cpu []time.Duration
	var c cost
	for range sessions {
		s := newSession(t, k.helper)
		s.do("source " + filepath.Join(k.root, "gdbinit"))
		s.do(fmt.Sprintf("attach %d", pids[0]))
		first = append(first, show(s, receives))
		for range commands {
			before := busy(s.pid)
			later = append(later, show(s, receives))
			cpu = append(cpu, busy(s.pid)-before)
		}
		c = s.debugged(textCommand)
		s.do("detach")
	}
	fmt.Printf("%d receives: %d round trips, %d bytes read, %.1f ms of processors\n", receives, c.roundTrips, c.bytes, median(milliseconds(cpu)))
	target("ms for ten receives", milliseconds(later), atMost(fewTarget, " ms"), "gdb's own commands in Python, and where gdb's threads are")
	target("ms for the first command of a session, beyond gdb's attach", milliseconds(first), atMost(firstTarget, " ms"),
		"the helper's start, and gdb reads the symbols")
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
	text := func() (took, cpu time.Duration) {
		before := busy(s.pid)
		out, took := s.do(textCommand)
		if got := strings.Count(out, " MPI_INT "); got != n {
			t.Fatalf("%s shows %d receives of %d:\n%s\n%s", textCommand, got, n, tail([]byte(out)), s.stderr())
		}
		r.textBytes = len(out)
		return took, busy(s.pid) - before
	}
	r.first, _ = text()
	for range repeats {
		if out, _ := s.do(endHelper); out != "ended\n" {
			t.Fatalf("the helper can't be ended: %s\n%s", out, s.stderr())
		}
		took, _ := text()
		r.cold = append(r.cold, took)
	}
	r.cost = s.debugged(textCommand)
	r.decoding = decode(t, s, n)
	var againstPython, againstDLL, againstLimit, hostedAgainstDLL []float64
	for range rounds {
		python := walk(s, k, n)
		text() // the symbols of a file have come and gone: warm again
		var mine []time.Duration
		for range repeats {
			took, cpu := text()
			mine, r.cpu = append(mine, took), append(r.cpu, cpu)
		}
		copied := limit(t, pids[0], int(r.cost.bytes))
		dll, dllCPU, fetches := host(t, k, pids[0], n)
		s.do(byDLL)
		before := busy(s.pid)
		out, hosted := s.do(textCommand)
		r.hostedCPU = append(r.hostedCPU, busy(s.pid)-before)
		s.do(byAny)
		if got := strings.Count(out, " Receive: 0x"); got != n {
			t.Fatalf("%s shows %d receives of %d by the DLL:\n%s\n%s", textCommand, got, n, tail([]byte(out)), s.stderr())
		}
		out, took := s.do(jsonCommand)
		checkJSON(t, out, n)
		r.jsonBytes, r.fetches, r.dllCPU = len(out), fetches, append(r.dllCPU, dllCPU)

		r.text, r.json, r.copy = append(r.text, mine...), append(r.json, took), append(r.copy, copied)
		r.python, r.dll, r.hosted = append(r.python, python), append(r.dll, dll), append(r.hosted, hosted)
		againstPython = append(againstPython, ratio(python, median(mine)))
		againstDLL = append(againstDLL, ratio(dll, median(mine)))
		againstLimit = append(againstLimit, ratio(median(mine), copied))
		hostedAgainstDLL = append(hostedAgainstDLL, ratio(dll, hosted))
	}
	target(fmt.Sprintf("native, times as fast as the DLL in process, %d receives", n), againstDLL, atLeast(targets[n].native, " times"),
		"decoding, the text of each receive, and gdb's output")
	if n >= limitReceives {
		target(fmt.Sprintf("native, times as long as the kernel needs to copy the bytes, %d receives", n), againstLimit,
			atMost(limitTarget, " times"), "decoding, the text of each receive, and gdb's output")
	}
	target(fmt.Sprintf("DLL hosted, times as fast as the DLL in process, %d receives", n), hostedAgainstDLL, atLeast(targets[n].hosted, " times"),
		"the DLL's own work, and the way of its operations through the host and the helper")
	target(fmt.Sprintf("native, times as fast as a walk in gdb's Python, %d receives", n), againstPython, atLeast(5, " times"), "see above")
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
func host(t *testing.T, k *tools, pid, n int) (wall, cpu time.Duration, fetches int64) {
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
	wall = time.Since(start)
	must(t, err)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("dllhost: %v\n%s", err, &said)
	}
	var receives int
	words := strings.TrimSpace(said.String())
	last := words[strings.LastIndexByte(words, '\n')+1:]
	if _, err := fmt.Sscanf(last, "dllhost: %d receives, %d fetches", &receives, &fetches); err != nil || receives != n {
		t.Fatalf("the DLL shows %d receives of %d, so that there is nothing to compare with:\n%s\n%s", receives, n, tail(output), words)
	}
	return wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), fetches
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

// report prints the table for .github/ARCHITECTURE.md.
func report(results []*result) {
	row := func(title string, cell func(r *result) string) {
		fmt.Printf("| %s |", title)
		for _, r := range results {
			fmt.Printf(" %s |", cell(r))
		}
		fmt.Println()
	}
	seconds := func(times func(r *result) []time.Duration) func(r *result) string {
		return func(r *result) string { return fmt.Sprintf("%.3f s", median(times(r)).Seconds()) }
	}
	row("pending receives", func(r *result) string { return fmt.Sprint(r.n) })
	fmt.Println("|---|---|---|")
	row("`"+textCommand+"`", seconds(func(r *result) []time.Duration { return r.text }))
	row("the same, of processors", seconds(func(r *result) []time.Duration { return r.cpu }))
	row("the same, and the helper starts", seconds(func(r *result) []time.Duration { return r.cold }))
	row("the same, first command of the session", seconds(func(r *result) []time.Duration { return []time.Duration{r.first} }))
	row("`"+jsonCommand+"`", seconds(func(r *result) []time.Duration { return r.json }))
	row("round trips", func(r *result) string { return fmt.Sprint(r.cost.roundTrips) })
	row("bytes read", func(r *result) string { return megabytes(int(r.cost.bytes)) })
	row("the kernel copies as many bytes, in pieces of 4 MiB", seconds(func(r *result) []time.Duration { return r.copy }))
	row("bytes shown as text, as JSON", func(r *result) string { return megabytes(r.textBytes) + ", " + megabytes(r.jsonBytes) })
	row("bytes allocated, allocations", func(r *result) string {
		return fmt.Sprintf("%s, %d", megabytes(int(r.decoding.bytes)), r.decoding.allocations)
	})
	row("a plain walk of the lists in gdb's Python", seconds(func(r *result) []time.Duration { return r.python }))
	row("Open MPI's own DLL, driven in process, a system call a fetch", seconds(func(r *result) []time.Duration { return r.dll }))
	row("the same, of processors", seconds(func(r *result) []time.Duration { return r.dllCPU }))
	row("the same DLL hosted, by the same command", seconds(func(r *result) []time.Duration { return r.hosted }))
	row("the same, of processors", seconds(func(r *result) []time.Duration { return r.hostedCPU }))
	row("fetches of the DLL", func(r *result) string { return fmt.Sprint(r.fetches) })
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("\nThe machine has %d processors; its load at the end: %s\n", runtime.NumCPU(), load)
}
