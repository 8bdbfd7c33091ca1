//go:build live

package gdb

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/dll/testdll"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// versions are the options of the reference DLLs, one for each version of the interface.
var versions = map[string][]string{"version 2": {"-DCOMPATIBILITY=2"}, "version 3": {"-DCOMPATIBILITY=3"}}

// All that the reference DLL gives is shown, translated as the interface has it,
// and none of its checks on call-backs, handles and the order of calls fails,
// however gdb looks at the process.
func TestReferenceDLL(t *testing.T) {
	t.Parallel()
	for name, options := range versions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dll := dlls().Reference(t, options...)
			job := startToy(t, "toy", dll)
			pid := job.Accounts[0].PID
			core := filepath.Join(t.TempDir(), "core")
			work.GDB(t, live.Process(pid), "generate-core-file "+core)
			for _, where := range []live.Where{live.Process(pid), live.Remote(pid), live.Core(job.Program, core)} {
				t.Run(where.Name, func(t *testing.T) {
					process := readJSON(t, where, trusting("")...)
					communicators, calls, failures := takeCalls(t, process)
					compareToy(t, toyCommunicators(t), communicators)
					if len(failures) > 0 {
						t.Errorf("checks of the reference DLL failed:\n  %s", strings.Join(failures, "\n  "))
					}
					checkOrder(t, calls, name == "version 3")
					if process["source"] != "dll" || process["unavailable"] != nil {
						t.Errorf("source is %v, unavailable is %v", process["source"], process["unavailable"])
					}
					notes := notesOf(process)
					for _, text := range []string{
						job.Program + " is a toy, at 100% of %d %n", // its one %s is replaced, and nothing else
						"libreference.so says: ",                    // whose words these are
						"16777217", "-5",                            // sizes that can't be
						"the memory of the toy can't be read", "troubled", // the end of a broken list
					} {
						if !strings.Contains(notes, text) {
							t.Errorf("the notes lack %q:\n%s", text, notes)
						}
					}
					troubled := communicators[len(communicators)-1]
					if why := show(troubled["unavailable"]); !strings.Contains(why, "a queue of the toy is out of order") || !strings.Contains(why, "libreference.so") {
						t.Errorf("the error of a queue is said as %s", why)
					}
					if name == "version 3" && !strings.Contains(notes, "4242") {
						t.Errorf("a process that was created is not told of:\n%s", notes)
					}
				})
			}
		})
	}
}

// checkOrder holds the entry points that one command has called against the
// order of the interface.
func checkOrder(t *testing.T, calls []string, jobs bool) {
	t.Helper()
	name := func(call string) string {
		call, _, _ = strings.Cut(call, "(")
		call, _, _ = strings.Cut(call, " x ")
		return call
	}
	var names []string
	for _, call := range calls {
		if !strings.HasPrefix(call, " ") && name(call) != "mqs_dll_taddr_width" {
			names = append(names, name(call))
		}
	}
	if len(names) < 8 {
		t.Fatalf("these calls are too few: %q", calls)
	}
	first := names[:2]
	slices.Sort(first)
	want := []string{"mqs_version_compatibility", "mqs_version_string", "mqs_setup_basic_callbacks",
		"mqs_setup_image", "mqs_image_has_queues", "mqs_setup_process", "mqs_process_has_queues", "mqs_update_communicator_list"}
	got := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "mqs_setup_job" })
	if !slices.Equal(got[:len(want)], want) {
		t.Errorf("it begins with %q, want %q", got[:len(want)], want)
	}
	for _, once := range want {
		if n := count(names, once); n != 1 {
			t.Errorf("%s is called %d times for one command", once, n)
		}
	}
	// Every entry point but those that tidy up has been called.
	all := []string{"mqs_dll_error_string", "mqs_setup_communicator_iterator", "mqs_get_communicator", "mqs_get_comm_group",
		"mqs_next_communicator", "mqs_setup_operation_iterator", "mqs_next_operation"}
	if jobs {
		all = append(all, "mqs_setup_job", "mqs_setup_new_process_iterator", "mqs_next_new_process")
	}
	for _, n := range all {
		if count(names, n) == 0 {
			t.Errorf("%s has not been called", n)
		}
	}
}

func count(list []string, what string) int {
	n := 0
	for _, s := range list {
		if s == what {
			n++
		}
	}
	return n
}

// ofCalls counts calls of an entry point in an account of calls.
func ofCalls(calls []string, entry string) int {
	return len(slices.DeleteFunc(slices.Clone(calls), func(c string) bool { return !strings.HasPrefix(c, entry) }))
}

