package main

import (
	"archive/zip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What strangers send in a kilobyte costs no command more than this, in bytes of memory.
const mostOfAKilobyte = 256 << 20

func TestHostileKilobytes(t *testing.T) {
	folder := t.TempDir()
	// Numbers that claim much, and small things many times.
	snapshots := map[string]string{
		"job.json":   `{"schema":1,"processes":[{"global_rank":0,"world_size":4194304}]}`,
		"ranks.json": `{"schema":1,"processes":[{"global_rank":0,"world_size":262144,"communicators":[` + strings.TrimSuffix(strings.Repeat(`{"size":262144},`, 50), ",") + `]}]}`,
		"empty.json": `{"schema":1,"processes":[` + strings.TrimSuffix(strings.Repeat(`{},`, 300), ",") + `]}`,
	}
	var commands [][]string
	for name, text := range snapshots {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, format := range []string{"--text", "--json", "--html", "--svg", "--dot"} {
			commands = append(commands, []string{"report", format, path})
		}
	}
	// What is packed a thousand to one: pieces of memory, and processes.
	pieces := make([]string, 20_000)
	for i := range pieces {
		pieces[i] = fmt.Sprintf(`{"address":"%#x","length":1}`, (i+1)<<13)
	}
	for name, index := range map[string]string{
		"pieces.mpiq":    `{"process":{"pointer_size":8},"memory":[` + strings.Join(pieces, ",") + `]}`,
		"processes.mpiq": strings.TrimSuffix(strings.Repeat(`{},`, 300_000), ","),
	} {
		path := filepath.Join(folder, name)
		pack(t, path, `{"recording":1,"processes":[`+index+`]}`, len(pieces))
		commands = append(commands, []string{"replay", path}, []string{"report", path})
	}
	for _, args := range commands {
		cmd := exec.Command("mpi-queues", args...)
		out, _ := cmd.CombinedOutput() // an error is as good as a report
		peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
		t.Logf("%s %s: %d MiB", args[0], filepath.Base(args[len(args)-1]), peak>>20)
		if peak > mostOfAKilobyte || strings.Contains(string(out), "goroutine ") {
			t.Errorf("%q takes %d MiB:\n%.2000s", args, peak>>20, out)
		}
	}
}

// pack writes a recording with so many bytes of memory.
func pack(t *testing.T, path, index string, memory int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, b := range map[string][]byte{"recording.json": []byte(index), "memory": make([]byte, memory)} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
