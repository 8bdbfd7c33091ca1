package procmem

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
)

// TestBuildID checks that a program's build id is that of its section, and that none is made up: of what is no program, of a note
// that says that it is long, of a pipe, for which nobody may wait, and of a file that claims to have two gigabytes of headers.
func TestBuildID(t *testing.T) {
	program := compile(t, "-Wl,--build-id")
	whole, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	section, err := f.Section(".note.gnu.build-id").Data()
	if err != nil {
		t.Fatal(err)
	}
	if id := BuildID(program); id != hex.EncodeToString(section[16:]) {
		t.Errorf("%q, not %x", id, section[16:])
	}
	note := bytes.Index(whole, section)
	path := filepath.Join(t.TempDir(), "program")
	for name, change := range map[string]func(text []byte) []byte{
		"its beginning": func(text []byte) []byte { return text[:note+20] }, "nothing": func([]byte) []byte { return nil },
		"long":        func(text []byte) []byte { text[note+7] = 0x7f; return text },
		"a long name": func(text []byte) []byte { text[note+3] = 0xff; return text },
		"another":     func(text []byte) []byte { text[note+12] = 'X'; return text },
	} {
		if err := os.WriteFile(path, change(bytes.Clone(whole)), 0o600); err != nil {
			t.Fatal(err)
		}
		if id := BuildID(path); id != "" {
			t.Errorf("%s: %s", name, id)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	claims := sparse(t, whole, manySections)
	cost.AtMost(t, 1<<20, func() {
		if id := BuildID(pipe) + BuildID(claims.Name()); id != "" {
			t.Error(id)
		}
	})
}

// manySections makes a file claim to have 2^25 of them.
func manySections(header *elf.Header64, sections []elf.Section64) {
	header.Shnum, sections[0].Size = 0, 1<<25
}

// TestCheck checks that a process whose program claims to have 2^25 sections, as no program has, is not given to a debugger, which
// would make something of each, and that others are: this test, and one whose program is gone.
func TestCheck(t *testing.T) {
	program, err := os.ReadFile(compile(t))
	if err != nil {
		t.Fatal(err)
	}
	var images Images
	check := func(path string, isRemoved bool) error {
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path)
		stdin, err1 := cmd.StdinPipe()
		stdout, err2 := cmd.StdoutPipe()
		if err := errors.Join(err1, err2, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = stdin.Close(), cmd.Wait() }()
		if _, err := stdout.Read(make([]byte, 1)); err != nil { // it runs
			t.Fatal(err)
		}
		if isRemoved {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		return images.Check(cmd.Process.Pid)
	}
	claims := sparse(t, program, manySections)
	if err := claims.Close(); err != nil {
		t.Fatal(err)
	}
	for _, isRemoved := range []bool{false, true} {
		if err := check(claims.Name(), isRemoved); err == nil || !strings.Contains(err.Error(), "33554432 sections can't be right") {
			t.Errorf("what claims much is let through: %v", err)
		}
	}
	for _, isRemoved := range []bool{false, true} {
		if err := check(compile(t), isRemoved); err != nil {
			t.Error(err)
		}
	}
	if err := images.Check(os.Getpid()); err != nil {
		t.Error(err)
	}
}
