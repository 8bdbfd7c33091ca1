package read

import (
	"bytes"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// objects is a source whose handles are addresses of objects: a word that says what it is, and one that leads
// further.
type objects struct {
	viewSource
	r *inferior.Reader
}

// isObject is what an object begins with.
const isObject = 77

func (o *objects) Resolve(v mqs.HandleValue) *mqs.Handle {
	h := &mqs.Handle{State: mqs.InvalidHandle}
	words, err := o.r.Pointers(inferior.Addr(v.Value), 2)
	if err != nil || words[0] != isObject {
		return h
	}
	h.State = mqs.LiveHandle
	if size, err := o.r.Int(words[1], 8); err == nil {
		h.Group = &mqs.ProcessGroup{Size: mqs.Known(int32(size))}
	}
	return h
}

func (o *objects) Handles(int) []mqs.HandleValue {
	return []mqs.HandleValue{{Kind: mqs.GroupHandle, Value: 0x10000}}
}

// objectDecoder opens such a source.
type objectDecoder struct{ fakeDecoder }

func (objectDecoder) Open(r *inferior.Reader, _ map[string]inferior.Symbol) (Source, error) {
	return &objects{r: r}, nil
}

// word is 8 bytes of memory.
func word(n byte) []byte { return []byte{n, 0, 0, 0, 0, 0, 0, 0} }

// A recording has what handles lead to of tables and of variables, and nothing that garbage leads to. What it
// does not have is neither valid nor invalid, although it is on a page that it has something of.
func TestRecordObjects(t *testing.T) {
	f := inferiortest.New()
	memory := make([]byte, 0x1000)
	f.Memory[0x10000] = memory
	put := func(at int, words ...byte) {
		for i, n := range words {
			copy(memory[at+8*i:], word(n))
		}
	}
	group := func(at, size int) {
		put(at, isObject)
		memory[at+8], memory[at+9], memory[at+10] = byte(size), byte(size>>8), 1
	}
	group(0, 0x400)        // in a table
	group(0x100, 0x408)    // in a variable
	group(0x200, 0x410)    // in neither
	put(0x300, 1, 2, 3)    // garbage in a variable
	put(0x400, 30, 40, 50) // their sizes
	recorder := inferior.NewRecorder(f)
	ss := Sources{Decoders: []Decoder{objectDecoder{}}}
	handle := func(at uint64) mqs.HandleValue { return mqs.HandleValue{Kind: mqs.GroupHandle, Value: at} }
	if err := ss.RecordObjects(t.Context(), recorder, []mqs.HandleValue{handle(0x10100), handle(0x10300)}); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := inferior.WriteRecording(&file, []*inferior.Recorder{recorder}); err != nil {
		t.Fatal(err)
	}
	processes, err := inferior.ReadRecording(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at    uint64
		state mqs.HandleState
		size  int32 // 0: not known
		notes int
	}{
		{0x10000, mqs.LiveHandle, 30, 0},
		{0x10100, mqs.LiveHandle, 40, 0},
		{0x10200, "", 0, 1},
		{0x10300, "", 0, 1},
		{0x50000, "", 0, 1},
		{0, mqs.InvalidHandle, 0, 0}, // nowhere is memory at 0
	} {
		h, err := ss.Recorded(inferior.NewReader(t.Context(), processes[0]), handle(c.at))
		if err != nil {
			t.Fatal(err)
		}
		var size int32
		if h.Group != nil {
			size = h.Group.Size.Value
		}
		if h.State != c.state || size != c.size || len(h.Notes) != c.notes {
			t.Errorf("%#x is %q with %d members: %q", c.at, h.State, size, h.Notes)
		}
	}
	// The bytes of what is garbage are not there.
	r := inferior.NewReader(t.Context(), processes[0])
	r.Exactly()
	if _, err := r.Bytes(0x10300, 8); err == nil || r.Lacked() != 1 {
		t.Errorf("the recording has what garbage leads to: %v", err)
	}
}
