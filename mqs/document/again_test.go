package document

import (
	"bytes"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// What a document has as an earlier one had it is the same in memory; what differs, or was forgotten, is read anew.
func TestReadAgain(t *testing.T) {
	var s mqs.Snapshot
	for i := range 3 {
		s.Processes = append(s.Processes, &mqs.Process{PID: i + 1})
	}
	var parser Parser
	read := func(before *Seen) (*mqs.Snapshot, *Seen) {
		got, seen, err := parser.ReadAgain(bytes.NewReader(document(t, &s)), before)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(document(t, got), document(t, &s)) {
			t.Error("it is not read back")
		}
		return got, seen
	}
	first, seen := read(nil)
	s.Processes[0], s.Processes[2] = s.Processes[2], &mqs.Process{PID: 1, Phase: mqs.Finished}
	seen.Drop(func(p *mqs.Process) bool { return p.PID == 2 })
	second, seen := read(seen)
	third, _ := read(seen)
	a, b, c := first.Processes, second.Processes, third.Processes
	if b[0] != a[2] || b[1] == a[1] || b[2] == a[0] {
		t.Error("not the process that was there, or one that was forgotten or differs")
	}
	for i := range c {
		if c[i] != b[i] {
			t.Errorf("process %d was read again", i)
		}
	}
}
