//go:build live

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/demo"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// contained imitates a rootless container: it copies the program $1 to a new tmpfs, $0, and starts the copy with the other arguments in
// user and mount namespaces of its own, under the caller's user id.
const contained = `
mkdir -p "$0"
mount -t tmpfs none "$0"
cp "$1" "$0/program"
shift
exec unshare --user --map-user="$MAPPED" --map-group="$MAPPED" "$0/program" "$@"
`

// TestContainer checks that users can read jobs in their own rootless containers, which gdb may not enter, from the shell and in gdb, and
// that gdb's sysroot and inferior numbers are unchanged.
func TestContainer(t *testing.T) {
	const user = 54321
	run := func(name string, args ...string) *exec.Cmd { return exec.Command(name, args...) }
	mapped := os.Getuid()
	if mapped == 0 {
		setpriv, err := exec.LookPath("setpriv")
		if err != nil {
			t.Skip("root has to become another user by setpriv: ", err)
		}
		mapped = user
		run = func(name string, args ...string) *exec.Cmd {
			return exec.Command(setpriv, append([]string{"--reuid", strconv.Itoa(user), "--regid", strconv.Itoa(user), "--clear-groups", name}, args...)...)
		}
	}
	if err := run("unshare", "--user", "--map-root-user", "--mount", "true").Run(); err != nil {
		t.Skip("users may make no containers here: ", err)
	}
	ctx := context.Background()
	tools, noGDB, noMPI := demo.FindTools(ctx)
	path, err := built()
	if noGDB != nil || noMPI != nil || err != nil {
		t.Fatal(noGDB, noMPI, err)
	}
	folder := t.TempDir()
	program, home, own := filepath.Join(folder, "deadlock"), filepath.Join(folder, "home"), filepath.Join(folder, "mpi-queues")
	if err := tools.Compile(ctx, program, demo.Program); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(own, text, 0o755)
	}
	if err == nil {
		err = os.Mkdir(home, 0o755)
	}
	if err == nil {
		err = os.Chmod(filepath.Dir(folder), 0o755)
	}
	if err == nil && os.Getuid() == 0 {
		err = os.Chown(home, user, user)
	}
	if err != nil {
		t.Fatal(err)
	}
	environment := append(tools.Environment(), "HOME="+home, "TMPDIR="+home, "MAPPED="+strconv.Itoa(mapped), "NO_COLOR=1", "PATH="+folder+":"+os.Getenv("PATH"))
	launcher := run("mpirun", "--oversubscribe", "--mca", "pml", "ob1", "-n", strconv.Itoa(demo.Ranks),
		"unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", contained, filepath.Join(home, "container"), program, home)
	launcher.Env = environment
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, rank := range procfs.Host.Children(launcher.Process.Pid) {
			if p, err := os.FindProcess(rank); err == nil {
				_ = p.Kill()
			}
		}
		_ = launcher.Process.Kill()
		_ = launcher.Wait()
	})
	say := func(name string, args ...string) string {
		cmd := run(name, args...)
		cmd.Env, cmd.Dir = environment, home
		text, _ := cmd.CombinedOutput()
		return string(text)
	}
	pid := strconv.Itoa(launcher.Process.Pid)
	last := ""
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(last)
		}
	})
	until(t, "the deadlock", func() bool {
		last = say(own, "report", pid)
		return strings.HasPrefix(last, "Deadlock. Ranks 0-2 wait for each other")
	})
	ranks := procfs.Host.Children(launcher.Process.Pid)
	last = say("gdb", "-nx", "-batch", "-x", strings.TrimSpace(say(own, "gdbinit")), "-ex", "mpi-attach "+pid, "-ex", "mpi-queues -all", "-ex", "show sysroot",
		"-ex", "mpi-detach", "-ex", "attach "+strconv.Itoa(ranks[0]), "-ex", "mpi-queues")
	for _, want := range []string{"inferiors 1-3 are ranks 0-2", "Rank 2 of 3", "halo exchange (0x3): rank 2 of 3", `The current system root is "target:".`,
		"gdb may not enter the container that process " + strconv.Itoa(ranks[0]) + " is in"} {
		if !strings.Contains(last, want) {
			t.Errorf("no %q", want)
		}
	}
}
