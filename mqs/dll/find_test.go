package dll

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/dll/locate"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// named is a process that has these symbols, each with a text at its address.
func named(info inferior.Info, texts map[string]string) *inferiortest.Process {
	p := inferiortest.New()
	p.Identity = info
	p.Identity.BigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1
	for i, name := range locate.Symbols {
		if text, ok := texts[name]; ok {
			at := inferior.Addr(i+1) << 12
			p.Symbols[name] = &inferior.Symbol{Addr: at}
			p.Memory[at] = append([]byte(text), make([]byte, 1<<12-len(text))...)
		}
	}
	return p
}

// names is a process of which nothing is known but that it has these symbols.
func names(texts map[string]string) *inferiortest.Process { return named(inferior.Info{}, texts) }

func TestFind(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"libmpi.so.1", "libtvmpich.so", "libown.so", "libstarters.so"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(folder, name) }
	system := filepath.Join(t.TempDir(), "libxmpi.so")
	if err := os.WriteFile(system, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before := loaderFolders
	loaderFolders = func() []string { return []string{filepath.Dir(system)} }
	defer func() { loaderFolders = before }()
	linked := inferior.Info{Executable: in("prog"), Libraries: []string{"/lib/libc.so.6"}}
	mpi := inferior.Info{Libraries: []string{"/lib/libc.so.6", in("libmpi.so.1")}}
	for name, c := range map[string]struct {
		process  inferior.Inferior
		starters []inferior.Inferior
		settings Settings
		want     []string
		ignore   bool
	}{
		"the process names one": {process: names(map[string]string{locate.DLLName: in("libown.so")}),
			starters: []inferior.Inferior{names(map[string]string{locate.DLLName: in("libstarters.so")})},
			want:     []string{in("libown.so")}},
		"the one it names is not there": {process: names(map[string]string{locate.DLLName: in("libgone.so")}),
			starters: []inferior.Inferior{names(nil), names(map[string]string{locate.DLLName: in("libstarters.so")})},
			want:     []string{in("libgone.so"), in("libstarters.so")}},
		"a name without a folder":   {process: named(mpi, map[string]string{locate.DLLName: "libown.so"}), want: []string{in("libown.so"), in("libtvmpich.so")}},
		"nobody names one":          {process: named(mpi, nil), want: []string{in("libtvmpich.so")}},
		"an empty name":             {process: named(mpi, map[string]string{locate.DLLName: ""}), want: []string{in("libtvmpich.so")}},
		"the user names one":        {process: named(mpi, map[string]string{locate.DLLName: in("libown.so")}), settings: Settings{Path: "/other.so"}, want: []string{"/other.so"}},
		"no MPI":                    {process: named(inferior.Info{Libraries: []string{in("libc.so.6")}}, nil), want: []string{system}},
		"linked with its MPI":       {process: named(linked, map[string]string{locate.DLLName: "libown.so"}), want: []string{in("libown.so")}},
		"linked, and names none":    {process: named(linked, nil), want: []string{in("libtvmpich.so"), system}},
		"linked, and names another": {process: named(linked, map[string]string{locate.DLLName: "libgone.so"}), want: []string{in("libtvmpich.so"), system}},
		"in the system's folders":   {process: named(inferior.Info{Executable: "/nowhere/prog"}, nil), want: []string{system}},
		"beside its MPI alone":      {process: named(inferior.Info{Executable: "/nowhere/prog", Libraries: []string{"/nowhere/libmpi.so"}}, nil)},
		"queues are to be ignored":  {process: names(map[string]string{locate.IgnoreQueues: "", locate.DLLName: in("libown.so")}), want: []string{in("libown.so")}, ignore: true},
		"in the other spelling":     {process: names(map[string]string{locate.IgnoreQueuesMPIR: ""}), want: []string{system}, ignore: true},
		"a starter's are, too":      {process: names(nil), starters: []inferior.Inferior{names(map[string]string{locate.IgnoreQueuesMPIR: ""})}, want: []string{system}, ignore: true},
		"the process has one": {process: names(map[string]string{locate.DLLName: in("libown.so")}),
			starters: []inferior.Inferior{names(map[string]string{locate.IgnoreQueues: ""})}, want: []string{in("libown.so")}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := find(t.Context(), Process{Inferior: c.process, Starters: c.starters}, c.settings, zerolog.Nop())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range f.candidates {
				got = append(got, c.path)
			}
			if !slices.Equal(got, c.want) || f.ignore != c.ignore {
				t.Errorf("found %q, ignore %v; want %q, %v", got, f.ignore, c.want, c.ignore)
			}
		})
	}
}

