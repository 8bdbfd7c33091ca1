//go:build live

package gdb

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// called are the entry points that every command calls.
var called = []string{
	"mqs_version_string", "mqs_version_compatibility", "mqs_dll_taddr_width", "mqs_setup_basic_callbacks", "mqs_dll_error_string",
	"mqs_setup_image", "mqs_image_has_queues", "mqs_setup_process", "mqs_process_has_queues", "mqs_update_communicator_list",
	"mqs_setup_communicator_iterator", "mqs_get_communicator", "mqs_get_comm_group", "mqs_next_communicator",
	"mqs_setup_operation_iterator", "mqs_next_operation",
}

// calledOfJobs are those of version 3.
var calledOfJobs = []string{"mqs_setup_job", "mqs_setup_new_process_iterator", "mqs_next_new_process"}

// place is where a message says that something happened.
func place(entry string) string {
	if entry == "dlopen" {
		return "its initialisation"
	}
	return entry
}

// rogue has a rogue DLL read the toy process in a session and returns what gdb says,
// which must be able to go on.
func rogue(t *testing.T, s *live.Session, fault, entry string, options ...string) string {
	t.Helper()
	s.Do("set mpi-queues dll " + dlls().Rogue(t, fault, entry, options...))
	out := s.Do("mpi-queues")
	if strings.Contains(out, "Traceback") || strings.Contains(out, "goroutine ") {
		t.Errorf("gdb says:\n%s", out)
	}
	return out
}

// sitAtRogues sits at a toy process for rogue DLLs.
func sitAtRogues(t *testing.T) *live.Session {
	t.Helper()
	s := sitAtToy(t, startToy(t, "toy", "/nowhere/libtoy.so"), "")
	s.Do("set mpi-queues dll-timeout 1000")
	s.Do("set mpi-queues limit unlimited")
	return s
}

// A DLL that ends its process, in whatever entry point and way, ends a command
// with a sentence, and nothing else.
func TestRogueEnds(t *testing.T) {
	t.Parallel()
	sample.LogSeed(t)
	s := sitAtRogues(t)
	type fault struct {
		name, entry, happened string
		options               []string
	}
	var faults []fault
	for _, entry := range append(called, "dlopen") {
		faults = append(faults, fault{"crash", entry, "crashed in " + place(entry) + " (SIGSEGV)", nil})
	}
	for _, entry := range calledOfJobs {
		faults = append(faults, fault{"crash", entry, "crashed in " + entry + " (SIGSEGV)", []string{"-DCOMPATIBILITY=3"}})
	}
	faults = append(faults,
		fault{"abort", "mqs_get_communicator", "crashed in mqs_get_communicator (SIGABRT)", nil},
		fault{"divide", "mqs_setup_process", "crashed in mqs_setup_process (SIGFPE)", nil},
		fault{"recurse", "mqs_next_operation", "in mqs_next_operation", nil},
		fault{"exit", "mqs_setup_image", "ended its process in mqs_setup_image (exit status 0)", nil},
		fault{"exit", "dlopen", "ended its process in its initialisation (exit status 0)", nil},
		fault{"_exit", "mqs_next_operation", "ended its process in mqs_next_operation (exit status 3)", nil},
		fault{"close", "mqs_update_communicator_list", "", nil},
	)
	for i, f := range faults {
		if !sample.ChosenIfShort(t.Name(), i, 3) {
			continue
		}
		t.Run(f.name+" "+f.entry, func(t *testing.T) {
			out := rogue(t, s, f.name, f.entry, f.options...)
			if want := "librogue_" + f.name + "_" + f.entry + ".so "; !strings.Contains(out, want) || !strings.Contains(out, f.happened) {
				t.Errorf("it does not say %q and %q:\n%s", want, f.happened, out)
			}
			if strings.Contains(out, "toy world") {
				t.Errorf("what such a DLL has said is shown:\n%s", out)
			}
			healthy(t, s)
		})
	}
}

// A DLL that can't be called any more when its process goes does no harm either.
func TestRogueDestroys(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"mqs_destroy_process_info", "mqs_destroy_image_info"} {
		for _, fault := range []string{"crash", "spin", "exit"} {
			t.Run(fault+" "+entry, func(t *testing.T) {
				next := startToy(t, "toy", dlls().Reference(t))
				s := sitAtRogues(t)
				rogue(t, s, fault, entry)
				s.Do("set mpi-queues dll-timeout 1")
				s.Do("kill")
				s.Do(fmt.Sprintf("attach %d", next.Accounts[0].PID))
				if out := s.Do("mpi-queues"); strings.Contains(out, "Traceback") {
					t.Errorf("gdb says:\n%s", out)
				}
				s.Do("set mpi-queues dll-timeout 1000")
				healthy(t, s)
			})
		}
	}
}

