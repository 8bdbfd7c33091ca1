package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
	"github.com/mpi-queues/mpi-queues/mqs/read"
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
		"odd name": {launch.Job{Ranks: ranks("", 0), HasOddName: true}, []string{
			"The job's name in the environment of its ranks is ignored because it is too long or contains unprintable characters, " +
				"so ranks on other machines can't be found by name"}},
		"spawned": {launch.Job{Launcher: 7, Name: "prterun", Ranks: ranks("", 0), Others: []int{999999998, 999999999}}, []string{
			"prterun (process 7) has also started other jobs, as MPI_Comm_spawn does: `mpi-queues dump 999999998 999999999' shows them"}},
		"not MPI": {launch.Job{Launcher: 7, Name: "prterun", Ranks: ranks("", 0), Others: []int{sleeper.Process.Pid}}, []string{
			fmt.Sprintf("prterun (process 7) has also started sleep (process %d), which has loaded no MPI library, and so has not called MPI_Init: where MPI_Comm_spawn has started a process, it waits for that", sleeper.Process.Pid)}},
	} {
		if got := Missing(&c.job, false); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if isAway := name == "two hosts" || name == "some are not known"; (mergeAdvice(&c.job) != nil) != isAway {
			t.Errorf("%s: %q", name, mergeAdvice(&c.job))
		}
	}
}

