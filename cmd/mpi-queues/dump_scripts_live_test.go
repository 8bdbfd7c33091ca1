//go:build live

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestDumpRunsNoScript looks at a program with a script inside, by a gdb that trusts its path.
func TestDumpRunsNoScript(t *testing.T) {
	folder := t.TempDir()
	program, gdb, told := filepath.Join(folder, "scripted"), filepath.Join(folder, "gdb"), filepath.Join(folder, "told")
	source := filepath.Join("..", "..", "tests", "python", "programs", "scripted.c")
	if out, err := exec.Command("gcc", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tell := `python print(gdb.parameter("auto-load safe-path"), gdb.convenience_variable("script_has_run"), file=open("` + told + `", "w"))`
	script := "#!/bin/sh\nexec gdb -iex 'set auto-load safe-path /' \"$@\" -ex '" + tell + "'\n"
	if err := os.WriteFile(gdb, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	other := exec.Command(program)
	out, err := other.StdoutPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = other.Process.Kill(), other.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil { // it is in main
		t.Fatal(err)
	}
	s := command(t, "dump", "--gdb", gdb, strconv.Itoa(other.Process.Pid))
	s.ends(t, 1)
	says(t, &s.err, "does not use an MPI library")
	text, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(text)); got != "/ None" {
		t.Errorf("gdb says %q of the folders it trusts and of the script, not %q", got, "/ None")
	}
}
