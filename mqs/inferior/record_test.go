package inferior_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// A recording answers as the process did, and knows nothing else.
func TestRecordAndReplay(t *testing.T) {
	ctx := context.Background()
	f := inferiortest.New()
	f.Identity = inferior.Info{Inferior: 2, PID: 77, Kind: "core", Executable: "/a", Libraries: []string{"/b"}, PointerSize: 8}
	f.Memory[0x10000] = noise(0x9000)
	f.Symbols["sym"] = &inferior.Symbol{Addr: 0x10008, Object: "/b"}
	f.Types["point_t"] = pointLayout()
	rec := inferior.NewRecorder(f)
	ask := func(tg inferior.Inferior) []any {
		r := inferior.NewReader(ctx, tg)
		mem1, err1 := r.Bytes(0x10010, 0x20)
		mem2, err2 := r.Bytes(0x10020, 0x3000)
		mem3, err3 := r.Bytes(0x18ff0, 16)
		_, err4 := r.Bytes(0x50000, 8)
		syms, err5 := tg.FindSymbols(ctx, []string{"sym", "none"})
		types, err6 := tg.FindTypes(ctx, []layout.TypeQuery{{Name: "point_t", Fields: []string{"x"}}, {Name: "none_t"}})
		return []any{tg.Info(), mem1, mem2, mem3, syms, types, err1, err2, err3, err4, err5, err6}
	}
	want := ask(rec)
	var file bytes.Buffer
	if err := inferior.WriteRecording(&file, []*inferior.Recorder{rec}); err != nil {
		t.Fatal(err)
	}
	got, err := inferior.ReadRecording(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil || len(got) != 1 {
		t.Fatalf("%d processes, %v", len(got), err)
	}
	if again := ask(got[0]); !reflect.DeepEqual(again, want) {
		t.Errorf("replayed\n%v\nwant\n%v", again, want)
	}
	// Nor does it hold what was only brought along.
	r := inferior.NewReader(ctx, got[0])
	if b, err := r.Bytes(0x10000, 16); err != nil || !bytes.Equal(b, make([]byte, 16)) {
		t.Errorf("memory that was not used is there: %x, %v", b, err)
	}
	if _, err := r.Bytes(0x15000, 8); err == nil {
		t.Error("a page of which nothing was used is there")
	}
}

// A reader can be told what a recording has from what it has not, to the byte.
func TestExactly(t *testing.T) {
	f := inferiortest.New()
	f.Memory[0x10000] = noise(0x3000)
	rec := inferior.NewRecorder(f)
	used := inferior.NewReader(t.Context(), rec)
	for _, at := range []inferior.Addr{0x10010, 0x10010, 0x11ff0} {
		for _, n := range []int{8, 0x20, 4} {
			if _, err := used.Bytes(at, n); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := used.Symbols("there"); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := inferior.WriteRecording(&file, []*inferior.Recorder{rec}); err != nil {
		t.Fatal(err)
	}
	got, err := inferior.ReadRecording(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	r := inferior.NewReader(t.Context(), got[0])
	r.Exactly()
	lacked := 0
	for _, c := range []struct {
		at    inferior.Addr
		n     int
		isOut bool // and counted, unless no process has such memory
	}{
		{0x10010, 0x20, false}, {0x10018, 8, false}, {0x11ff0, 0x20, false}, {0x1002f, 1, false},
		{0x10008, 8, true}, {0x10028, 9, true}, {0x10030, 1, true}, {0x1200f, 2, true}, {0x50000, 8, true},
	} {
		_, err := r.Bytes(c.at, c.n)
		var m *inferior.MemoryError
		if isOut := errors.As(err, &m) && m.Unrecorded; isOut != c.isOut || isOut != (err != nil) {
			t.Errorf("%d bytes at %s: %v", c.n, c.at, err)
		}
		if c.isOut {
			lacked++
		}
	}
	if _, err := r.Bytes(0, 8); err == nil || r.Lacked() != lacked {
		t.Errorf("%d times something is lacking, want %d (%v)", r.Lacked(), lacked, err)
	}
	if _, err := r.Symbols("there"); err != nil || r.LacksSymbols(nil) {
		t.Error("a symbol that was looked for is lacking", err)
	}
	if _, err := r.Symbols("another"); err != nil || !r.LacksSymbols(nil) || r.LacksSymbols(map[string]bool{"another": true}) {
		t.Error("a symbol that was not looked for is not lacking", err)
	}
}

func TestReadRecordingRefuses(t *testing.T) {
	for _, file := range [][]byte{nil, []byte("hello"), []byte("PK\x05\x06" + string(make([]byte, 18)))} {
		if _, err := inferior.ReadRecording(bytes.NewReader(file), int64(len(file))); !errors.Is(err, inferior.ErrNotRecording) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

// A bug report can hold anything.
func TestReadRecordingStandsAnything(t *testing.T) {
	for name, index := range map[string]string{
		"a process of nothing": `{"recording": 1, "processes": [null]}`,
		"no pointers":          `{"recording": 1, "processes": [{"process": {"pointer_size": 0}}]}`,
		"disorder":             `{"recording": 1, "processes": [{"process": {"pointer_size": 8}, "memory": [{"address": "0x9000", "length": 1}, {"address": "0x1000", "length": 1}]}]}`,
		"overlap":              `{"recording": 1, "processes": [{"process": {"pointer_size": 8}, "memory": [{"address": "0x1000", "length": 2}, {"address": "0x1001", "length": 1}]}]}`,
		"more than there is":   `{"recording": 1, "processes": [{"process": {"pointer_size": 8}, "memory": [{"address": "0x1000", "length": 3221225472}]}]}`,
		"the end of all":       `{"recording": 1, "processes": [{"process": {"pointer_size": 8}, "memory": [{"address": "0xffffffffffffffff", "length": 2}]}]}`,
		"another version":      `{"recording": 2}`,
	} {
		var file bytes.Buffer
		z := zip.NewWriter(&file)
		for entry, text := range map[string]string{"recording.json": index, "memory": "abcd"} {
			w, err := z.Create(entry)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := inferior.ReadRecording(bytes.NewReader(file.Bytes()), int64(file.Len())); !errors.Is(err, inferior.ErrNotRecording) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
