package cluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
)

// The program is sent to a host that lacks it, or has another version. It has no name there, and a standard input that
// ends when it is to end.
func TestProgramIsSent(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", folder)
	own := filepath.Join(t.TempDir(), "mpi-queues")
	sent := sends(t, "a", "v1", "pmix:1", 0)
	script := "#!/bin/sh\n[ \"$1 $2\" = \"collect it's\" ] && [ -z \"$(ls " + folder + ")\" ] && cat " + sent + "\n"
	if err := os.WriteFile(own, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "mpi-queues")
	if err := os.WriteFile(other, []byte("#!/bin/sh\necho mpi-queues v0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]string{"none": "/nowhere/it's", "another version": other} {
		q := question(map[string]string{"a": ""})
		q.Program = NewProgram(own, "mpi-queues v1")
		if _, err := q.Program.packed(); err != nil {
			t.Fatal(err)
		}
		q.Program.Path = there
		q.Command = func(host string, _ bool) (commandline.Script, error) { return q.Program.Line(host, "collect", "it's") }
		answer, err := q.Ask(context.Background())
		if err != nil || len(answer.Processes) != 1 || len(answer.Remarks) > 0 {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", name, left, err)
		}
	}
}

// TestPlantedFile checks that the program is not written through a link that another user has put where it was to be
// written: the folder may be theirs.
func TestPlantedFile(t *testing.T) {
	theirs, bin := t.TempDir(), t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", theirs)
	precious, own := filepath.Join(t.TempDir(), "precious"), filepath.Join(t.TempDir(), "mpi-queues")
	mktemp, err := exec.LookPath("mktemp")
	if err != nil {
		t.Fatal(err)
	}
	// They are quicker than the shell.
	plant := "#!/bin/sh\nname=$(" + mktemp + " \"$@\") && case $name in " + theirs + "/*) ln -sf " + precious + " \"$name\";; esac; echo \"$name\"\n"
	err = errors.Join(os.WriteFile(precious, []byte("precious"), 0o644), os.WriteFile(own, []byte("#!/bin/sh\necho sent\n"), 0o755),
		os.WriteFile(filepath.Join(bin, "mktemp"), []byte(plant), 0o755))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	p := NewProgram(own, "v1")
	packed, err := p.packed()
	if err != nil {
		t.Fatal(err)
	}
	p.Path = "/nowhere"
	line, err := p.Line("a")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", string(line))
	cmd.Stdin = bytes.NewReader(packed)
	if out, err := cmd.Output(); err != nil || !strings.HasSuffix(string(out), "sent\n") {
		t.Errorf("%q, %v", out, err)
	}
	if text, err := os.ReadFile(precious); string(text) != "precious" {
		t.Errorf("precious is %q, %v", text, err)
	}
	if info, err := os.Stat(precious); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("precious is %v, %v", info, err)
	}
}

