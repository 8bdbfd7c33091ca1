package helper

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// TestUnreadFiles checks which file is named, and why, if a debugger has not read a process's program or a library of its.
func TestUnreadFiles(t *testing.T) {
	proc := procfs.FS(t.TempDir())
	here := filepath.Join(t.TempDir(), "libhere.so.1")
	if err := os.WriteFile(here, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "libother.so")
	if err := os.Symlink(here, link); err != nil {
		t.Fatal(err)
	}
	namespaces := map[int]string{os.Getpid(): "mnt:[1]", 7: "mnt:[1]", 8: "mnt:[2]"}
	for pid, namespace := range namespaces {
		if err := os.MkdirAll(proc.Path(pid, "ns"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(namespace, proc.Path(pid, "ns", "mnt")); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		pid   int
		paths []string
		info  inferior.Info
		want  string
	}{
		{"all is read", 7, []string{"/bin/prog", "/lib/libc.so.6"}, inferior.Info{Executable: "/bin/prog", Libraries: []string{"/lib/libc.so.6"}}, ""},
		{"by another path", 7, []string{"/bin/prog", "/usr/lib/libc.so.6"}, inferior.Info{Executable: "/proc/7/exe/prog", Libraries: []string{"target:/lib/libc.so.6"}}, ""},
		{"by a link to it", 7, []string{"/bin/prog", here}, inferior.Info{Executable: "/bin/prog", Libraries: []string{link}}, ""},
		{"memory that is executed", 7, []string{"/bin/prog", "/memfd:jit", "[vdso]", "/dev/shm/x"}, inferior.Info{Executable: "/bin/prog"}, ""},
		{"a library is missing", 7, []string{"/bin/prog", "/nonexistent/libmpi.so.40"}, inferior.Info{Executable: "/bin/prog"},
			"has not read /nonexistent/libmpi.so.40: it can't be opened (no such file or directory)"},
		{"one is deleted, and others", 7, []string{"/bin/prog", "/lib/libmpi.so.40 (deleted)", "/lib/libpmix.so.2", "/lib/libpmix.so.2"}, inferior.Info{Executable: "/bin/prog"},
			"has not read /lib/libmpi.so.40 (deleted) and 1 more of its files: it was deleted or replaced while the process ran"},
		{"the program is missing", 7, []string{"/nonexistent/prog"}, inferior.Info{}, "has not read /nonexistent/prog: it can't be opened"},
		{"one that can be opened", 7, []string{"/bin/prog", here}, inferior.Info{Executable: "/bin/prog"}, here + ": the debugger's output says why"},
		{"a container", 8, []string{"/bin/prog", here}, inferior.Info{Executable: "/bin/prog"}, here + ": the process is in a container, whose files are in /proc/8/root: `mpi-attach 8' in gdb"},
		{"Valgrind", 7, []string{"/home/u/my ring", "/lib/libmpi.so.40", "/usr/libexec/valgrind/memcheck-amd64-linux"},
			inferior.Info{Executable: "/usr/libexec/valgrind/memcheck-amd64-linux"}, "run `gdb '/home/u/my ring'', and in it type `target remote | vgdb --pid=7'"},
		{"nothing known of the process", 9, nil, inferior.Info{}, ""},
	} {
		var maps strings.Builder
		for i, path := range c.paths {
			fmt.Fprintf(&maps, "%x000-%x000 r--p 00000000 00:01 7 %s\n%x000-%x000 r-xp 00000000 00:01 7 %s\n", 2*i+1, 2*i+2, path, 2*i+2, 2*i+3, path)
		}
		if c.pid != 9 {
			if err := os.WriteFile(proc.Path(c.pid, "maps"), []byte(maps.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c.info.PID, c.info.Kind = c.pid, "live"
		want := c.want
		if got := unreadFiles(proc, c.info); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		} else if want != "" && !strings.HasPrefix(got, "can't tell whether process "+strconv.Itoa(c.pid)+" uses MPI") && c.name != "Valgrind" {
			t.Errorf("%s: %q", c.name, got)
		}
		c.info.Kind = "core"
		if got := unreadFiles(proc, c.info); got != "" {
			t.Errorf("%s, a core file: %q", c.name, got)
		}
	}
}