// longest is more than the slowest machine takes until it calls a DLL.
const longest = 10 * time.Minute

// A DLL that does not return is ended at the time limit.
func TestRogueNeverReturns(t *testing.T) {
	t.Parallel()
	s := sitAtRogues(t)
	for _, f := range []struct{ name, entry string }{
		{"spin", "dlopen"},
		{"sleep", "mqs_setup_basic_callbacks"},
		{"spin", "mqs_setup_image"},
		{"sleep", "mqs_setup_process"},
		{"spin", "mqs_update_communicator_list"},
		{"sleep", "mqs_next_operation"},
		{"spin", "mqs_dll_error_string"},
	} {
		t.Run(f.name+" "+f.entry, func(t *testing.T) {
			library := fmt.Sprintf("librogue_%s_%s.so", f.name, f.entry)
			// The slower the machine, the longer it takes until the DLL is called at all.
			for limit := time.Second; ; limit *= 2 {
				s.Do(fmt.Sprintf("set mpi-queues dll-timeout %.0f", limit.Seconds()))
				out := rogue(t, s, f.name, f.entry)
				if strings.Contains(out, library+" kept its process from answering within "+limit.String()) && limit < longest {
					continue
				}
				want := fmt.Sprintf("%s did not return from %s within %v", library, place(f.entry), limit)
				if !strings.Contains(out, want) || !strings.Contains(out, "dll-timeout") {
					t.Errorf("it does not say %q and how to set that:\n%s", want, out)
				}
				break
			}
			s.Do("set mpi-queues dll-timeout 1000")
			healthy(t, s)
		})
	}
}

// Ctrl-C does not wait for the time limit.
func TestRogueInterrupted(t *testing.T) {
	t.Parallel()
	s := sitAtRogues(t)
	for _, fault := range []string{"spin", "sleep"} {
		t.Run(fault, func(t *testing.T) {
			s.Do("set mpi-queues dll " + dlls().Rogue(t, fault, "mqs_next_communicator"))
			written := live.Written(s.PID())
			s.Send("mpi-queues")
			// The echo of the line has some bytes, the request and gdb's answers thousands.
			live.Until(t, "for gdb to serve the DLL", func() bool { return live.Written(s.PID()) > written+300 })
			s.Type("\x03")
			out := s.Await(live.Prompt)
			if !strings.Contains(out, "Quit") || strings.Contains(out, "Traceback") {
				t.Errorf("interrupted, gdb says:\n%s", out)
			}
			healthy(t, s)
		})
	}
}

