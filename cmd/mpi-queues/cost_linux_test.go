package main

import (
	"archive/zip"
	"bufio"
	"bytes"
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
	// What is packed a thousand to one: pieces of memory, processes, and all else that a
	// recording has lists of.
	pieces := make([]string, 20_000)
	for i := range pieces {
		pieces[i] = fmt.Sprintf(`{"address":"%#x","length":1}`, (i+1)<<13)
	}
	const process = `{"process":{"pointer_size":8}`
	recordings := map[string]map[string]repeated{
		"pieces.mpiq": {"memory": {each: "\x00", size: len(pieces)},
			"recording.json": {begin: process + `,"memory":[` + strings.Join(pieces, ",") + `]}`}},
		"blanks.mpiq": {"recording.json": {process, " ", 128 << 20, `}`}},
	}
	const size = 12 << 20
	for name, index := range map[string]repeated{
		"processes": {"{}", ",{}", size, ""},
		"threads":   {process + `,"threads":[{}`, `,{}`, size, `]}`},
		"frames":    {process + `,"threads":[{"frames":[{}`, `,{}`, size, `]}]}`},
		"registers": {process + `,"threads":[{"registers":[0`, `,0`, size, `]}]}`},
		"pieces":    {process + `,"memory":[{}`, `,{}`, size, `]}`},
		"libraries": {`{"process":{"pointer_size":8,"libraries":[""`, `,""`, size, `]}}`},
	} {
		recordings["index-"+name+".mpiq"] = map[string]repeated{"recording.json": index}
	}
	for name, said := range map[string]repeated{
		"processes":  {"{}", ",{}", size, ""},
		"operations": {`{"communicators":[{"pending_sends":[{}`, `,{}`, size, `]}]}`},
		"threads":    {`{"threads":[{}`, `,{}`, size, `]}`},
		"callers":    {`{"threads":[{"callers":[{}`, `,{}`, size, `]}]}`},
		"stacks":     {`{"stacks":[{}`, `,{}`, size, `]}`},
		"calls":      {`{"stacks":[{"frames":[{}`, `,{}`, size, `]}]}`},
		"group":      {`{"communicators":[{"group":[0`, `,0`, size, `]}]}`},
		"notes":      {`{"notes":[""`, `,""`, size, `]}`},
	} {
		for _, file := range []string{"dll.json", "beside.json"} {
			recordings[name+"-"+file+".mpiq"] = map[string]repeated{"recording.json": {begin: process + `}`}, "source": {begin: "auto"}, file: said}
		}
	}
	for name, files := range recordings {
		path := filepath.Join(folder, name)
		pack(t, path, files)
		commands = append(commands, []string{"replay", path}, []string{"report", path})
	}
	core, none := filepath.Join(folder, "core"), filepath.Join(folder, "none")
	claimSections(t, core)
	commands = append(commands, []string{"dump", "--core", none, core}, []string{"dump", "--core", core, core})
	for _, args := range commands {
		t.Run(strings.Join(args[:len(args)-1], " ")+" "+filepath.Base(args[len(args)-1]), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("mpi-queues", args...)
			out, _ := cmd.CombinedOutput() // an error is as good as a report
			peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
			t.Logf("%d MiB", peak>>20)
			if peak > mostOfAKilobyte || strings.Contains(string(out), "goroutine ") {
				t.Errorf("%q takes %d MiB:\n%.2000s", args, peak>>20, out)
			}
		})
	}
}

// repeated is a text in which something stands over and over. It is never there as a whole:
// what a test holds counts as its commands' too, which begin as its forks.
type repeated struct {
	begin, each string
	size        int // bytes of what is repeated
	end         string
}

// pack writes a recording whose files claim to be packed to four gigabytes each.
func pack(t *testing.T, path string, files map[string]repeated) {
	t.Helper()
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for _, name := range []string{"recording.json", "memory", "source", "dll.json", "beside.json"} {
		text, ok := files[name]
		if !ok && name != "memory" {
			continue
		}
		begin, end := "", ""
		switch name {
		case "recording.json":
			begin, end = `{"recording":1,"processes":[`, `]}`
		case "dll.json", "beside.json":
			begin, end = `{"schema":1,"processes":[`, `]}`
		}
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		buffered := bufio.NewWriter(w)
		buffered.WriteString(begin + text.begin)
		for n := 0; n < text.size; n += len(text.each) {
			buffered.WriteString(text.each)
		}
		buffered.WriteString(text.end + end)
		if err := buffered.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	// The format's directory has, for each file, a signature, flags and the packed size, and
	// the sizes again behind the file if a flag says so.
	const flagsAt, sizeAt = 8, 20
	directory := archive.Bytes()
	for {
		i := bytes.Index(directory, []byte("PK\x01\x02"))
		if i < 0 {
			break
		}
		directory = directory[i:]
		directory[flagsAt] &^= 8
		binary.LittleEndian.PutUint32(directory[sizeAt:], 0xfffffff0)
		directory = directory[sizeAt:]
	}
	if err := os.WriteFile(path, archive.Bytes(), 0o600); err != nil {
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
