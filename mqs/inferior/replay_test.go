package inferior_test

import (
	"bytes"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// replayed is a process of which these ranges were read while it was recorded.
func replayed(t *testing.T, p inferior.Inferior, used ...inferior.Range) inferior.Inferior {
	t.Helper()
	recorder := inferior.NewRecorder(p)
	r := inferior.NewReader(t.Context(), recorder)
	for _, u := range used {
		if _, err := r.Bytes(u.Addr, u.Len); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := inferior.WriteRecording(&file, []*inferior.Recorder{recorder}); err != nil {
		t.Fatal(err)
	}
	processes, err := inferior.ReadRecording(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil || len(processes) != 1 {
		t.Fatalf("%d processes, %v", len(processes), err)
	}
	return processes[0]
}

// A page of which something was recorded is there, with zeros where nothing was. Memory ends before a page of
// which nothing was recorded.
func TestReplayedPages(t *testing.T) {
	p := inferiortest.New()
	for _, at := range []inferior.Addr{0x10000, 0x20000} {
		p.Memory[at] = bytes.Repeat([]byte{0xee}, 0x2000)
	}
	log := replayed(t, p, inferior.Range{Addr: 0x10010, Len: 8}, inferior.Range{Addr: 0x10020, Len: 8}, inferior.Range{Addr: 0x20ff8, Len: 16})
	used, unused := bytes.Repeat([]byte{0xee}, 8), make([]byte, 8)
	for name, c := range map[string]struct {
		at   inferior.Addr
		len  int
		want []byte
	}{
		"what was used":             {0x10010, 8, used},
		"a part of it":              {0x10012, 2, used[:2]},
		"beside it":                 {0x10018, 8, unused},
		"two pieces":                {0x10010, 24, bytes.Join([][]byte{used, unused, used}, nil)},
		"over the end of a page":    {0x10ff8, 16, unused},
		"no page":                   {0x11000, 8, nil},
		"a piece on two pages":      {0x20ff0, 32, bytes.Join([][]byte{unused, used, used, unused}, nil)},
		"beyond the second of them": {0x21ff8, 16, unused},
	} {
		got, err := log.ReadMemory(t.Context(), []inferior.Range{{Addr: c.at, Len: c.len}})
		if err != nil || !bytes.Equal(got[0], c.want) {
			t.Errorf("%s: %x, %v; want %x", name, got[0], err, c.want)
		}
	}
}
