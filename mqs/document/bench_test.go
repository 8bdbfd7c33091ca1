package document

import (
	"io"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// large is a snapshot of a hundred thousand operations.
func large() *mqs.Snapshot {
	s := sampleSnapshot()
	q := s.Processes[0].Communicators[0].Queue[mqs.PendingSends]
	operation := q.Operations[0]
	for range 100_000 {
		q.Operations = append(q.Operations, operation)
	}
	return s
}

func BenchmarkWrite(b *testing.B) {
	s := large()
	for b.Loop() {
		if err := Write(io.Discard, s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	text := document(b, large())
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