// TestFindOfFarProcess checks that the launchers on this machine are asked for the DLL of a process on another machine, whose
// process id means another process here.
func TestFindOfFarProcess(t *testing.T) {
	program := filepath.Join(t.TempDir(), "starter")
	if text, err := exec.Command("gcc", "-DARRAY", "-o", program, "starter/testdata/starter.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	cmd := exec.Command(program)
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(stdin.Close(), cmd.Wait()) }()
	var child int
	if _, err := fmt.Fscan(stdout, &child); err != nil { // it runs
		t.Fatal(err)
	}
	far := named(inferior.Info{Kind: "remote", PID: child}, nil)
	for _, launchers := range [][]int{nil, {cmd.Process.Pid}} {
		f, err := find(t.Context(), Process{Inferior: far, Launchers: launchers}, Settings{}, zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		isNamed := slices.ContainsFunc(f.candidates, func(c candidate) bool { return c.path == "/opt/array.so" })
		isSaid := strings.Contains(f.noDLLError().Error(), "neither the process nor another inferior names one")
		if isAsked := launchers != nil; isNamed != isAsked || isSaid == isAsked {
			t.Errorf("launchers %v: %+v, %v", launchers, f.candidates, f.noDLLError())
		}
	}
}

func TestCommonPrefix(t *testing.T) {
	for want, names := range map[string][]string{
		"ompi_":    {"ompi_fetch_int", "ompi_field"},
		"Mqs_ibm_": {"Mqs_ibm_find", "Mqs_ibm_fill"},
		"_x_":      {"_x_a", "_x_b"},
		"":         {"find_rank", "fill"},
	} {
		if got := commonPrefix(names); got != want {
			t.Errorf("of %q it is %q, want %q", names, got, want)
		}
	}
	if got := commonPrefix([]string{"__start", "__x"}); got != "" {
		t.Errorf("of leading underscores it is %q", got)
	}
}

// TestIsAllocator checks that the C library's other spellings and the operators of C++ are recognized.
func TestIsAllocator(t *testing.T) {
	for name, want := range map[string]bool{
		"malloc": true, "__strdup": true, "__asprintf_chk": true, "free": true, "mmap64": true, "_Znwm": true, "_ZnamRKSt9nothrow_t": true,
		"_ZdlPvm": true, "_ZdaPv": true, "memset": false, "mqs_malloc": false, "__snprintf_chk": false, "_ZNSaIcED1Ev": false, "qsort": false,
	} {
		if isAllocator(name) != want {
			t.Errorf("%s: want %v", name, want)
		}
	}
}

func TestNothingFoundIsSaidAsSuch(t *testing.T) {
	hosts := Hosts{Log: zerolog.Nop()}
	_, err := hosts.Open(t.Context(), Process{Inferior: names(nil)}, Settings{})
	var unreadable *read.UnreadableError
	if !errors.Is(err, read.ErrNoDLL) || !errors.As(err, &unreadable) {
		t.Errorf("the error is %v", err)
	}
}

func TestIgnoredQueuesAreNone(t *testing.T) {
	hosts := Hosts{Log: zerolog.Nop()}
	s, err := hosts.Open(t.Context(), Process{Inferior: names(map[string]string{locate.IgnoreQueues: ""})}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range s.Communicators() {
		t.Errorf("communicator %v, %v", c, err)
	}
	p := &mqs.Process{}
	s.Info(p)
	if p.Source != "dll" || len(s.Notes()) > 0 || s.Err() != nil || s.Confinement() != "" {
		t.Errorf("%+v, %v", p, s.Err())
	}
	// It is the starter that asks: its user is told.
	starter := names(map[string]string{locate.IgnoreQueuesMPIR: ""})
	if s, err = hosts.Open(t.Context(), Process{Inferior: names(nil), Starters: []inferior.Inferior{starter}}, Settings{}); err != nil {
		t.Fatal(err)
	}
	if notes := s.Notes(); len(notes) != 1 {
		t.Errorf("the notes are %q", notes)
	}
}

// A DLL that would have the loader search where anybody can put a library.
func TestNeedsAreNamed(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path, open := filepath.Join(dir, "dll.so"), filepath.Join(dir, "open")
	args := []string{"-shared", "-fPIC", "-x", "c", "/dev/null", "-o", path, "-Wl,-rpath,$ORIGIN/open"}
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777|os.ModeSticky), os.Chmod(path, 0o755)); err != nil {
		t.Fatal(err)
	}
	c := candidate{path: path, origin: "the test"}
	_, err = c.resolve([]string{"/none"})
	if want := path + " is not loaded, since what it needs may come from " + open + ", and " + open + " can be written to by everybody. " +
		"To trust it all the same: `set mpi-queues dll-safe-path /none:" + open + "'. It is named by the test"; err == nil || err.Error() != want {
		t.Errorf("%v\nnot %s", err, want)
	}
	if real, err := c.resolve([]string{open}); real != path || err != nil {
		t.Error(real, err)
	}
}
