//go:build linux

package dll_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mpi-queues/mpi-queues/mqs/dll"
	"github.com/mpi-queues/mpi-queues/mqs/dll/confine"
	"github.com/mpi-queues/mpi-queues/mqs/dll/host"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
	"github.com/mpi-queues/mpi-queues/tests/dll/testdll"
)

// asHost makes the test's own program a host, the first time for one that is
// confined.
const (
	asHost         = "MPI_QUEUES_TEST_DLL_HOST=1"
	asConfinedHost = "MPI_QUEUES_TEST_DLL_HOST=2"
)

func TestMain(m *testing.M) {
	if kind, ok := os.LookupEnv(asMadHost); ok {
		beMad(kind)
	}
	if path, ok := os.LookupEnv(asHelper); ok {
		beHelper(path)
	}
	switch env := os.Environ(); {
	case slices.Contains(env, asHost):
		env[slices.Index(env, asHost)] = asConfinedHost
		// Go may have moved the program's own to another thread than the process's first by then.
		runtime.LockOSThread()
		failed := make(chan error)
		go func() { failed <- confine.Exec("/proc/self/exe", os.Args, env) }()
		fmt.Fprintln(os.Stderr, <-failed)
	case slices.Contains(env, asConfinedHost):
		_ = confine.Seal()
		state, err := wire.MapState(os.NewFile(dll.StateFD, "state"))
		if err == nil {
			err = host.Serve(os.NewFile(dll.StreamFD, "stream"), state)
		}
		fmt.Fprintln(os.Stderr, err)
	default:
		os.Exit(m.Run())
	}
	os.Exit(1)
}

func hosts() *dll.Hosts {
	return &dll.Hosts{Log: zerolog.Nop(), Command: func() *exec.Cmd {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), asHost)
		return cmd
	}}
}

// check returns what is found out about a DLL, a finding to a line.
func check(t *testing.T, path string, limit time.Duration) string {
	t.Helper()
	report, err := hosts().Check(t.Context(), path, limit)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, f := range report.Findings {
		fmt.Fprintf(&text, "%s: %s: %s\n", f.Subject, f.Verdict, f.Text)
	}
	return text.String()
}

func TestCheckFindsWhatADLLDoesWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("it is about processes, in which the race detector sees nothing")
	}
	dlls := testdll.In(t.TempDir())
	for _, c := range []struct{ path, want string }{
		{dlls.Without(t, "mqs_next_operation"), "the DLL: WRONG: lacks mqs_next_operation"},
		{dlls.Without(t, "mqs_get_comm_group"), "the DLL: note: has no mqs_get_comm_group: "},
		{dlls.Rogue(t, "answer", "mqs_version_compatibility", "-DANSWER=1"), "the DLL: WRONG: can't be used: "},
		{dlls.Rogue(t, "answer", "mqs_dll_taddr_width", "-DANSWER=4"), "the DLL: WRONG: can't be used: "},
		{dlls.Rogue(t, "crash", "dlopen"), "the DLL: WRONG: librogue_crash_dlopen.so crashed in its initialisation (SIGSEGV)"},
		{dlls.Rogue(t, "crash", "mqs_image_has_queues"), "crashed in mqs_image_has_queues (SIGSEGV)"},
		{dlls.Rogue(t, "exit", "mqs_setup_image"), "ended its process in mqs_setup_image (exit status 0)"},
		{dlls.Rogue(t, "answer", "mqs_setup_image", "-DANSWER=42"), "refuses it: librogue_answer_mqs_setup_image.so: mqs_setup_image failed: a toy's code below 100 (code 42)"},
		{dlls.Rogue(t, "answer", "mqs_setup_image", "-DANSWER=-7"), "mqs_setup_image failed: a toy's code below 0 (code -7)"},
		{dlls.Rogue(t, "answer", "mqs_setup_image", "-DANSWER=1"), "mqs_setup_image failed: no information (the toy knows nothing of it)"},
		{dlls.Rogue(t, "answer", "mqs_setup_image", "-DANSWER=2"), "mqs_setup_image failed: end of list\n"},
		{dlls.Rogue(t, "nothing", "mqs_dll_error_string"), "WRONG: refuses it, but mqs_dll_error_string has no words for why: "},
		// To refuse a process in silence is right, as MPICH 1's and LAM/MPI's DLLs do.
		{dlls.Rogue(t, "empty", "mqs_dll_error_string"), "right: refuses it: librogue_empty_mqs_dll_error_string.so: mqs_image_has_queues refused without giving a reason (code 10"},
		{dlls.Reference(t, "-fvisibility=default"), "the DLL: note: exports basic, check_basic, check_image, "},
		{dlls.Reference(t), "the DLL: right: imports no known function that allocates memory\nthe DLL: right: imports no known function that blocks\n"},
		{dlls.Reference(t, "-Wl,-u,calloc,-u,__strdup"), "the DLL: note: imports __strdup, calloc: memory from mqs_malloc is preferred"},
		{dlls.Reference(t, "-Wl,-u,poll,-u,pthread_cond_wait"), "the DLL: note: imports poll, pthread_cond_wait, which can block"},
		{dlls.Rogue(t, "print", "mqs_setup_image"), "note: prints by itself, at last \""},
		{dlls.Rogue(t, "leak", "mqs_setup_image"), "WRONG: has not freed 100000 bytes in 1000 blocks"},
		{dlls.Rogue(t, "overrun_block", "mqs_setup_image"), "WRONG: wrote past the end of memory from mqs_malloc\n"},
		{dlls.Rogue(t, "free_twice", "mqs_setup_image"), "WRONG: freed memory that it had not allocated, or had freed before"},
	} {
		if got := check(t, c.path, 10*time.Minute); !strings.Contains(got, c.want) {
			t.Errorf("of %s it does not say %q:\n%s", c.path, c.want, got)
		}
	}
}

