//go:build live

package gdb

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// What is wrong with a command is said in gdb's words, and nothing is shown.
func TestWrongCommands(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "3")
	where := live.Process(job.Accounts[0].PID)
	for command, sentence := range map[string]string{
		"mpi-queues -comm nowhere":                 `no communicator has the name or id "nowhere"; there are "MPI_COMM_WORLD" (0x0), "MPI_COMM_SELF" (0x1)`,
		"mpi-queues -comm":                         "-comm requires an argument",
		"mpi-queues -nothing":                      "Unrecognized option at: -nothing",
		"mpi-queues -queue all":                    `Undefined item: "all".`,
		"mpi-queues -queue":                        "Valid arguments are sends, receives, unexpected.",
		"mpi-queues -limit few":                    "Expected integer at: few",
		"mpi-queues -limit -1":                     "integer -1 out of range",
		"mpi-queues now":                           `Junk at end of arguments: "now".`,
		"info mpi now":                             `Junk at end of arguments: "now".`,
		"mpi-queues -output /nowhere/x":            "/nowhere/x can't be written",
		"mpi-queues -output /tmp/x -record /tmp/x": "-output and -record name the same file",
		"set mpi-queues source everywhere":         `Undefined item: "everywhere".`,
		"set mpi-queues speed 3":                   `Undefined set mpi-queues command: "speed 3".`,
		"show mpi-queues speed":                    `Undefined show mpi-queues command: "speed".`,
	} {
		t.Run(command, func(t *testing.T) {
			out := work.GDB(t, where, command)
			if !strings.Contains(out.Stderr, sentence) {
				t.Errorf("it does not say %q:\n%s", sentence, out.Stderr)
			}
			out.Lacks(t, "Traceback", "Pending receives")
		})
	}
}

func TestHelpAndCompletion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command string
		want    []string // among its output
		all     bool     // or all of it, line by line
	}{
		{"help mpi-queues", []string{"Usage: mpi-queues [OPTION]...", "-comm NAME|ID", "-queue sends|receives|unexpected", "-internal", "-members", "-all-communicators", "-limit NUMBER|unlimited", "-json", "-output FILE", "-record FILE"}, false},
		{"help info mpi", []string{"Usage: info mpi"}, false},
		{"help set mpi-queues", []string{"set mpi-queues debug --", "set mpi-queues dll --", "set mpi-queues dll-safe-path --", "set mpi-queues dll-timeout --", "set mpi-queues helper --", "set mpi-queues limit --", "set mpi-queues source --"}, false},
		{"help data", []string{"mpi-queues -- Show pending MPI sends"}, false},
		{"apropos MPI", []string{"info mpi --", "mpi-queues --"}, false},
		{"complete mpi-queues -q", []string{"mpi-queues -queue"}, true},
		{"complete mpi-queues -", []string{"mpi-queues -all", "mpi-queues -all-communicators", "mpi-queues -comm", "mpi-queues -internal", "mpi-queues -json", "mpi-queues -limit", "mpi-queues -members", "mpi-queues -output", "mpi-queues -queue", "mpi-queues -record"}, true},
		{"complete mpi-queues -json -queue ", []string{"mpi-queues -json -queue receives", "mpi-queues -json -queue sends", "mpi-queues -json -queue unexpected"}, true},
		{"complete mpi-queues -output /procf", nil, true},
		{"complete mpi-queues -output /proc/self/statu", []string{"mpi-queues -output /proc/self/status"}, true},
		{"complete set mpi-queues so", []string{"set mpi-queues source"}, true},
		{"complete set mpi-queues source ", []string{"set mpi-queues source auto", "set mpi-queues source both", "set mpi-queues source dll", "set mpi-queues source native"}, true},
		{"complete info mpi", []string{"info mpi"}, true},
	} {
		t.Run(c.command, func(t *testing.T) {
			out := work.GDB(t, live.Nothing(), c.command)
			if c.all {
				if got := strings.Split(strings.TrimSuffix(out.All(), "\n"), "\n"); !slices.Equal(got, c.want) && (len(c.want) > 0 || out.All() != "") {
					t.Errorf("got %q, want %q", got, c.want)
				}
				return
			}
			out.Contains(t, c.want...)
		})
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "30")
	where := live.Process(job.Accounts[0].PID)
	for _, c := range []struct{ name, set, show, sentence string }{
		{"limit", "", "show mpi-queues limit", "The limit on operations of a queue to show is 200."},
		{"limit 7", "set mpi-queues limit 7", "show mpi-queues limit", "The limit on operations of a queue to show is 7."},
		{"limit 0", "set mpi-queues limit 0", "show mpi-queues limit", "The limit on operations of a queue to show is unlimited."},
		{"source", "", "show mpi-queues source", `Where mpi-queues may read queues from is "auto".`},
		{"source native", "set mpi-queues source native", "show mpi-queues source", `Where mpi-queues may read queues from is "native".`},
		{"dll", "", "show mpi-queues dll", "The queue DLL is not set, so it is looked for."},
		{"dll-safe-path", "", "show mpi-queues dll-safe-path", "The folders whose queue DLLs are trusted are not set, so it is the owners and permissions of a queue DLL that decide."},
		{"dll-timeout", "", "show mpi-queues dll-timeout", "The limit on the seconds that a queue DLL may take is 10."},
		{"debug", "", "show mpi-queues debug", "Debugging of mpi-queues itself is off."},
		{"debug on", "set mpi-queues debug on", "show mpi-queues debug", "Debugging of mpi-queues itself is on."},
		{"helper", "set mpi-queues helper", "show mpi-queues helper", "The helper program of mpi-queues is not set, so it is looked for."},
		{"helper x", "set mpi-queues helper /x y", "show mpi-queues helper", `The helper program of mpi-queues is "/x y".`},
		{"all", "", "show mpi-queues", "limit:  The limit on operations of a queue to show is 200.\npretty-printers:  Printing what MPI handles stand for is on.\nsource:  "},
	} {
		t.Run(c.name, func(t *testing.T) {
			work.GDB(t, live.Nothing(), c.set, c.show).Contains(t, c.sentence)
		})
	}
	t.Run("limit is heeded", func(t *testing.T) {
		out := work.GDB(t, where, "set mpi-queues limit 7", "mpi-queues")
		out.Contains(t, "... and 23 more of 30 (-limit)")
		work.GDB(t, where, "set mpi-queues limit 7", "mpi-queues -limit unlimited").Lacks(t, "(-limit)")
		work.GDB(t, where, "set mpi-queues limit unlimited", "mpi-queues -limit 29").Contains(t, "... and 1 more of 30 (-limit)")
	})
	t.Run("debug is heeded", func(t *testing.T) {
		out := work.GDB(t, where, "set mpi-queues debug on", "mpi-queues", "set mpi-queues helper /nowhere/x", "mpi-queues")
		out.Contains(t, " round trips, ", " bytes read, ", "Traceback")
		out.Lacks(t, "<nil>")
	})
}

