package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/jobs"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// As text, the ranks of a host are one sentence.
func TestUnreachableRanks(t *testing.T) {
	const nobody = 999999990 // beyond the kernel's limit
	job := &launch.Job{Size: mqs.Known[int32](3)}
	for i := range 3 {
		job.Ranks = append(job.Ranks, launch.Rank{Number: mqs.Known(int32(i)), PID: nobody + i})
	}
	job.Ranks[0].Exited, job.Ranks[1].Host = true, "n2"
	s, err := jobs.ReadJob(t.Context(), nil, 0, job, read.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "out")
	d := dump{view: view{output: file}, asked: jobs.Ranks(job), remarks: jobs.Missing(job, false)}
	if err := d.tables(s); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const want = `Rank 0 of 3, process 999999990
  process 999999990 (rank 0) has exited.

Rank 2 of 3, process 999999992
  there is no process 999999992.

Rank 1 is on n2: run ` + "`mpi-queues dump --job 999999991' there.\n"
	if string(text) != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	err = d.report(s)
	if err == nil || err.Error() != "process 999999990 (rank 0) has exited\nmpi-queues: there is no process 999999992\n"+
		"mpi-queues: Rank 1 is on n2: run `mpi-queues dump --job 999999991' there" {
		t.Error(err)
	}
}