// One that is there in the same version is executed; and where it can't be sent, that is said.
func TestProgramIsThere(t *testing.T) {
	own := filepath.Join(t.TempDir(), "mpi-queues")
	if err := os.WriteFile(own, []byte("#!/bin/sh\necho mpi-queues v1 \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := NewProgram(own, "mpi-queues v1 --version")
	line, err := p.Line("a", "collect", "x\n!y")
	if err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"sh", "bash", "bsd-csh", "tcsh", "fish"} {
		if _, err := exec.LookPath(shell); err != nil && shell != "sh" && shell != "bash" {
			continue
		}
		if out, err := exec.Command(shell, "-c", string(line)).CombinedOutput(); err != nil || string(out) != "mpi-queues v1 collect x\n!y\n" {
			t.Errorf("%s: %s, %v", shell, out, err)
		}
	}
	if out, err := exec.Command("sh", "-c", string(p.LineThere("relay"))).CombinedOutput(); err != nil || string(out) != "mpi-queues v1 relay\n" {
		t.Errorf("%s, %v", out, err)
	}
	p.Path = "/nowhere"
	line, _ = p.Line("a")
	bare := t.TempDir()
	for _, tool := range []string{"sh", "uname"} {
		path, err := exec.LookPath(tool)
		if err == nil {
			err = os.Symlink(path, filepath.Join(bare, tool))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bare)
	out, err := exec.Command("sh", "-c", string(line)).CombinedOutput()
	if err == nil || string(out) != "mpi-queues is not there, and can not be sent: there is no gzip\n" {
		t.Errorf("%s, %v", out, err)
	}
}

// TestProgramOfOthers checks that nothing is executed on a node that another user could have put there: the program is sent, or
// the node is refused by an engine that can't send it.
func TestProgramOfOthers(t *testing.T) {
	folder := t.TempDir()
	own, there := filepath.Join(folder, "own"), filepath.Join(folder, "a", "b", "mpi-queues")
	isRun := filepath.Join(folder, "is run")
	sent := sends(t, "a", "v1", "pmix:1", 0)
	for path, script := range map[string]string{own: "cat " + sent, there: "echo >'" + isRun + "'; echo mpi-queues v1"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	const nobody = 65534
	for name, c := range map[string]struct {
		at     string // below folder
		mode   os.FileMode
		owner  int
		isSafe bool
	}{
		"safe":                               {"a/b/mpi-queues", 0o755, 0, true},
		"a file that others write":           {"a/b/mpi-queues", 0o757, 0, false},
		"a file that a group writes":         {"a/b/mpi-queues", 0o775, 0, false},
		"another user's file":                {"a/b/mpi-queues", 0o755, nobody, false},
		"a folder that others write":         {"a/b", 0o757, 0, false},
		"a sticky folder":                    {"a/b", os.ModeSticky | 0o777, 0, false},
		"another user's folder":              {"a/b", 0o755, nobody, false},
		"a folder above that others write":   {"a", 0o777, 0, false},
		"a folder above that a group writes": {"a", 0o775, 0, false},
		"another user's folder above":        {"a", 0o755, nobody, false},
		"a sticky folder above":              {"a", os.ModeSticky | 0o777, 0, true},
	} {
		if c.owner != 0 && os.Getuid() != 0 {
			continue // only root gives files away
		}
		at := filepath.Join(folder, c.at)
		var before syscall.Stat_t
		if err := syscall.Stat(at, &before); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at, c.mode); err != nil {
			t.Fatal(err)
		}
		if c.owner != 0 {
			if err := os.Chown(at, c.owner, -1); err != nil {
				t.Fatal(err)
			}
		}
		q := question(map[string]string{"a": ""})
		q.Program = NewProgram(own, "mpi-queues v1")
		if _, err := q.Program.packed(); err != nil {
			t.Fatal(err)
		}
		q.Program.Path = there
		q.Command = func(host string, _ bool) (commandline.Script, error) { return q.Program.Line(host, "collect") }
		for _, path := range []string{there, filepath.Join(folder, "link", "b", "mpi-queues")} {
			_ = os.Symlink("a", filepath.Join(folder, "link")) // it may be there
			q.Program.Path = path
			q.Retry()
			answer, err := q.Ask(context.Background())
			if wasRun := os.Remove(isRun) == nil; wasRun != c.isSafe || !c.isSafe && (err != nil || len(answer.Processes) != 1) {
				t.Errorf("%s: executed: %v; %+v, %v", name, wasRun, answer, err)
			}
			out, err := exec.Command("sh", "-c", string(q.Program.LineThere("relay"))).CombinedOutput()
			if wasRun := os.Remove(isRun) == nil; wasRun != c.isSafe || !c.isSafe && (err == nil ||
				!strings.HasPrefix(string(out), "mpi-queues is not executed there, because another user could have replaced it by changing "+at+":")) {
				t.Errorf("%s: executed: %v; %s, %v", name, wasRun, out, err)
			}
		}
		if err := errors.Join(os.Chown(at, int(before.Uid), -1), os.Chmod(at, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	// A link in place of the program, which others may own.
	if err := errors.Join(os.Rename(there, there+"2"), os.Symlink(there+"2", there)); err != nil {
		t.Fatal(err)
	}
	p := NewProgram(own, "mpi-queues v1")
	p.Path = there
	if out, err := exec.Command("sh", "-c", string(p.LineThere("relay"))).CombinedOutput(); err == nil || os.Remove(isRun) == nil {
		t.Errorf("a link: %s, %v", out, err)
	}
}
