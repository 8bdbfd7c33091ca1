//go:build live

package gdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// However a process tells where its DLL is, it is found.
func TestFindDLL(t *testing.T) {
	t.Parallel()
	dll := dlls().Reference(t)
	for _, kind := range []string{"toy", "toy_pointer", "toy_locations", "toy_bare", "toy_bare_pointer"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			job := startToy(t, kind, dll)
			where := live.Process(job.Accounts[0].PID)
			work.GDB(t, where, append(trusting(""), "mpi-queues", "info mpi")...).Contains(t, "toy world", dll)
			// auto is the DLL where there is no decoder.
			work.GDB(t, where, append(trusting(""), "set mpi-queues source auto", "mpi-queues")...).Contains(t, "toy world")
			// native does not look at it.
			work.GDB(t, where, append(trusting(""), "set mpi-queues source native", "mpi-queues")...).Lacks(t, "toy world")
			// The user's word overrides.
			out := work.GDB(t, where, append(trusting(dlls().Rogue(t, "crash", "mqs_setup_image")), "mpi-queues")...)
			out.Contains(t, "librogue_crash_mqs_setup_image.so crashed in mqs_setup_image")
			out.Lacks(t, "toy world")
		})
	}
}

// Where the process does not tell, the one that started it may.
func TestFindDLLInStarter(t *testing.T) {
	t.Parallel()
	dll := dlls().Reference(t)
	job := work.Start(t, "tests/dll/starter.c", 0, nil, work.Program(t, "tests/dll/toy_none.c"), dll)
	out := work.GDB(t, live.Process(job.Accounts[0].PID), append(trusting(""), "mpi-queues", "info mpi")...)
	out.Contains(t, "toy world", dll)
	out.Lacks(t, "Traceback")
}

// TestFindDLLInFarStarter checks that the launcher on gdb's machine is asked for the DLL of a rank on another machine, if
// `mpi-attach' has attached to the rank: its ancestors are not on this machine. Otherwise the user is told what was asked.
func TestFindDLLInFarStarter(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "tests/dll/starter.c", 0, nil, work.Program(t, "tests/dll/toy_none.c"), dlls().Reference(t))
	rank := live.Remote(job.Accounts[0].PID)
	work.GDB(t, rank, append(trusting(""), "mpi-queues")...).Contains(t, "neither the process nor another inferior names one (MPIR_dll_name")
	attached := "python from mpi_queues import jobs; pid = gdb.selected_inferior().pid;" +
		" jobs.add(jobs.Attached(1, pid, '', False, 0, 'far', 0), 0);" +
		fmt.Sprintf(" jobs.remember(jobs.Job([{'rank': 0, 'pid': pid, 'host': 'far'}], %d))", job.Launcher())
	work.GDB(t, rank, append(trusting(""), attached, "mpi-queues")...).Contains(t, "toy world")
}

// Where nobody tells, the user reads what was looked for and how to name a DLL.
func TestNoDLL(t *testing.T) {
	t.Parallel()
	// Not through work.Start alone: the toy's parent must be no starter.
	job := startToy(t, "toy_none", "unused")
	out := work.GDB(t, live.Process(job.Accounts[0].PID), append(trusting(""), "mpi-queues")...)
	for _, text := range []string{"MPIR_dll_name", "set mpi-queues dll"} {
		if !strings.Contains(out.Stderr, text) {
			t.Errorf("it does not say %q:\n%s", text, out.All())
		}
	}
	out.Lacks(t, "toy world", "Traceback")
	// Its path given, the DLL works.
	work.GDB(t, live.Process(job.Accounts[0].PID), append(trusting(dlls().Reference(t)), "mpi-queues")...).Contains(t, "toy world")
}

// What is no DLL, or not there, is said.
func TestWrongDLL(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp(work.Folder, "wrong-")
	if err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(folder, "libtext.so")
	if err := os.WriteFile(text, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"not there": filepath.Join(folder, "libnone.so"), "no library": text, "a folder": folder, "a device": "/dev/null"} {
		t.Run(name, func(t *testing.T) {
			job := startToy(t, "toy", path)
			for _, commands := range [][]string{trusting(""), trusting(path)} {
				out := work.GDB(t, live.Process(job.Accounts[0].PID), append(commands, "mpi-queues")...)
				out.Contains(t, path)
				out.Lacks(t, "toy world", "Traceback")
			}
		})
	}
}