// TestOtherJobs checks that a report names the report on each other job of the launcher, and dump the processes.
func TestOtherJobs(t *testing.T) {
	of := func(others, jobs []int) *launch.Job {
		return &launch.Job{Launcher: 7, Name: "prterun", Ranks: ranks("", 0), Others: others, OtherJobs: jobs}
	}
	const first, second, third = nobody + 7, nobody + 8, nobody + 9
	for _, c := range []struct {
		job  *launch.Job
		want []string
	}{
		{of(nil, nil), nil},
		{of([]int{first, second}, []int{first}), []string{"prterun (process 7) has also started another job, as MPI_Comm_spawn does: `mpi-queues report 999999997' says who waits for whom there"}},
		{of([]int{first, second, third}, []int{first, third}), []string{"prterun (process 7) has also started 2 other jobs, as MPI_Comm_spawn does: " +
			"`mpi-queues report PID' says who waits for whom in one, where PID is 999999997 or 999999999"}},
	} {
		if got := Missing(c.job, true); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What can't be read of a job is in its snapshot all the same.
func TestUnreachableRanks(t *testing.T) {
	job := &launch.Job{Size: mqs.Known[int32](3), Ranks: slices.Concat(ranks("", 0), ranks("n2", 1), ranks("", 2))}
	job.Ranks[0].Exited = true
	s, err := ReadJob(t.Context(), nil, 0, job, read.Filter{})
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
}

// fakeGDB answers tasks, and keeps them.
type fakeGDB struct {
	answer func(t gdbrun.Task) (*mqs.Snapshot, error)

	mu    sync.Mutex
	tasks []gdbrun.Task
}

func (f *fakeGDB) Read(_ context.Context, t gdbrun.Task) (*mqs.Snapshot, error) {
	f.mu.Lock()
	f.tasks = append(f.tasks, t)
	f.mu.Unlock()
	return f.answer(t)
}

// ReadInTurn answers for each process as for a job of its own.
func (f *fakeGDB) ReadInTurn(ctx context.Context, filter read.Filter, _ int, t gdbrun.Turn) error {
	for before, ok := t.Next(); ok; before, ok = t.Next() {
		s, err := f.Read(ctx, gdbrun.Task{Before: []tracee.State{before}, Filter: filter})
		var useless *gdbrun.UselessError
		if errors.As(err, &useless) {
			return err
		}
		t.Done(s, err)
	}
	return ctx.Err()
}

// sleepers are processes that do nothing, as the ranks of a job.
func sleepers(t *testing.T, n int) *launch.Job {
	t.Helper()
	job := &launch.Job{Size: mqs.Known(int32(n))}
	for i := range n {
		cmd := exec.Command("sleep", "600")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		job.Ranks = append(job.Ranks, launch.Rank{Number: mqs.Known(int32(i)), PID: cmd.Process.Pid})
	}
	return job
}

// One gdb reads all ranks that can be read; those that it does not show are tried alone.
func TestReadJob(t *testing.T) {
	job := sleepers(t, 3)
	job.Ranks = append(job.Ranks, launch.Rank{Number: mqs.Known[int32](3), PID: 7, Host: "away"})
	pids := []int{job.Ranks[0].PID, job.Ranks[1].PID, job.Ranks[2].PID}
	g := &fakeGDB{answer: func(t gdbrun.Task) (*mqs.Snapshot, error) {
		if t.Job != 0 {
			return &mqs.Snapshot{Processes: []*mqs.Process{{PID: pids[2], Inferior: 1}, {PID: pids[0], Inferior: 2}}}, nil
		}
		return nil, &gdbrun.AttachError{Reason: "ptrace: no."}
	}}
	f := read.Filter{Internal: true}
	s, err := ReadJob(t.Context(), g, pids[1], job, f)
	if err != nil || len(s.Processes) != 4 {
		t.Fatalf("%+v, %v", s, err)
	}
	for k, p := range s.Processes {
		if p.Inferior != k+1 || p.GlobalRank != mqs.Known(int32(k)) || p.WorldSize != job.Size || (p.Unavailable != "") != (k == 1 || k == 3) {
			t.Errorf("%d: %+v", k, p)
		}
	}
	if !strings.HasPrefix(s.Processes[1].Unavailable, fmt.Sprintf("gdb can't attach to process %d (ptrace: no)", pids[1])) && os.Geteuid() == 0 {
		t.Error(s.Processes[1].Unavailable)
	}
	if len(g.tasks) != 2 || g.tasks[0].Job != pids[1] || len(g.tasks[0].Before) != 3 || g.tasks[0].Filter != f ||
		g.tasks[1].Job != 0 || len(g.tasks[1].Before) != 1 || g.tasks[1].Before[0].PID != pids[1] {
		t.Errorf("%+v", g.tasks)
	}
}

// Where one gdb can't read the job, each rank says why, unless that would only be the same again.
func TestReadJobFails(t *testing.T) {
	job := sleepers(t, 2)
	late, useless := new(gdbrun.TimeoutError), new(gdbrun.UselessError)
	for _, c := range []struct {
		err   error
		tasks int
		again bool
	}{{errors.New("gdb: broken"), 3, true}, {late, 1, false}, {useless, 1, false}} {
		g := &fakeGDB{answer: func(gdbrun.Task) (*mqs.Snapshot, error) { return nil, c.err }}
		s, err := ReadJob(t.Context(), g, job.Ranks[0].PID, job, read.Filter{})
		if len(g.tasks) != c.tasks || (err == nil) != c.again || !c.again && err != c.err {
			t.Errorf("%T: %d tasks, %v", c.err, len(g.tasks), err)
		}
		if c.again && (s.Processes[0].Unavailable != "gdb: broken" || s.Processes[1].Unavailable != "gdb: broken") {
			t.Errorf("%+v", s)
		}
	}
}

// TestReadJobWithoutHeld checks that a rank that gdb could not stop costs nobody else's report: gdb is run again for the
// others, and it is left out with what the kernel shows of it. If no other is left, no gdb is run.
func TestReadJobWithoutHeld(t *testing.T) {
	job := sleepers(t, 3)
	held := 2
	g := &fakeGDB{answer: func(task gdbrun.Task) (*mqs.Snapshot, error) {
		if at := slices.IndexFunc(task.Before, func(p tracee.State) bool { return p.PID >= job.Ranks[1].PID && held > 0 }); at >= 0 {
			held--
			return nil, &tracee.HeldError{PID: task.Before[at].PID, Hold: mqs.Unwakeable, Threads: []mqs.KernelThread{{SystemCall: "openat"}}}
		}
		s := &mqs.Snapshot{}
		for _, p := range task.Before {
			s.Processes = append(s.Processes, &mqs.Process{PID: p.PID})
		}
		return s, nil
	}}
	s, err := ReadJob(t.Context(), g, job.Ranks[0].PID, job, read.Filter{})
	if err != nil || len(g.tasks) != 3 || s.Processes[0].Unavailable != "" {
		t.Fatalf("%d tasks, %+v, %v", len(g.tasks), s, err)
	}
	for _, p := range s.Processes[1:] {
		want := fmt.Sprintf("process %d can't be stopped: it is in uninterruptible sleep in openat", p.PID)
		if p.Unavailable != want || p.Hold != mqs.Unwakeable || len(p.KernelThreads) != 1 {
			t.Errorf("%+v, want %s", p, want)
		}
	}
	one := &launch.Job{Ranks: job.Ranks[1:2]}
	held, g.tasks = 1, nil
	s, _, err = ReadRanks(t.Context(), g, one.Ranks[0].PID, one, false)
	if err != nil || len(g.tasks) != 1 || s.Processes[0].Hold != mqs.Unwakeable {
		t.Errorf("%d tasks, %+v, %v", len(g.tasks), s, err)
	}
}

// Processes are read by several gdbs, and are in the order in which they were asked for; a gdb that is of
// no use ends it.
func TestReadEach(t *testing.T) {
	job := sleepers(t, 4)
	asked := append(Ranks(job), Process(nobody))
	g := &fakeGDB{answer: func(t gdbrun.Task) (*mqs.Snapshot, error) {
		return &mqs.Snapshot{Processes: []*mqs.Process{{PID: t.Before[0].PID}}}, nil
	}}
	s, err := Read(t.Context(), g, asked, read.Filter{Limit: 3})
	if err != nil || len(s.Processes) != 5 || len(g.tasks) != 4 {
		t.Fatalf("%+v, %d tasks, %v", s, len(g.tasks), err)
	}
	for k, p := range s.Processes[:4] {
		if p.PID != job.Ranks[k].PID || p.Inferior != k+1 || p.State == "" || g.tasks[k].Filter.Limit != 3 {
			t.Errorf("%d: %+v", k, p)
		}
	}
	if p := s.Processes[4]; p.Unavailable != fmt.Sprintf("there is no process %d", nobody) || p.Phase != mqs.Exited {
		t.Errorf("%+v", p)
	}
	g.answer = func(gdbrun.Task) (*mqs.Snapshot, error) { return nil, new(gdbrun.UselessError) }
	if _, err := Read(t.Context(), g, asked, read.Filter{}); err == nil {
		t.Error("a gdb of no use is no error")
	}
	g.answer = func(gdbrun.Task) (*mqs.Snapshot, error) { return &mqs.Snapshot{}, nil }
	if s, err := Read(t.Context(), g, asked[:1], read.Filter{}); err != nil || s.Processes[0].Unavailable != "gdb showed 0 processes, not one" {
		t.Errorf("%+v, %v", s, err)
	}
}

// A job of which nothing can be read says why, and one that is gone says that.
func TestReadRanks(t *testing.T) {
	job := sleepers(t, 2)
	no := &fakeGDB{answer: func(gdbrun.Task) (*mqs.Snapshot, error) { return nil, errors.New("gdb: broken") }}
	if _, _, err := ReadRanks(t.Context(), no, job.Ranks[0].PID, job, false); err == nil || err.Error() != "gdb: broken" {
		t.Error(err)
	}
	away := *job
	away.Ranks = append(slices.Clone(job.Ranks), launch.Rank{Number: mqs.Known[int32](2), PID: 7, Host: "away"})
	one := &fakeGDB{answer: func(gdbrun.Task) (*mqs.Snapshot, error) {
		return &mqs.Snapshot{Processes: []*mqs.Process{{PID: away.Ranks[1].PID}}}, nil
	}}
	s, remarks, err := ReadRanks(t.Context(), one, away.Ranks[0].PID, &away, false)
	if err != nil || len(s.Processes) != 3 || len(remarks) != 2 || s.Processes[1].Unavailable != "" {
		t.Errorf("%+v, %q, %v", s, remarks, err)
	}
	for i := range job.Ranks {
		job.Ranks[i].Exited = true
	}
	if _, _, err := ReadRanks(t.Context(), nil, job.Ranks[0].PID, job, false); err != ErrEnded {
		t.Error(err)
	}
}