// What a DLL gives that can't be is said, and what is right besides it is shown.
func TestRogueAnswers(t *testing.T) {
	t.Parallel()
	sample.LogSeed(t)
	s := sitAtRogues(t)
	const some, none = "five lines, of which", ""
	for i, f := range []struct {
		name, entry, answer string
		shown               string // what must be shown all the same
		says                []string
	}{
		{"answer", "mqs_version_compatibility", "1", none, []string{"compatibility", "1"}},
		{"answer", "mqs_version_compatibility", "99", none, []string{"compatibility", "99"}},
		{"answer", "mqs_dll_taddr_width", "4", none, []string{"4"}},
		{"answer", "mqs_dll_taddr_width", "-1", none, []string{"-1"}},
		{"answer", "mqs_setup_image", "4711", none, []string{"mqs_setup_image", "an error that the reference DLL does not know"}},
		{"answer", "mqs_image_has_queues", "101", none, []string{"mqs_image_has_queues", "the program has no toy MPI"}},
		{"answer", "mqs_setup_process", "-7", none, []string{"mqs_setup_process failed: a toy's code below 0 (code -7)"}},
		{"answer", "mqs_process_has_queues", "102", none, []string{"mqs_process_has_queues", "the process has no toy MPI"}},
		{"answer", "mqs_update_communicator_list", "103", none, []string{"mqs_update_communicator_list", "the memory of the toy can't be read"}},
		{"answer", "mqs_setup_communicator_iterator", "103", none, []string{"the memory of the toy can't be read"}},
		{"answer", "mqs_setup_communicator_iterator", "2", "", nil},
		{"answer", "mqs_get_communicator", "103", none, []string{"the memory of the toy can't be read"}},
		{"answer", "mqs_get_comm_group", "103", some, nil},
		{"answer", "mqs_next_communicator", "103", some, []string{"the memory of the toy can't be read"}},
		{"answer", "mqs_setup_operation_iterator", "103", "toy world", []string{"the memory of the toy can't be read"}},
		{"answer", "mqs_next_operation", "103", "toy world", []string{"the memory of the toy can't be read"}},
		{"garbage", "mqs_version_string", "0", none, nil},
		{"garbage", "mqs_dll_error_string", "0", some, nil},
		{"garbage", "mqs_image_has_queues", "0", some, nil},
		{"garbage", "mqs_process_has_queues", "0", some, nil},
		{"unterminated", "mqs_version_string", "0", none, nil},
		{"unterminated", "mqs_dll_error_string", "0", some, nil},
		{"unterminated", "mqs_image_has_queues", "0", some, nil},
		{"unterminated", "mqs_process_has_queues", "0", some, nil},
		{"unterminated", "mqs_get_communicator", "0", strings.Repeat("x", 64), nil},
		{"unterminated", "mqs_next_operation", "0", strings.Repeat("y", 64), nil},
		{"nothing", "mqs_version_string", "0", none, nil},
		{"nothing", "mqs_dll_error_string", "0", some, []string{"105"}},
		{"nothing", "mqs_image_has_queues", "0", some, nil},
		{"nothing", "mqs_process_has_queues", "0", some, nil},
		{"counts", "mqs_get_communicator", "3000000000", "Pending", nil},
		{"counts", "mqs_get_communicator", "-3000000000", "Pending", nil},
		{"counts", "mqs_get_communicator", "0x7fffffffffffffff", "Pending", nil},
		{"counts", "mqs_get_comm_group", "2000000000", some, nil},
		{"counts", "mqs_next_operation", "0x7fffffffffffffff", some, nil},
		{"counts", "mqs_next_operation", "-1", some, nil},
		{"status", "mqs_next_operation", "77", some, nil},
	} {
		if !sample.ChosenIfShort(t.Name(), i, 3) {
			continue
		}
		t.Run(strings.Join([]string{f.name, f.entry, f.answer}, " "), func(t *testing.T) {
			out := rogue(t, s, f.name, f.entry, "-DANSWER="+f.answer)
			for _, text := range append(f.says, f.shown) {
				if !strings.Contains(out, text) {
					t.Errorf("it does not say %q:\n%s", text, out)
				}
			}
			if strings.Contains(out, "crashed") {
				t.Errorf("what the DLL gave made its host crash:\n%s", out)
			}
			// The version string is for people: it may be missing, or be the reason to refuse.
			if f.shown == none && f.name == "answer" && f.answer != "2" && strings.Contains(out, "toy world") {
				t.Errorf("queues are shown all the same:\n%s", out)
			}
			healthy(t, s)
		})
	}
}

// Lists without an end are cut, within the time that a command may take; what
// goes wrong each time is said once.
func TestRogueEndless(t *testing.T) {
	t.Parallel()
	s := sitAtRogues(t)
	for _, c := range []struct{ entry, says string }{
		{"mqs_next_operation", "mqs_next_operation in librogue_endless_mqs_next_operation.so"},
		{"mqs_next_communicator", "16384"},
	} {
		t.Run(c.entry, func(t *testing.T) {
			s.Do("set mpi-queues dll " + dlls().Rogue(t, "endless", c.entry))
			file := filepath.Join(t.TempDir(), "json")
			said := s.Do("mpi-queues -limit 10 -json -output " + file)
			process := parseJSON(t, file, said)
			why := notesOf(process)
			if n := strings.Count(why, "\n"); n > 100 {
				t.Errorf("there are %d notes: %.1000s", n, why)
			}
			for _, communicator := range expect.Communicators(process)[:1] {
				why += show(communicator["unavailable"])
			}
			if !strings.Contains(why, c.says) {
				t.Errorf("it does not say that the list has no end: %.2000s", why)
			}
			healthy(t, s)
		})
	}
	// Version 3's list of processes.
	t.Run("mqs_next_new_process", func(t *testing.T) {
		if out := rogue(t, s, "endless", "mqs_next_new_process", "-DCOMPATIBILITY=3"); !strings.Contains(out, "toy world") {
			t.Errorf("gdb says:\n%.2000s", out)
		}
		healthy(t, s)
	})
}

