//go:build verdicts

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// watchJob is liveness.Watch. A build with the tag verdicts, which tests/verdicts/record makes and nobody installs, writes
// the samples and the report into the folder that MPI_QUEUES_TEST_VERDICTS names.
func watchJob(ctx context.Context, s *mqs.Snapshot, again func(ctx context.Context) (*mqs.Snapshot, error), isFinal func(error) bool) (*waitfor.Report, error) {
	r, samples, err := liveness.Record(ctx, s, again, isFinal)
	folder := os.Getenv("MPI_QUEUES_TEST_VERDICTS")
	if err != nil || folder == "" {
		return r, err
	}
	write := func(name string, fill func(w io.Writer) error) {
		f, createErr := os.Create(filepath.Join(folder, name))
		if err == nil {
			err = createErr
		}
		if err == nil {
			err = fill(f)
		}
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}
	for i, sample := range samples {
		write(fmt.Sprintf("%02d.json", i), func(w io.Writer) error { return document.Write(w, sample.Snapshot) })
		write(fmt.Sprintf("%02d.clocks", i), func(w io.Writer) error {
			sample.Snapshot = nil
			return json.NewEncoder(w).Encode(sample)
		})
	}
	write("report.json", func(w io.Writer) error { return document.WriteReport(w, r) })
	return r, err
}
