package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
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
	for name, answer := range hostileAnswers(t) {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, answer, 0o600); err != nil {
			t.Fatal(err)
		}
		commands = append(commands, []string{"report", "--hosts", "evil", "--via", "cat " + path + "; : {host} {command}"})
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

// hostileAnswers are what a node's collector may send: a few kilobytes that unpack to many megabytes.
func hostileAnswers(t *testing.T) map[string][]byte {
	t.Helper()
	const size = 12 << 20
	merge := func(processes ...*mqs.Process) []byte {
		var b bytes.Buffer
		if err := document.WriteMerged(&b, &mqs.Snapshot{Processes: processes}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	const noClocks = "\x00\x00"
	out := map[string][]byte{}
	send := func(name string, parts ...[]byte) {
		var b bytes.Buffer
		to, err := wire.NewSender(&b, "evil", "evil", "")
		if err == nil {
			err = to.Document(func(w io.Writer) error {
				_, err := w.Write(slices.Concat(parts...))
				return err
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b.Bytes()
	}
	names := []byte(`{"names":["pmix:1"]}` + "\n")
	send("clocks", names, binary.AppendUvarint(nil, size/4), bytes.Repeat([]byte{2, 0, 0, 0}, size/4))
	send("seats", []byte(`{"list":{"seats":[{}`), bytes.Repeat([]byte(`,{}`), size/3), []byte("]}}\n"+noClocks))
	send("images", []byte(`{"list":{"images":[[]`), bytes.Repeat([]byte(`,[]`), size/3), []byte("]}}\n"+noClocks))
	// Ranks one after the other that are otherwise alike, as many as there may be and more.
	rank := func(n int32, operations int) *mqs.Process {
		q := &mqs.Queues{Communicator: mqs.Communicator{Size: mqs.Known[int32](1 << 14), Group: mqs.WholeGroup(1 << 14)}}
		q.Queue[mqs.PendingReceives] = &mqs.Queue{Total: operations, Operations: make([]mqs.PendingOperation, operations)}
		return &mqs.Process{PID: int(n), GlobalRank: mqs.Known(n), WorldSize: mqs.Known[int32](1 << 14), MPI: "Open MPI", Phase: mqs.Active,
			Threads: []mqs.Thread{{Number: 1, Placed: true, Call: "MPI_Recv"}}, Communicators: []*mqs.Queues{q}}
	}
	for name, c := range map[string]struct{ operations, ranks int }{
		"ranks": {1, 16_000}, "all-ranks": {1, 2_000_000}, "operations": {5000, 60}, "all-operations": {5000, 2_000_000},
	} {
		first := merge(rank(0, c.operations), rank(1, c.operations))
		next := merge(rank(0, c.operations), rank(1, c.operations), rank(2, c.operations))[len(first):]
		send(name, names, []byte(noClocks), first, bytes.Repeat(next, c.ranks-2))
	}
	out["twice"] = slices.Concat(out["all-operations"], out["operations"], out["all-ranks"])
	return out
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
