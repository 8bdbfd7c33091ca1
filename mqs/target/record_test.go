package target

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"testing"
)

// A recording answers as the process did, and knows nothing else.
func TestRecordAndReplay(t *testing.T) {
	ctx := context.Background()
	f := newFake()
	f.info = Info{Inferior: 2, PID: 77, Kind: "core", Executable: "/a", Libraries: []string{"/b"}, PointerSize: 8}
	f.regions[0x10000] = noise(0x9000)
	f.symbols["sym"] = &Symbol{0x10008, "/b"}
	f.types["point_t"] = pointLayout()
	rec := NewRecorder(f)
	ask := func(tg Target) []any {
		mem, err1 := tg.ReadMemory(ctx, []Range{{0x10000, 0x1000}, {0x10ff0, 0x3000}, {0x18ff0, 64}, {0x50000, 8}})
		syms, err2 := tg.FindSymbols(ctx, []string{"sym", "none"})
		types, err3 := tg.FindTypes(ctx, []TypeQuery{{Name: "point_t", Fields: []string{"x"}}, {Name: "none_t"}})
		return []any{tg.Info(), mem[0], mem[1], mem[2], len(mem[3]), syms, types, err1, err2, err3}
	}
	want := ask(rec)
	var file bytes.Buffer
	if err := WriteRecording(&file, []*Recorder{rec}); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRecording(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil || len(got) != 1 {
		t.Fatalf("%d processes, %v", len(got), err)
	}
	if again := ask(got[0]); !reflect.DeepEqual(again, want) {
		t.Errorf("replayed\n%v\nwant\n%v", again, want)
	}
	mem, _ := got[0].ReadMemory(ctx, []Range{{0x15000, 8}})
	if len(mem[0]) != 0 {
		t.Error("memory that was never read is there")
	}
}

func TestReadRecordingRefuses(t *testing.T) {
	for _, file := range [][]byte{nil, []byte("hello"), []byte("PK\x05\x06" + string(make([]byte, 18)))} {
		if _, err := ReadRecording(bytes.NewReader(file), int64(len(file))); !errors.Is(err, ErrNotRecording) {
			t.Errorf("%q: %v", file, err)
		}
	}
}