// Over a session a DLL is loaded and its image set up once. A process is set up for every
// display, and given back before the next and when it has gone.
func TestReferenceDLLSession(t *testing.T) {
	t.Parallel()
	for name, options := range versions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dll := dlls().Reference(t, options...)
			job, next := startToy(t, "toy", dll), startToy(t, "toy", dll)
			s := sitAtToy(t, job, "")
			folder := t.TempDir()
			displays := 0
			display := func() (calls []string) {
				t.Helper()
				displays++
				file := filepath.Join(folder, fmt.Sprint(displays))
				said := s.Do("mpi-queues -json -output " + file)
				_, calls, failures := takeCalls(t, parseJSON(t, file, said))
				if len(failures) > 0 {
					t.Fatalf("display %d: checks of the reference DLL failed:\n  %s", displays, strings.Join(failures, "\n  "))
				}
				return calls
			}
			display()
			display()
			calls := display()
			for entry, want := range map[string]int{
				"mqs_setup_basic_callbacks": 1, "mqs_setup_image": 1, "mqs_image_has_queues": 1, "mqs_setup_process": 3,
				"mqs_process_has_queues": 3, "mqs_update_communicator_list": 3, "mqs_destroy_process_info": 2,
				"mqs_destroy_image_info": 0, "mqs_destroy_job_info": 0,
			} {
				if got := ofCalls(calls, entry); got != want {
					t.Errorf("after three displays, %s has been called %d times, want %d", entry, got, want)
				}
			}

			// The next process: the first one's objects are given back, its own before its image.
			s.Do("kill")
			s.Do(fmt.Sprintf("attach %d", next.Accounts[0].PID))
			calls = display()
			process := slices.Index(calls, "mqs_destroy_process_info(3)")
			image := slices.Index(calls, "mqs_destroy_image_info(1)")
			again := slices.Index(calls, "mqs_setup_process(4)")
			if process < 0 || again < process || image >= 0 && (image < process || again < image) {
				t.Errorf("for another process the DLL was called in this order: %q", calls[max(0, len(calls)-120):])
			}
			if ofCalls(calls, "mqs_setup_basic_callbacks") != 1 {
				t.Errorf("mqs_setup_basic_callbacks has been called again")
			}
			if image < 0 && ofCalls(calls, "mqs_setup_image") != 1 {
				t.Errorf("an image was set up again that had not been destroyed")
			}
		})
	}
}

// Between two stops the process changes its lists: what is shown is what there is, also by a
// DLL that keeps what it has read of a process.
func TestReferenceDLLChanges(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]string{"reads anew": nil, "keeps": {"-DKEEPS=1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := startToy(t, "toy", dlls().Reference(t, options...))
			s := sitAtToy(t, job, "")
			s.Says("mpi-queues", "no group", "toy world")
			s.Do("break toy_changed")
			change := func() {
				t.Helper()
				if err := os.WriteFile(filepath.Join(job.Folder, "change"), nil, 0o644); err != nil {
					t.Fatal(err)
				}
				s.Says("continue", "Breakpoint 1, toy_changed")
			}
			change()
			if out := s.Says("mpi-queues", "toy world", " 77 "); strings.Contains(out, "no group") {
				t.Errorf("a communicator that has been freed is shown:\n%s", out)
			}
			change()
			s.Says("mpi-queues", "a newcomer")
			s.Do("set mpi-queues limit unlimited")
			if out := s.Do("mpi-queues -comm calls -queue receives"); strings.Contains(out, "FAILED") || strings.Contains(out, " is called ") {
				t.Errorf("checks of the reference DLL failed:\n%s", out)
			}
		})
	}
}

// What a DLL writes is text: a terminal is not given its control characters.
func TestReferenceDLLText(t *testing.T) {
	t.Parallel()
	job := startToy(t, "toy", dlls().Reference(t))
	out := work.GDB(t, live.Process(job.Accounts[0].PID), append(trusting(""), "set mpi-queues debug on", "mpi-queues", "info mpi")...)
	out.Contains(t, "100%s of %n", "Rank ", "five lines, of which this one fills its 64 bytes up to the end..", "libreference.so", "the reference DLL says 100%s of %n %d")
	out.Lacks(t, "\x1b", "Traceback", "jjjj")
}