func TestInfoMPI(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "3")
	out := work.GDB(t, live.Process(job.Accounts[0].PID), "info mpi")
	out.Contains(t, "Program:  "+job.Program+"\n", "MPI:      "+release(t)+"\n", "mpi.so.40\n", "Source:   native\n",
		"Layout:   the embedded table of "+release(t)+", proved on this process\n", "Helper:   mpi-queues ",
		"libompi_dbg_msgq.so, which is trusted and not loaded: `set mpi-queues source both' compares it\n")

	// What would not be trusted is not.
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(folder, "libqueues.so")
	if err := os.WriteFile(open, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	out = work.GDB(t, live.Process(job.Accounts[0].PID), "set mpi-queues dll "+open, "info mpi", "mpi-queues", "set mpi-queues dll-safe-path "+folder, "info mpi")
	out.Contains(t, "DLL:      "+open+" is not loaded, since ", "DLL:      "+open+", which is trusted and not loaded", "Pending receives")
}

// A file holds what would have been shown, or is not touched.
func TestOutput(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "30")
	folder := t.TempDir()
	file, kept := filepath.Join(folder, "a file"), filepath.Join(folder, "kept")
	if err := os.WriteFile(kept, []byte("as before"), 0o640); err != nil {
		t.Fatal(err)
	}
	out := work.GDB(t, live.Process(job.Accounts[0].PID), `mpi-queues -output "`+file+`"`, "mpi-queues -comm nowhere -output "+kept, "echo <\\n", "mpi-queues", "echo >\\n")
	_, shown, _ := strings.Cut(out.Stdout, "<\n")
	shown, _, _ = strings.Cut(shown, ">\n")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != shown || !strings.Contains(shown, "Pending receives") {
		t.Errorf("the file holds:\n%s\nshown is:\n%s", text, shown)
	}
	if before, _, _ := strings.Cut(out.Stdout, "<\n"); strings.Contains(before, "Pending") {
		t.Errorf("with -output, gdb shows:\n%s", before)
	}
	if text, err := os.ReadFile(kept); err != nil || string(text) != "as before" {
		t.Errorf("a command that failed left %q (%v)", text, err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 2 {
		t.Errorf("left in the folder: %v (%v)", entries, err)
	}
}