// What a DLL does to its host's call-backs, memory and output is survived, and
// its queues are shown: `try' lines are the DLL's own account.
func TestRogueSurvived(t *testing.T) {
	t.Parallel()
	sample.LogSeed(t)
	next := startToy(t, "toy", dlls().Reference(t))
	s := sitAtRogues(t)
	for i, f := range []struct {
		name, entry string
		says        []string
	}{
		{"print", "dlopen", nil},
		{"print", "mqs_version_string", nil},
		{"print", "mqs_next_operation", nil},
		{"null", "mqs_setup_basic_callbacks", []string{"try null: survived"}},
		{"null", "mqs_setup_image", []string{"try null: survived"}},
		{"null", "mqs_setup_process", []string{"try null: survived"}},
		{"null", "mqs_next_operation", []string{"try null: survived"}},
		{"foreign", "mqs_setup_basic_callbacks", []string{"try own: survived", "try small: survived", "try large: survived"}},
		{"foreign", "mqs_setup_image", []string{"try image: survived"}},
		{"foreign", "mqs_setup_process", []string{"try process: survived"}},
		{"thread", "mqs_setup_image", []string{"try thread: "}},
		{"thread", "mqs_update_communicator_list", []string{"try thread: "}},
		{"late", "mqs_setup_process", []string{"try thread: "}},
		{"leak", "mqs_setup_process", nil},
		{"free_twice", "mqs_setup_image", []string{"try free_twice: survived"}},
		{"free_wild", "mqs_setup_process", []string{"try free_wild: survived"}},
		{"malloc_huge", "mqs_setup_image", []string{"try malloc 18446744073709551615: refused", "try malloc 1099511627776: refused"}},
		{"fetch_huge", "mqs_process_has_queues", []string{"try fetch 2 GiB: "}},
		{"fetch_wild", "mqs_process_has_queues", []string{"try fetch to nowhere: "}},
	} {
		if !sample.ChosenIfShort(t.Name(), i, 3) {
			continue
		}
		t.Run(f.name+" "+f.entry, func(t *testing.T) {
			out := rogue(t, s, f.name, f.entry)
			for _, text := range append(f.says, "toy world") {
				if !strings.Contains(out, text) {
					t.Errorf("it does not say %q:\n%s", text, out)
				}
			}
			for _, text := range []string{"try fetch 2 GiB: 0", "#####", "printed by the rogue DLL"} {
				if strings.Contains(out, text) {
					t.Errorf("it says %q:\n%s", text, out)
				}
			}
			healthy(t, s)
		})
	}
	// A process that it has started would outlive the helper: it can start none.
	t.Run("orphan", func(t *testing.T) {
		if out := rogue(t, s, "orphan", "mqs_setup_process"); !strings.Contains(out, "try orphan: -1") {
			t.Errorf("it has started a process:\n%s", out)
		}
		healthy(t, s)
	})
	// Writing beyond what it was given may end the host, but nothing else.
	for _, entry := range []string{"mqs_get_communicator", "mqs_get_comm_group", "mqs_next_operation"} {
		t.Run("overrun "+entry, func(t *testing.T) {
			if out := rogue(t, s, "overrun", entry); !strings.Contains(out, "toy world") && !strings.Contains(out, "librogue_overrun_"+entry+".so") {
				t.Errorf("gdb says:\n%s", out)
			}
			healthy(t, s)
		})
	}
	// For the DLL's authors: what it forgot is told at debug level.
	t.Run("leaks are reported", func(t *testing.T) {
		s.Do("set mpi-queues debug on")
		s.Do("set mpi-queues dll " + dlls().Rogue(t, "leak", "mqs_setup_process"))
		out := s.Do("mpi-queues") + s.Do("kill")
		out += s.Do(fmt.Sprintf("attach %d", next.Accounts[0].PID))
		if out += s.Do("mpi-queues"); !strings.Contains(out, "100000") && !strings.Contains(out, "1000 ") {
			t.Errorf("1000 forgotten blocks of 100 bytes are not reported:\n%s", out)
		}
	})
}

// A job of an MPI with a decoder is read by that again after a DLL has failed.
func TestRogueThenNative(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "many", 2, nil, "30")
	s := work.StartSession(t, live.Process(job.Accounts[0].PID))
	for _, c := range trusting(dlls().Rogue(t, "crash", "mqs_setup_image")) {
		s.Do(c)
	}
	s.Says("mpi-queues", "librogue_crash_mqs_setup_image.so crashed in mqs_setup_image (SIGSEGV)")
	s.Do("set mpi-queues source auto")
	if out := s.Says("mpi-queues", "Pending receives"); strings.Contains(out, "crashed") {
		t.Errorf("the DLL is asked all the same:\n%s", out)
	}
	// Both: what one of the two has is shown.
	s.Do("set mpi-queues source both")
	s.Says("mpi-queues", "Pending receives", "crashed in mqs_setup_image")
}