// Entry points that only tidy up, tell the width or list a group may be missing;
// without any other the DLL is not used, and the sentence says why.
func TestMissingEntryPoints(t *testing.T) {
	t.Parallel()
	job := startToy(t, "toy", "/nowhere/libtoy.so")
	s := sitAtToy(t, job, "")
	for _, c := range []struct {
		entry    string
		optional bool
	}{
		{"mqs_dll_taddr_width", true},
		{"mqs_get_comm_group", true},
		{"mqs_destroy_image_info", true},
		{"mqs_destroy_process_info", true},
		{"mqs_setup_basic_callbacks", false},
		{"mqs_version_string", false},
		{"mqs_version_compatibility", false},
		{"mqs_dll_error_string", false},
		{"mqs_setup_image", false},
		{"mqs_image_has_queues", false},
		{"mqs_setup_process", false},
		{"mqs_process_has_queues", false},
		{"mqs_update_communicator_list", false},
		{"mqs_setup_communicator_iterator", false},
		{"mqs_get_communicator", false},
		{"mqs_next_communicator", false},
		{"mqs_setup_operation_iterator", false},
		{"mqs_next_operation", false},
	} {
		t.Run(c.entry, func(t *testing.T) {
			s.Do("set mpi-queues dll " + dlls().Without(t, c.entry))
			out := s.Do("mpi-queues")
			if shown := strings.Contains(out, "toy world"); shown != c.optional {
				t.Errorf("shown: %v, want %v:\n%s", shown, c.optional, out)
			}
			if !c.optional && (!strings.Contains(out, c.entry) || !strings.Contains(out, "libwithout_"+c.entry+".so")) {
				t.Errorf("it does not say what is missing where:\n%s", out)
			}
			healthy(t, s)
		})
	}
}

// healthy fails the test unless gdb lives and the reference DLL works in it, which
// is the next command after one of a rogue DLL.
func healthy(t *testing.T, s *live.Session) {
	t.Helper()
	s.Do("set mpi-queues dll " + dlls().Reference(t))
	s.Says("mpi-queues -comm calls -queue receives", "calls")
	if out := s.Do("mpi-queues"); !strings.Contains(out, "toy world") || strings.Contains(out, "Traceback") {
		t.Fatalf("the reference DLL shows:\n%s", out)
	}
	s.Says("print 40 + 2", "= 42")
}

// A process that the DLL has reported as created is told its identity once gdb
// looks at it.
func TestCreatedProcess(t *testing.T) {
	t.Parallel()
	first, created := startToy(t, "toy", "/nowhere/libtoy.so"), startToy(t, "toy", "/nowhere/libtoy.so")
	pid := created.Accounts[0].PID
	dll := dlls().Reference(t, "-DCOMPATIBILITY=3", fmt.Sprintf("-DNEW_PID=%d", pid), `-DNEW_HOST="localhost"`)
	s := sitAtToy(t, first, dll)
	read := func() []string {
		file := filepath.Join(t.TempDir(), "json")
		said := s.Do("mpi-queues -json -output " + file)
		_, calls, failures := takeCalls(t, parseJSON(t, file, said))
		if len(failures) > 0 {
			t.Errorf("checks of the reference DLL failed:\n  %s", strings.Join(failures, "\n  "))
		}
		return calls
	}
	if calls := read(); slices.ContainsFunc(calls, isIdentity) {
		t.Errorf("the first process gets an identity: %q", calls)
	}
	s.Do("add-inferior")
	s.Do("inferior 2")
	s.Do(fmt.Sprintf("attach %d", pid))
	if calls := read(); !slices.ContainsFunc(calls, isIdentity) {
		t.Errorf("the created process gets no identity: %q", calls)
	}
}

func isIdentity(call string) bool { return strings.HasPrefix(call, "mqs_set_process_identity") }

// TestNarrowToy checks that a process of 32 bits can be read through a DLL of 64 bits, in a gdb that knows its types.
func TestNarrowToy(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("the toy makes system calls of i386")
	}
	program := filepath.Join(t.TempDir(), "toy_narrow")
	gcc := exec.Command("gcc", "-g", "-m32", "-nostdlib", "-static", "-no-pie", "-fno-pic", "-fno-stack-protector", "-o", program,
		"toy_narrow.c")
	gcc.Dir = testdll.Source()
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	toy := exec.Command(program)
	stdin, err := toy.StdinPipe()
	if err == nil {
		err = toy.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(stdin.Close(), toy.Wait()) })
	process := readJSON(t, live.Process(toy.Process.Pid), trusting(dlls().Reference(t, "-DTOY_NARROW"))...)
	communicators, _, failures := takeCalls(t, process)
	if len(failures) > 0 {
		t.Errorf("checks of the reference DLL failed:\n  %s", strings.Join(failures, "\n  "))
	}
	compareToy(t, []expect.Object{{
		"name": "narrow world", "unique_id": "0x81002000", "group": []any{0, 1},
		"pending_receives": []any{map[string]any{"desired_global_rank": 1, "desired_tag": 4711, "desired_length": 64, "buffer": "0xf0001000"}},
	}}, communicators)
}
