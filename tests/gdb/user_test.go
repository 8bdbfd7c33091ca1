//go:build live

package gdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

const shadow = "tests/gdb/testdata/shadow.c"

// What the user has set and selected does not lead the product astray, and
// stays as it was; so does what the program names like the library's things.
func TestUserState(t *testing.T) {
	t.Parallel()
	job := work.Start(t, shadow, 2, nil)
	for _, c := range []struct{ name, set, show, sentence string }{
		{"as it comes", "", "show language", `"auto; currently c"`},
		{"local variables of the library's names", "frame function stand", "print ompi_mpi_communicators + mca_pml", "$1 = 59\n"},
		{"Fortran", "set language fortran", "show language", `"fortran"`},
		{"Fortran in a frame", "frame function stand", "print ompi_mpi_communicators", "$1 = 42\n"},
		{"Ada", "set language ada", "show language", `"ada"`},
		{"radix", "set radix 16", "show output-radix", "values is 16."},
		{"short values", "set max-value-size 16", "show max-value-size", "16 bytes"},
		{"terse", "set print elements 1", "show print elements", "is 1."},
		{"no unwinding", "set backtrace limit 1", "show backtrace limit", "is 1."},
		{"pagination", "set pagination on", "show pagination", "is on."},
		{"narrow", "set width 20", "show width", "is 20."},
		{"another frame", "frame function main", "frame", " in main ("},
	} {
		t.Run(c.name, func(t *testing.T) {
			account := job.Accounts[0]
			file := filepath.Join(t.TempDir(), "json")
			out := work.GDB(t, live.Process(account.PID), c.set, "mpi-queues -json -output "+file, c.show, "print 1")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; gdb says:\n%s", err, out.All())
			}
			live.Report(t, expect.Compare(account, (&live.Reading{JSON: text}).Process(t)))
			out.Contains(t, c.sentence)
			out.Lacks(t, "Traceback")
			if n := strings.Count(c.show, "print ompi") + 1; !strings.Contains(out.Stdout, fmt.Sprintf("$%d = ", n)) {
				t.Errorf("gdb's history of values is not as it was:\n%s", out.Stdout)
			}
		})
	}
}

// A static variable of the program's is not taken for the library's global one.
func TestHiddenSymbol(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "tests/gdb/testdata/hiding.c", 2, nil)
	work.Read(t, live.Process(job.Accounts[0].PID)).Agrees(t, job.Accounts[0])
}

// With several inferiors, it is the current one that is shown.
func TestInferiors(t *testing.T) {
	t.Parallel()
	job := work.Start(t, shadow, 2, nil)
	other := work.Start(t, "lifecycle", 1, nil, "before")
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	show := func(name string) string { return `mpi-queues -json -output "` + file(name) + `"` }
	out := work.GDB(t, live.Process(job.Accounts[0].PID),
		show("1"),
		"add-inferior -exec "+job.Program, "inferior 2", fmt.Sprintf("attach %d", job.Accounts[1].PID), show("2"),
		"add-inferior", "inferior 3", "mpi-queues", fmt.Sprintf("attach %d", other.Accounts[0].PID), "mpi-queues", "info mpi",
		"inferior 1", show("1 again"), "inferior 2", show("2 again"), "detach inferiors 1", "mpi-queues", "info inferiors")
	for name, rank := range map[string]int{"1": 0, "2": 1, "1 again": 0, "2 again": 1} {
		text, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatalf("%v; gdb says:\n%s", err, out.All())
		}
		process := (&live.Reading{JSON: text}).Process(t)
		live.Report(t, expect.Compare(job.Accounts[rank], process))
		if got := fmt.Sprint(process["inferior"]); got != fmt.Sprint(rank+1) {
			t.Errorf("%s: inferior is %s, want %d", name, got, rank+1)
		}
	}
	out.Contains(t, "The program is not being run", "has not called MPI_Init yet", "Rank 1 of 2", "* 2    process")
	out.Lacks(t, "Traceback")
}

