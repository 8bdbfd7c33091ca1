package procfs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
)

// folder makes a /proc with the files of one process, whose id is 7.
func folder(t *testing.T, files map[string]string) FS {
	t.Helper()
	f := FS(t.TempDir())
	for name, text := range files {
		path := f.Path(7, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

const fields = " S 5 7 7 0 -1 4194560 1 2 3 4 100 23 0 0 20 0 1 0 4711 8 9"

func TestStat(t *testing.T) {
	for _, name := range []string{"sh", "", "a b", ") R 1 1", "(((", "x\ny) Z 9 9"} {
		s, err := folder(t, map[string]string{"stat": "7 (" + name + ")" + fields + "\n"}).Stat(7)
		if want := (Stat{Name: name, State: 'S', Parent: 5, User: 100, System: 23, Started: 4711}); err != nil || s != want {
			t.Errorf("%q: %+v, %v", name, s, err)
		}
	}
	for _, line := range []string{"", "7", "7 (sh", "7 sh)" + fields, "7 (sh) S 5", "7 (sh)" + strings.Replace(fields, "5", "x", 1),
		"7 (sh)" + strings.Replace(fields, "4711", "-1", 1), "7 (" + strings.Repeat("n", 2*maxLine) + ")" + fields} {
		if s, err := folder(t, map[string]string{"stat": line}).Stat(7); err == nil {
			t.Errorf("%q is read: %+v", line, s)
		}
	}
	if _, err := Host.Stat(1 << 30); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestAge checks how old processes are taken to be, and that what can't be read is an error.
func TestAge(t *testing.T) {
	f := folder(t, map[string]string{"stat": "7 (sh)" + fields})
	for uptime, want := range map[string]time.Duration{"47.61 12.34\n": 500 * time.Millisecond, "47.11": 0, "40.00 1.00": -7110 * time.Millisecond, "": -1, "x 1": -1} {
		if err := os.WriteFile(filepath.Join(string(f), "uptime"), []byte(uptime), 0o644); err != nil {
			t.Fatal(err)
		}
		age, err := f.Age(7)
		if isBad := want == -1; (err != nil) != isBad || !isBad && age != want {
			t.Errorf("%q: %v, %v", uptime, age, err)
		}
	}
	if _, err := f.Age(8); err == nil {
		t.Error("a process that is not there has an age")
	}
	if age, err := Host.Age(os.Getpid()); err != nil || age < 0 || age > time.Hour {
		t.Errorf("this process is %v old, %v", age, err)
	}
}

func TestStatus(t *testing.T) {
	for text, want := range map[string]Status{
		"Name:\ta: b\nPPid:\t5\nTracerPid:\t9\nUid:\t1\t2\t3\t4\nNSpid:\t7\t1\nSigPnd:\t0000000000040000\nShdPnd:\t0000000000000000\nvoluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\n": {"a: b", 5, 9, []int{1, 2, 3, 4}, []int{7, 1}, 42, 0x40000},
		"Name:\tsh\nPPid:\tx\nTracerPid:\nUid:\t1\tx\t3\t4\nNSpid:\n": {"sh", -1, -1, nil, nil, 0, 0},
		"": {"", -1, -1, nil, nil, 0, 0},
		"Groups:\t" + strings.Repeat("1 ", maxStatus) + "\nPPid:\t5\n": {"", -1, -1, nil, nil, 0, 0},
	} {
		if s, err := folder(t, map[string]string{"status": text}).Status(7); err != nil || !reflect.DeepEqual(s, want) {
			t.Errorf("%.60q: %+v, %v", text, s, err)
		}
	}
}

func TestMappings(t *testing.T) {
	const line = `7f00-7fff r-xp 00001000 fe:00 42                         /a b\012c` + "\n"
	text := line + "8000-9000 rw-p 00000000 00:00 0 \n9000-a000 rw-p 00000000 00:00 0                          [stack]\n"
	var got []Mapping
	for m, err := range folder(t, map[string]string{"maps": text}).Mappings(7) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m)
	}
	want := []Mapping{{0x7f00, 0x7fff, 0x1000, "fe:00 42 /a b\nc", "/a b\nc", true}, {Start: 0x8000, End: 0x9000}, {Start: 0x9000, End: 0xa000, Path: "[stack]"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	for _, wrong := range []string{"nonsense", "x-y r-xp 0 fe:00 42 /a", "1-2 r-xp z fe:00 42 /a"} {
		for m, err := range folder(t, map[string]string{"maps": wrong + "\n"}).Mappings(7) {
			if err == nil {
				t.Errorf("%q is %+v", wrong, m)
			}
		}
	}
	long := strings.Repeat(line, maxMaps/len(line)+2)
	n := 0
	var last error
	for _, last = range folder(t, map[string]string{"maps": long}).Mappings(7) {
		n++
	}
	if !errors.Is(last, ErrManyMappings) || n < maxMaps/len(line) {
		t.Errorf("%d mappings, %v", n, last)
	}
}

func TestEnvironment(t *testing.T) {
	long := strings.Repeat("x", maxVariable)
	text := "A=1\x00B=\x00C\x00A=2\x00=9\x00LONG=" + long + "x\x00LONG=" + long + "\x00D=4"
	values, err := folder(t, map[string]string{"environ": text}).Environment(7, []string{"A", "B", "C", "D", "E", "LONG"})
	if want := map[string]string{"A": "1", "B": "", "D": "4", "LONG": long}; err != nil || !reflect.DeepEqual(values, want) {
		t.Errorf("%v, %v", values, err)
	}
	f := folder(t, map[string]string{"environ": strings.Repeat("A=1\x00", maxEnvironment)})
	cost.AtMost(t, 8*maxEnvironment, func() { _, _ = f.Environment(7, []string{"B"}) })
}

// What the kernel says of a real process, and of what it has started.
func TestHost(t *testing.T) {
	line := []string{"sh", "-c", "read line", "name", ""}
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = []string{"PROCFS_TEST=a=b"}
	stdin, err := cmd.StdinPipe() // as long as it is open, the shell reads
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _, _ = stdin.Close(), cmd.Process.Kill(), cmd.Wait() }()
	pid := cmd.Process.Pid
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(time.Minute)
	for now := []string(nil); !slices.Equal(now, line); now, _ = Host.CommandLine(pid) { // it runs its own program
		// One that has ended has no arguments any more.
		if stat, err := Host.Stat(pid); err != nil || stat.HasEnded() || time.Now().After(deadline) {
			t.Fatalf("its arguments are %q, not %q: %+v, %v", now, line, stat, err)
		}
		<-tick.C
	}
	stat, err := Host.Stat(pid)
	if err != nil || stat.Name != "sh" || stat.Parent != os.Getpid() || stat.HasEnded() || stat.Started == 0 {
		t.Errorf("%+v, %v", stat, err)
	}
	status, err := Host.Status(pid)
	if err != nil || status.Name != "sh" || status.Parent != os.Getpid() || status.Tracer != 0 || len(status.Users) != 4 || status.IDs[0] != pid {
		t.Errorf("%+v, %v", status, err)
	}
	if name, err := Host.Name(pid); name != "sh" || err != nil {
		t.Error(name, err)
	}
	if values, err := Host.Environment(pid, []string{"PROCFS_TEST", "HOME"}); err != nil || fmt.Sprint(values) != "map[PROCFS_TEST:a=b]" {
		t.Error(values, err)
	}
	program, err := Host.Program(pid)
	if err != nil || !filepath.IsAbs(program) {
		t.Error(program, err)
	}
	isMapped := false
	for m, err := range Host.Mappings(pid) {
		isMapped = isMapped || err == nil && m.Path == program && m.Start < m.End
	}
	if !isMapped {
		t.Errorf("%s is not in its memory", program)
	}
	if all, err := Host.Processes(); err != nil || !slices.Contains(all, pid) {
		t.Error(all, err)
	}
	if children := Host.Children(os.Getpid()); !slices.Contains(children, pid) {
		t.Error(children)
	}
	if Host.Namespace(pid, "pid") == "" || Host.Namespace(pid, "pid") != Host.Namespace(os.Getpid(), "pid") {
		t.Error(Host.Namespace(pid, "pid"))
	}
}

// Whatever stands in the files ends in values or in an error.
func TestRandomFiles(*testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const letters = "0123456789abc ()-/\n\t:=\x00Uid"
	for range 5000 {
		b := make([]byte, random.IntN(200))
		for i := range b {
			b[i] = letters[random.IntN(len(letters))]
		}
		_, _ = parseStat(b)
		_ = parseStatus(b)
		_, _ = parseMapping(string(b))
	}
}
