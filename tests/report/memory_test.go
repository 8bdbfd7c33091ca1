package report

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
	"github.com/mpi-queues/mpi-queues/tests/internal/madeup"
)

// A report on a hundred thousand ranks has their snapshot in memory, and little else: what is made on the
// way grows less with the ranks.
func TestMemoryForEachRank(t *testing.T) {
	const ranks = 10_000
	var text bytes.Buffer
	if err := document.Write(&text, madeup.Job(ranks)); err != nil {
		t.Fatal(err)
	}
	var s *mqs.Snapshot
	var r *waitfor.Report
	for _, step := range []struct {
		name          string
		do            func() error
		bytes, pieces uint64 // the most that is allocated for each rank
	}{
		{"reading the document", func() (err error) { s, err = document.Parse(text.Bytes()); return err }, 7000, 2}, // each processor has a piece of the text,
		{"the analysis", func() error { r = waitfor.Analyse(s); return nil }, 1800, 12},
		{"the page", func() error { return render.ReportHTML(io.Discard, r) }, 900, 2},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := step.do()
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		made, pieces := (after.TotalAlloc-before.TotalAlloc)/ranks, (after.Mallocs-before.Mallocs)/ranks
		t.Logf("%s: %d bytes in %d pieces for each rank", step.name, made, pieces)
		if made > step.bytes || pieces > step.pieces {
			t.Errorf("%s takes %d bytes in %d pieces for each rank, which should be %d in %d", step.name, made, pieces, step.bytes, step.pieces)
		}
	}
}