// The pager asks as for gdb's own commands, and can be left.
func TestPaging(t *testing.T) {
	t.Parallel()
	const more = "--Type <RET> for more, q to quit, c to continue without paging--"
	job := work.Start(t, "many", 2, nil, "100")
	s := work.StartSession(t, live.Process(job.Accounts[0].PID))
	s.Do("set pagination on")
	s.Do("set height 20")
	for range 2 {
		s.Send("mpi-queues")
		first := s.Await(more)
		if lines := strings.Count(first, "\n"); lines < 18 || lines > 22 {
			t.Errorf("the first page has %d lines:\n%s", lines, first)
		}
		s.Send("")
		s.Await(more)
		s.Send("q")
		if rest := s.Await(live.Prompt); strings.Contains(rest, "Traceback") || strings.Contains(rest, "failed") {
			t.Errorf("left, the pager says:\n%s", rest)
		}
	}
	s.Send("mpi-queues")
	s.Await(more)
	s.Send("c")
	if rest := s.Await(live.Prompt); strings.Count(rest, "irecv") < 70 || strings.Contains(rest, more) {
		t.Errorf("the rest is:\n%s", rest)
	}
	s.Says("show height", "is 20.")
	s.Says("show pagination", "is on.")
}

// gdb's log gets what is shown.
func TestLogging(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "10")
	log := filepath.Join(t.TempDir(), "log")
	out := work.GDB(t, live.Process(job.Accounts[0].PID), "set logging file "+log, "set logging enabled on", "mpi-queues", "show logging enabled", "set logging enabled off", "mpi-queues -limit 1")
	out.Contains(t, "Pending receives", "(-limit)")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), "irecv") != 10 || !strings.Contains(string(text), "is enabled") || strings.Contains(string(text), "(-limit)") {
		t.Errorf("the log holds:\n%s", text)
	}
}

// Colours are for terminals, where gdb's own style is enabled.
func TestStyle(t *testing.T) {
	t.Parallel()
	const escape = "\x1b["
	const command = "mpi-queues -queue receives"
	job := work.Start(t, "many", 2, nil, "3")
	where := live.Process(job.Accounts[0].PID)
	s := work.StartSession(t, where, "TERM=xterm")
	s.Do("python import mpi_queues.progress; mpi_queues.progress.PATIENCE = 1e9") // no word of how far it has come
	out := s.Says(command, "\x1b[1mRank 0 of 2", "\x1b[34mPending receives\x1b[m")
	s.Do("set style enabled off")
	plain := s.Says(command, "Pending receives")
	if got := colourless(plain); got != plain && strings.Contains(plain, escape+"3") {
		t.Errorf("with style disabled:\n%q", plain)
	}
	if colourless(out) != colourless(plain) {
		t.Errorf("the text differs:\n%q\nwithout style:\n%q", colourless(out), colourless(plain))
	}
	s.Do("set style enabled on")
	file := filepath.Join(t.TempDir(), "text")
	s.Do(command + " -output " + file)
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), escape) || len(text) == 0 {
		t.Errorf("the file holds %q (%v)", text, err)
	}
	if out := s.Do(command + " -json"); strings.Contains(out, escape+"1m") || strings.Contains(out, escape+"34m") {
		t.Errorf("JSON is styled:\n%q", out)
	}
	s.Do("detach")
	if out := work.GDB(t, where, "set style enabled on", command); strings.Contains(out.Stdout[strings.Index(out.Stdout, "Rank 0"):], escape) {
		t.Errorf("on a pipe:\n%q", out.Stdout)
	}
	dumb := work.StartSession(t, where)
	dumb.Do("set style enabled on")
	if out := dumb.Says(command, "Pending receives"); strings.Contains(out, escape) {
		t.Errorf("on a dumb terminal:\n%q", out)
	}
}

// colourless takes escape sequences out of a text.
func colourless(s string) string {
	parts := strings.Split(s, "\x1b[")
	for i := range parts[1:] {
		end := strings.IndexFunc(parts[i+1], func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
		parts[i+1] = parts[i+1][end+1:]
	}
	return strings.Join(parts, "")
}