// A DLL that never returns is left after its time. On a slow machine the time may be up before: while the
// host starts, or inside of a function of the DLL that is called earlier, its initialisation included.
func TestCheckOfADLLThatNeverReturns(t *testing.T) {
	t.Parallel()
	path := testdll.In(t.TempDir()).Rogue(t, "spin", "mqs_setup_image")
	for limit := time.Second / 2; ; limit *= 2 {
		got := check(t, path, limit)
		within := regexp.QuoteMeta(fmt.Sprintf(" within %v: ", limit))
		if regexp.MustCompile("did not return from mqs_setup_image" + within).MatchString(got) {
			return
		}
		if isLate := regexp.MustCompile("(did not return from .*|kept its process from answering)" + within); !isLate.MatchString(got) || limit > 10*time.Minute {
			t.Fatalf("it says:\n%s", got)
		}
	}
}

func TestCheckOfWhatIsNoLibrary(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/libtext.so"
	if err := os.WriteFile(path, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := check(t, path, 10*time.Minute); !strings.HasPrefix(got, "the DLL: WRONG: libtext.so: it can't be loaded: ") || strings.Count(got, "\n") != 1 {
		t.Errorf("it says %s", got)
	}
}

// What a DLL needs is not taken from where others may have put it: not from the
// working directory, which an empty folder in the loader's list stands for.
func TestNeedsOfTheWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	needed := filepath.Join(dir, "libneeded.so")
	args := []string{"-shared", "-fPIC", "-x", "c", "/dev/null", "-o", needed, "-Wl,-soname,libneeded.so"}
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	library := testdll.In(t.TempDir()).Reference(t, "-Wl,--no-as-needed", needed)
	t.Chdir(dir)
	t.Setenv("LD_LIBRARY_PATH", ":/usr/lib")
	if text := check(t, library, 10*time.Minute); !strings.Contains(text, "libneeded.so") {
		t.Errorf("it was found:\n%s", text)
	}
	t.Setenv("LD_LIBRARY_PATH", dir)
	if text := check(t, library, 10*time.Minute); strings.Contains(text, "libneeded.so") {
		t.Errorf("the user's own folder is not searched:\n%s", text)
	}
}