// A DLL that others could have changed is refused, with how to allow it.
func TestUntrustedDLL(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(dlls().Reference(t))
	if err != nil {
		t.Fatal(err)
	}
	outer, err := os.MkdirTemp(work.Folder, "trust-")
	if err != nil {
		t.Fatal(err)
	}
	copyTo := func(path string, mode os.FileMode) string {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	open := filepath.Join(outer, "open")
	inOpen := copyTo(filepath.Join(open, "libtoy.so"), 0o755)
	sticky := filepath.Join(outer, "sticky")
	inSticky := copyTo(filepath.Join(sticky, "libtoy.so"), 0o755)
	above := filepath.Join(outer, "above")
	belowOpen := copyTo(filepath.Join(above, "closed", "libtoy.so"), 0o755)
	for folder, mode := range map[string]os.FileMode{open: 0o777, sticky: 0o777 | os.ModeSticky, above: 0o777} {
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, path := range map[string]string{
		"in a world-writable folder":  inOpen,
		"in a sticky folder":          inSticky,
		"below a world-writable one":  belowOpen,
		"a file that others can edit": copyTo(filepath.Join(outer, "closed", "libtoy.so"), 0o777),
	} {
		t.Run(name, func(t *testing.T) {
			job := startToy(t, "toy", path)
			where := live.Process(job.Accounts[0].PID)
			folder := filepath.Dir(path)
			for _, commands := range [][]string{
				{"set mpi-queues source dll"},
				{"set mpi-queues source auto"},
				{"set mpi-queues source dll", "set mpi-queues dll " + path},
				{"set mpi-queues source dll", "set mpi-queues dll-safe-path /usr:/nowhere"},
				// The beginning of a folder's name is no folder.
				{"set mpi-queues source dll", "set mpi-queues dll-safe-path " + folder[:len(folder)-1]},
			} {
				out := work.GDB(t, where, append(commands, "mpi-queues")...)
				for _, text := range []string{path, "dll-safe-path"} {
					if !strings.Contains(out.Stderr, text) {
						t.Errorf("%q: it does not say %q:\n%s", commands, text, out.All())
					}
				}
				out.Lacks(t, "toy world", "Traceback")
			}
			out := work.GDB(t, where, "set mpi-queues source dll", "set mpi-queues dll-safe-path /usr:"+filepath.Dir(path), "mpi-queues")
			out.Contains(t, "toy world")
		})
	}
	// A link in a safe folder is no way around it: what counts is where the file is.
	t.Run("a link", func(t *testing.T) {
		safe := filepath.Join(outer, "safe")
		if err := os.Mkdir(safe, 0o755); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(safe, "libtoy.so")
		if err := os.Symlink(inOpen, link); err != nil {
			t.Fatal(err)
		}
		job := startToy(t, "toy", link)
		out := work.GDB(t, live.Process(job.Accounts[0].PID), "set mpi-queues source dll", "set mpi-queues dll-safe-path "+safe, "mpi-queues")
		out.Contains(t, "dll-safe-path")
		out.Lacks(t, "toy world")
	})
}

// Without a setting, a DLL is trusted where only its user and root can write, a
// folder of theirs in the temporary one included.
func TestTrustedDLL(t *testing.T) {
	t.Parallel()
	job := startToy(t, "toy", dlls().Reference(t))
	for _, source := range []string{"dll", "auto"} {
		work.GDB(t, live.Process(job.Accounts[0].PID), "set mpi-queues source "+source, "mpi-queues").Contains(t, "toy world")
	}
}

// While a DLL is loaded it can't do much, and `info mpi' says so.
func TestConfinedDLL(t *testing.T) {
	t.Parallel()
	victim := filepath.Join(os.TempDir(), "mpi-queues-rogue-victim")
	if err := os.WriteFile(victim, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(victim) })
	for _, entry := range []string{"dlopen", "mqs_setup_basic_callbacks", "mqs_next_operation"} {
		t.Run(entry, func(t *testing.T) {
			job := startToy(t, "toy", dlls().Rogue(t, "escape", entry))
			commands := append(trusting(""), "set mpi-queues limit unlimited", "mpi-queues", "info mpi")
			out := work.GDB(t, live.Process(job.Accounts[0].PID), commands...)
			for _, what := range []string{"socket", "unix socket", "write", "make a folder", "remove", "signal the parent",
				"ptrace the parent", "write to the parent", "write by a child"} {
				out.Contains(t, "try "+what+": ")
			}
			out.Lacks(t, "ALLOWED", "Traceback")
			out.Contains(t, "toy world", "onfine")
			if _, err := os.Stat(victim); err != nil {
				t.Errorf("the DLL has removed a file: %v", err)
			}
		})
	}
}
