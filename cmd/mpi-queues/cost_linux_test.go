package main

import (
	"archive/zip"
	"debug/elf"
	"encoding/binary"
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
	core, none := filepath.Join(folder, "core"), filepath.Join(folder, "none")
	claimSections(t, core)
	commands = append(commands, []string{"dump", "--core", none, core}, []string{"dump", "--core", core, core})
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

// claimSections writes a core file that claims to have 2^25 sections. Nearly all of it is a hole.
func claimSections(t *testing.T, path string) {
	t.Helper()
	const sections = 1 << 25
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_CORE), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
		Ehsize: 64, Phentsize: 56, Shoff: 64, Shentsize: 64, // Shnum is 0: the first section has it
	}
	file, err := binary.Append(nil, binary.LittleEndian, header)
	if err == nil {
		file, err = binary.Append(file, binary.LittleEndian, elf.Section64{Size: sections})
	}
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err == nil {
		err = os.Truncate(path, 64+64*sections)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A pipe is no core file, and is not waited for.
func TestPipeIsNoCore(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "core")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := isELF(pipe, elf.ET_CORE); err == nil || err.Error() != "it is no regular file" {
		t.Error(err)
	}
}
