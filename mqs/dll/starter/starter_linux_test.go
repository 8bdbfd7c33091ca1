package starter

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/dll/locate"
)

// compile makes a program of a file in testdata.
func compile(t *testing.T, source string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "starter")
	args := append([]string{"-o", out, filepath.Join("testdata", source)}, flags...)
	if text, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %v: %v\n%s", args, err, text)
	}
	return out
}

// start runs a starter until the test ends, and returns its id and its child's.
func start(t *testing.T, program string) (parent, child int) {
	t.Helper()
	cmd := exec.Command(program)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if child, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, child
}

var (
	array     = []locate.Candidate{{Path: "/opt/array.so", Symbol: locate.DLLName}}
	pointer   = []locate.Candidate{{Path: "/opt/pointer.so", Symbol: locate.DLLName}}
	locations = []locate.Candidate{{Path: "/opt/one.so", Symbol: locate.DLLLocations}, {Path: "/opt/two.so", Symbol: locate.DLLLocations}}
)

// check looks above a starter's child, and from the starter on.
func check(t *testing.T, parent, child int, want []locate.Candidate) {
	t.Helper()
	for pid, find := range map[int]func(int) ([]Starter, []error){child: Find, parent: From} {
		found, unread := find(pid)
		if len(found) == 0 {
			t.Fatalf("nothing found for process %d, %v", pid, unread)
		}
		first := found[0]
		if first.PID != parent || !slices.Equal(first.Found.Candidates, want) || len(first.Found.Problems) > 0 {
			t.Errorf("%+v, not %v in %d", first, want, parent)
		}
	}
}

func TestLook(t *testing.T) {
	for _, form := range []struct {
		name string
		want []locate.Candidate
	}{{"ARRAY", array}, {"POINTER", pointer}, {"LOCATIONS", locations}} {
		for name, flags := range map[string]string{
			"fixed": "-no-pie", "anywhere": "-pie -fPIE", "stripped": "-pie -fPIE -rdynamic -s", "static": "-static", "debug": "-g -pie -fPIE",
		} {
			t.Run(form.name+" "+name, func(t *testing.T) {
				t.Parallel()
				parent, child := start(t, compile(t, "starter.c", append(strings.Fields(flags), "-D"+form.name)...))
				check(t, parent, child, form.want)
				found, _ := Find(child)
				if !found[0].Found.Starter || found[0].Found.Ignore != (form.name == "LOCATIONS") {
					t.Error(found[0])
				}
			})
		}
	}
}

// The symbols are in a library, and what the program uses of them in the program.
func TestLibrary(t *testing.T) {
	library := compile(t, "starter.c", "-shared", "-fPIC", "-s", "-DLIBRARY", "-DPOINTER")
	for _, kind := range []string{"-no-pie", "-pie"} {
		parent, child := start(t, compile(t, "starter.c", "-DUSER", kind, library, "-Wl,--no-as-needed"))
		check(t, parent, child, pointer)
	}
}

func TestNarrow(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the 32 bits of this processor are not known to the test")
	}
	program := compile(t, "starter32.c", "-m32", "-nostdlib", "-static", "-no-pie", "-fno-pic", "-fno-stack-protector", "-O1")
	parent, child := start(t, program)
	check(t, parent, child, []locate.Candidate{
		{Path: "/opt/one32.so", Symbol: locate.DLLLocations}, {Path: "/opt/array32.so", Symbol: locate.DLLName}})
}

// A starter that was deleted or replaced while it runs.
func TestReplaced(t *testing.T) {
	program := compile(t, "starter.c", "-DARRAY")
	parent, child := start(t, program)
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	check(t, parent, child, array)
	if err := os.WriteFile(program, []byte("another"), 0o700); err != nil {
		t.Fatal(err)
	}
	check(t, parent, child, array)
}

// Above the test there is no starter, and a process that is not there is said.
func TestNothing(t *testing.T) {
	if found, _ := Find(os.Getpid()); len(found) > 0 {
		t.Error(found)
	}
	if found, unread := Find(1); found != nil || unread != nil {
		t.Error(found, unread)
	}
	if _, unread := Find(1 << 30); len(unread) != 1 {
		t.Error(unread)
	}
}
