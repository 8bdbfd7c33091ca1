package confine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The tests run this program again in these roles.
const (
	roleVariable = "CONFINE_TEST_ROLE"
	roleConfine  = "confine" // restrict, and start again as roleReport
	roleReport   = "report"  // say what can be done
	roleSealed   = "sealed"  // that, when even a start is no longer needed
	roleMissing  = "missing" // restrict, and start what is not there
	lackVariable = "CONFINE_TEST_LACK"
	homeVariable = "CONFINE_TEST_FOLDER"

	roleFilter      = "filter" // be the program, under the filter alone
	programVariable = "CONFINE_TEST_PROGRAM"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case roleConfine:
		if err := lack(os.Getenv(lackVariable)); err != nil {
			fail(err)
		}
		// Not appended: of two variables of a name, the first would count, for ever.
		if err := os.Setenv(roleVariable, roleSealed); err != nil {
			fail(err)
		}
		fail(Exec("/proc/self/exe", os.Args, os.Environ()))
	case roleFilter:
		runtime.LockOSThread()
		program := os.Getenv(programVariable)
		err := noNewPrivileges()
		if err == nil {
			err = filter()
		}
		if err == nil {
			err = unix.Exec(program, []string{program}, nil)
		}
		fail(err)
	case roleMissing:
		fail(Exec("/no/such/program", nil, nil))
	case roleSealed, roleReport:
		if os.Getenv(roleVariable) == roleSealed {
			_ = Seal() // as for [Exec], some kernels can't
		}
		if err := json.NewEncoder(os.Stdout).Encode(tryAll(os.Getenv(homeVariable))); err != nil {
			fail(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(3)
}

// lack makes the kernel one that has no landlock, no filters, or neither, or no filters for
// all threads at once.
func lack(what string) error {
	var rules []rule
	if strings.Contains(what, "landlock") {
		rules = append(rules, rule{call: unix.SYS_LANDLOCK_CREATE_RULESET, errno: unix.ENOSYS})
	}
	if strings.Contains(what, "filters") {
		rules = append(rules, rule{unix.SYS_PRCTL, []check{{0, equal, unix.PR_SET_SECCOMP}}, unix.EINVAL},
			rule{unix.SYS_SECCOMP, nil, unix.ENOSYS})
	}
	if strings.Contains(what, "sealing") {
		rules = append(rules, rule{unix.SYS_SECCOMP, nil, unix.ENOSYS})
	}
	if rules == nil {
		return nil
	}
	runtime.LockOSThread()
	if err := noNewPrivileges(); err != nil {
		return err
	}
	return install(rules, 0, 0)
}

// report is what a process found that it can do.
type report struct {
	Refused map[string]string // what is to be refused: the error, empty if it worked
	Needed  map[string]string // what is to work, likewise
	Status  Confinement
	// Unlisted is what the calls give that are on no list, if it is confined.
	Unlisted map[int]string
}

// run starts this program in a role, in a folder with the files it is to change.
func run(t *testing.T, role, lack string) report {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"write", "truncate", "unlink", "rename", "chmod", "times", "attribute"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	memory, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	shared := os.NewFile(uintptr(memory), "memory")
	defer func() { _ = shared.Close() }()
	if err := shared.Truncate(4096); err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	near, far := os.NewFile(uintptr(pair[0]), "near"), os.NewFile(uintptr(pair[1]), "far")
	defer func() { _ = near.Close() }()
	defer func() { _ = far.Close() }()

	victim := exec.Command("cat")
	end, err := victim.StdinPipe()
	if err == nil {
		err = victim.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = end.Close(), victim.Wait() }()
	semaphore, _, errno := unix.Syscall(unix.SYS_SEMGET, unix.IPC_PRIVATE, 1, 0o600)
	if errno != 0 {
		t.Fatal(errno)
	}
	defer func() { _, _, _ = unix.Syscall(unix.SYS_SEMCTL, semaphore, 0, unix.IPC_RMID) }()

	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleVariable+"="+role, lackVariable+"="+lack, homeVariable+"="+dir,
		victimVariable+"="+strconv.Itoa(victim.Process.Pid), semaphoreVariable+"="+strconv.Itoa(int(semaphore)))
	cmd.ExtraFiles = []*os.File{shared, far} // 3 and 4
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for what, problem := range r.Needed {
		if problem != "" {
			t.Errorf("%s: %s", what, problem)
		}
	}
	text := make([]byte, 5)
	if _, err := shared.ReadAt(text, 0); err != nil || string(text) != "hello" {
		t.Errorf("the shared memory holds %q, %v", text, err)
	}
	if _, err := near.Read(text); err != nil || string(text) != "there" {
		t.Errorf("the socket gave %q, %v", text, err)
	}
	return r
}

// refused is true for the errors with which the kernel refuses.
func refused(problem string) bool {
	return problem == unix.EPERM.Error() || problem == unix.EACCES.Error() || problem == unix.ENOSYS.Error()
}

func TestConfined(t *testing.T) {
	for _, lack := range []string{"", "landlock"} {
		r := run(t, roleConfine, lack)
		for what, problem := range r.Refused {
			if !refused(problem) {
				t.Errorf("without %q: %s: %q", lack, what, problem)
			}
		}
		for number, problem := range r.Unlisted {
			if !refused(problem) {
				t.Errorf("without %q: call %d: %q", lack, number, problem)
			}
		}
		if len(r.Unlisted) < 200 {
			t.Errorf("without %q: %d calls tried", lack, len(r.Unlisted))
		}
		if got, want := r.Status.String(), "confined (no writing, no network, no new privileges, no programs)"; got != want {
			t.Errorf("without %q: %s", lack, got)
		}
	}
}

// What is refused above is so because of the confinement.
func TestUnconfined(t *testing.T) {
	r := run(t, roleReport, "")
	for what, problem := range r.Refused {
		if problem != "" && !mayLack[what] {
			t.Errorf("%s: %s", what, problem)
		}
	}
	if r.Status.NoWriting || r.Status.NoNetwork {
		t.Error(r.Status)
	}
}

func TestWithoutFilters(t *testing.T) {
	r := run(t, roleConfine, "filters")
	if landlockVersion() == 0 {
		if got, want := r.Status.String(), "not confined: the kernel has neither landlock nor seccomp filters"; got != want {
			t.Error(got)
		}
		return
	}
	for _, what := range []string{"write", "create", "unlink", "rename", "mkdir", "symlink"} {
		if !refused(r.Refused[what]) {
			t.Errorf("%s: %q", what, r.Refused[what])
		}
	}
	if got, want := r.Status.String(), "partly confined: no writing, no new privileges; "+
		"the kernel has no seccomp filters, so it could use the network and start programs"; got != want {
		t.Error(got)
	}
}

// What starts programs is not confined, whatever else it can't do.
func TestWithoutSealing(t *testing.T) {
	r := run(t, roleConfine, "sealing")
	if got, want := r.Status.String(), "partly confined: no writing, no network, no new privileges; "+
		"the kernel filters one thread at a time, so it could start programs"; got != want {
		t.Error(got)
	}
}

func TestWithoutBoth(t *testing.T) {
	r := run(t, roleConfine, "landlock filters")
	if got, want := r.Status.String(), "not confined: the kernel has neither landlock nor seccomp filters"; got != want {
		t.Error(got)
	}
	if !r.Status.NoNewPrivileges {
		t.Error("new privileges")
	}
}

func TestExecFails(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleVariable+"="+roleMissing)
	if out, err := cmd.CombinedOutput(); err == nil || string(out) != "no such file or directory\n" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestPhrases(t *testing.T) {
	for want, c := range map[string]Confinement{
		"confined (no writing, no network, no new privileges, no programs)": {true, true, true, true, ""},
		"partly confined: no network, no new privileges, no programs; the kernel has no landlock, so it could write files": {
			NoNetwork: true, NoNewPrivileges: true, NoPrograms: true, Why: "the kernel has no landlock"},
		"not confined: the kernel has no landlock": {NoNewPrivileges: true, Why: "the kernel has no landlock"},
	} {
		if got := c.String(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// Calls in the manner of another architecture have other numbers: getpid's
// there is something else here.
func TestOtherArchitectures(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the other architecture of this processor is not known to the test")
	}
	source := filepath.Join(t.TempDir(), "int80.c")
	const program = `
#include <stdio.h>
int main(void) {
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
	return r == -1 ? 0 : 1;
}`
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	binary := strings.TrimSuffix(source, ".c")
	if out, err := exec.Command("gcc", "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var exit *exec.ExitError
	if err := exec.Command(binary).Run(); !errors.As(err, &exit) {
		t.Fatalf("refused without a filter, %v", err)
	}
	if !exit.Exited() {
		t.Skip("this kernel has no other architecture")
	}
	filtered := exec.Command("/proc/self/exe")
	filtered.Env = []string{roleVariable + "=" + roleFilter, programVariable + "=" + binary}
	if out, err := filtered.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
