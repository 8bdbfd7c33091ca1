package inferior

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// scattered is a recording of n bytes, each on a page of its own that is not next to the
// others, and of as much more as is padding.
func scattered(t testing.TB, n int, padding string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	var index strings.Builder
	index.WriteString(`{"recording":1,"padding":"` + padding + `","processes":[{"process":{"pointer_size":8},"memory":[`)
	for i := range n {
		if i > 0 {
			index.WriteByte(',')
		}
		fmt.Fprintf(&index, `{"address":"%#x","length":1}`, (i+1)*2*pageSize)
	}
	index.WriteString("]}]}")
	for name, b := range map[string][]byte{"recording.json": []byte(index.String()), "memory": make([]byte, n)} {
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
	return out.Bytes()
}

// A recording's pages cost nothing before they are read, and what is read of them ends by
// what was recorded.
func TestScatteredRecording(t *testing.T) {
	const pieces = 1 << 17
	file := scattered(t, pieces, "")
	cost.AtMost(t, cost.Most, func() {
		processes, err := ReadRecording(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		r := NewReader(t.Context(), processes[0])
		read := 0
		for i := range pieces {
			if _, err = r.Bytes(Addr(i+1)*2*pageSize, 1); err != nil {
				break
			}
			read++
		}
		var spent *SpentError
		if !errors.As(err, &spent) || !strings.Contains(err.Error(), "after reading") || read < 1000 {
			t.Errorf("after %d pages: %v", read, err)
		}
		if r.Spent() == nil {
			t.Error("the process is read on")
		}
	})
}

// What a recording unpacks to is bounded by what it is packed to.
func TestPackedRecording(t *testing.T) {
	file := scattered(t, 1, strings.Repeat("a", 64<<20))
	cost.AtMost(t, 96<<20, func() {
		if _, err := ReadRecording(bytes.NewReader(file), int64(len(file))); !errors.Is(err, ErrNotRecording) {
			t.Errorf("%d bytes are read: %v", len(file), err)
		}
	})
}

// A type that can't be as large as it says is not bound, and an array that is not there
// is not made.
func TestClaimedSizes(t *testing.T) {
	var s struct {
		Big Struct[struct{}] `c:"big"`
	}
	for _, size := range []int{-1, maxStruct + 1, 1 << 40} {
		if err := Bind(&s, layout.FromDWARF(map[string]*layout.Layout{"big": {Size: size}})); err == nil {
			t.Errorf("a type of %d bytes is bound", size)
		}
	}
	var places struct {
		Spread Struct[struct {
			Here Embedded[int32] `c:"here"`
		}] `c:"spread"`
	}
	for size, ok := range map[int]bool{maxStruct + 1: true, maxSpread: true, maxSpread + 1: false, -1: false} {
		spread := &layout.Layout{Size: size, Fields: map[string]layout.Field{"here": {Offset: maxStruct - 8, Size: 4}}}
		if err := Bind(&places, layout.FromDWARF(map[string]*layout.Layout{"spread": spread})); (err == nil) != ok {
			t.Errorf("a type of %d bytes of which only places are taken: %v", size, err)
		}
	}
	cost.AtMost(t, 1<<20, func() {
		r := NewReader(t.Context(), &replay{log: &processLog{Process: Info{PointerSize: 8}}})
		spread := &layout.Layout{Size: maxSpread, Fields: map[string]layout.Field{"here": {Offset: maxStruct - 8, Size: 4}}}
		if err := Bind(&places, layout.FromDWARF(map[string]*layout.Layout{"spread": spread})); err != nil {
			t.Fatal(err)
		}
		if at := Places(&places.Spread, 0x1000).Here.Addr(); at != 0x1000+maxStruct-8 {
			t.Errorf("a member of it is at %s", at)
		}
		if _, err := places.Spread.Read(r, 0x1000); err == nil || !strings.Contains(err.Error(), "not read as a whole") {
			t.Errorf("a gigabyte is read: %v", err)
		}
		if _, err := r.Pointers(0x1000, 1<<40); err == nil {
			t.Error("a terabyte was read")
		}
	})
}
