package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/liveness"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
)

// nobody is a process id beyond the kernel's limit.
const nobody = 999999990

func ranks(host string, numbers ...int32) []launch.Rank {
	var out []launch.Rank
	for _, n := range numbers {
		out = append(out, launch.Rank{Number: mqs.Known(n), PID: nobody + int(n), Host: host})
	}
	return out
}

func TestMissing(t *testing.T) {
	sleeper := exec.Command("sleep", "600")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() })
	liveness.Wait(t.Context(), func() bool { return tracee.LacksMPI(sleeper.Process.Pid) }) // it loads its libraries first
	for name, c := range map[string]struct {
		job  launch.Job
		want []string
	}{
		"all here": {launch.Job{Size: mqs.Known[int32](2), Ranks: ranks("", 0, 1)}, nil},
		"two hosts": {launch.Job{Size: mqs.Known[int32](7), Ranks: slices.Concat(ranks("", 0), ranks("n2", 1, 2, 3, 5), ranks("n3", 6), ranks("", 4))}, []string{
			"Ranks 1-3, 5 are on n2: run `mpi-queues dump --job 999999991' there",
			"Rank 6 is on n3: run `mpi-queues dump --job 999999996' there"}},
		"some are not known": {launch.Job{Size: mqs.Known[int32](4), Ranks: ranks("", 2, 3)}, []string{
			"Of the job's 4 ranks, only ranks 2-3 were found on this machine: the others are on other machines, where " +
				"`mpi-queues dump --job PID' with the process id of any of them shows those that are there, or have exited"}},
		"spawned": {launch.Job{Launcher: 7, Name: "prterun", Ranks: ranks("", 0), Others: []int{999999998, 999999999}}, []string{
			"prterun (process 7) has also started other jobs, as MPI_Comm_spawn does: `mpi-queues dump 999999998 999999999' shows them"}},
		"not MPI": {launch.Job{Launcher: 7, Name: "prterun", Ranks: ranks("", 0), Others: []int{sleeper.Process.Pid}}, []string{
			fmt.Sprintf("prterun (process 7) has also started sleep (process %d), which has loaded no MPI library", sleeper.Process.Pid)}},
	} {
		if got := missing(&c.job); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if isAway := name == "two hosts" || name == "some are not known"; (mergeAdvice(&c.job) != nil) != isAway {
			t.Errorf("%s: %q", name, mergeAdvice(&c.job))
		}
	}
}

// What can't be read of a job is in its snapshot all the same; as text, the ranks
// of a host are one sentence.
func TestUnreachableRanks(t *testing.T) {
	job := &launch.Job{Size: mqs.Known[int32](3), Ranks: slices.Concat(ranks("", 0), ranks("n2", 1), ranks("", 2))}
	job.Ranks[0].Exited = true
	s, err := readJob(t.Context(), nil, 0, job, nil)
	if err != nil {
		t.Fatal(err)
	}
	for rank, want := range []string{
		"process 999999990 (rank 0) has exited",
		"process 999999991 (rank 1) is on n2: run `mpi-queues dump 999999991' there",
		"there is no process 999999992",
	} {
		p := s.Processes[rank]
		if p.Unavailable != want || p.PID != nobody+rank || p.GlobalRank != mqs.Known(int32(rank)) || p.WorldSize != job.Size {
			t.Errorf("%+v, want %q", p, want)
		}
	}
	file := filepath.Join(t.TempDir(), "out")
	d := dump{view: view{output: file}, remarks: missing(job)}
	d.ask(askJob(job)...)
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
