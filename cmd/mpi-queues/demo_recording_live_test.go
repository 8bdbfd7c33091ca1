//go:build live

package main

import (
	"bytes"
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/target"
)

var update = flag.Bool("update", false, "write the demo's recording anew: go test -tags live -run Recording ./cmd/mpi-queues -update")

// TestDemoRecording makes the demo's recording and holds the embedded one against it.
func TestDemoRecording(t *testing.T) {
	j := deadlock(t)
	path, err := findGDB("")
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGDB(t.Context(), path, patience)
	if err != nil {
		t.Fatal(err)
	}
	defer g.close()
	if g.self, err = built(); err != nil {
		t.Fatal(err)
	}
	// gdb records each process to a file.
	var recorded []target.Target
	for _, pid := range j.pids {
		file := filepath.Join(g.folder, "recording")
		i := askProcess(pid)
		i.options = []string{"-record", file}
		if _, err := g.read(t.Context(), i); err != nil {
			t.Fatal(err)
		}
		targets, err := openRecording(file)
		if err != nil {
			t.Fatal(err)
		}
		recorded = append(recorded, targets...)
	}
	if *update {
		var recorders []*target.Recorder
		for _, r := range recorded {
			recorder := target.NewRecorder(withoutTexts(t, r))
			show(t, recorder)
			recorders = append(recorders, recorder)
		}
		var out bytes.Buffer
		if err := target.WriteRecording(&out, recorders); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("demo/deadlock.mpiq", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		demoRecording = out.Bytes()
	}
	embedded, err := target.ReadRecording(bytes.NewReader(demoRecording), int64(len(demoRecording)))
	if err != nil {
		t.Fatal(err)
	}
	now, then := verdict(replayed(t, recorded...)), verdict(replayed(t, embedded...))
	if !slices.Equal(now, then) {
		t.Errorf("the program's ranks wait otherwise than those of the recording; now:\n%s\nthen:\n%s",
			strings.Join(now, "\n"), strings.Join(then, "\n"))
	}
}

func replayed(t *testing.T, targets ...target.Target) *mqs.Snapshot {
	t.Helper()
	s, err := readAll(t.Context(), targets, mqs.Filter{Internal: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// show is all that is shown of a target, or why nothing is.
func show(t *testing.T, r target.Target) string {
	t.Helper()
	s, err := readAll(t.Context(), []target.Target{r}, mqs.Filter{Internal: true})
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	if err := write(&out, s, "json", false); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// blanked is a target whose memory has zeros in place of texts. The memory of
// a process tells much of the machine and the user that it ran on.
type blanked struct {
	target.Target
	texts map[target.Addr]bool // by address
}

func (b *blanked) Info() target.Info {
	info := b.Target.Info()
	info.Executable = filepath.Base(info.Executable)
	return info
}

func (b *blanked) ReadMemory(ctx context.Context, ranges []target.Range) ([][]byte, error) {
	got, err := b.Target.ReadMemory(ctx, ranges)
	for i, data := range got {
		got[i] = bytes.Clone(data)
		for _, at := range texts.FindAllIndex(data, -1) {
			start := ranges[i].Addr + target.Addr(at[0])
			if b.texts[start] {
				clear(got[i][at[0]:at[1]])
			}
		}
	}
	return got, err
}

// texts are longer than what is printable of a pointer.
var texts = regexp.MustCompile(`[ -~]{7,}`)

// textFinder finds the texts in all memory that showing a target reads.
type textFinder struct {
	target.Target
	found map[target.Addr]bool
}

func (f *textFinder) ReadMemory(ctx context.Context, ranges []target.Range) ([][]byte, error) {
	got, err := f.Target.ReadMemory(ctx, ranges)
	for i, data := range got {
		for _, at := range texts.FindAllIndex(data, -1) {
			f.found[ranges[i].Addr+target.Addr(at[0])] = true
		}
	}
	return got, err
}

// withoutTexts blanks all texts that are not needed to show the same.
func withoutTexts(t *testing.T, whole target.Target) target.Target {
	t.Helper()
	b := &blanked{whole, map[target.Addr]bool{}}
	want := show(t, b)
	f := &textFinder{b, map[target.Addr]bool{}}
	show(t, f)
	var blank func(addrs []target.Addr)
	blank = func(addrs []target.Addr) {
		for _, a := range addrs {
			b.texts[a] = true
		}
		if len(addrs) == 0 || show(t, b) == want {
			return
		}
		for _, a := range addrs {
			delete(b.texts, a)
		}
		if len(addrs) > 1 {
			blank(addrs[:len(addrs)/2])
			blank(addrs[len(addrs)/2:])
		}
	}
	blank(slices.Sorted(maps.Keys(f.found)))
	return b
}
