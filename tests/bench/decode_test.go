//go:build bench

package bench

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
)

// decoding is what it takes to decode the queues of a process, on every machine the same.
type decoding struct{ bytes, allocations uint64 }

// decode records what a session shows, and measures how it is decoded.
func decode(t *testing.T, s *session, n int) decoding {
	t.Helper()
	path := filepath.Join(t.TempDir(), "many.mpiq")
	s.do("mpi-queues -limit 1 -record " + path)
	r, err := recording.Open(path)
	must(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	snapshot, err := r.Read(t.Context(), decoders.All, read.Filter{})
	runtime.ReadMemStats(&after)
	must(t, err)
	got := 0
	for _, p := range snapshot.Processes {
		for _, c := range p.Communicators {
			got += c.Queue[mqs.PendingReceives].Total
		}
	}
	if got != n {
		t.Fatalf("the recording shows %d receives of %d", got, n)
	}
	fmt.Printf("decoding %d receives allocates %s in %d pieces\n", n, megabytes(int(after.TotalAlloc-before.TotalAlloc)), after.Mallocs-before.Mallocs)
	return decoding{after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs}
}
