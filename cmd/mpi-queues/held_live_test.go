//go:build live

package main

import (
	"context"
	_ "embed"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/demo"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

//go:embed testdata/held.c
var heldProgram []byte

// TestReportWithoutHeld checks that a rank which can't be stopped costs nobody else's report: it is named with its system
// call, the others are read, and no signal stays pending for it.
func TestReportWithoutHeld(t *testing.T) {
	ctx := context.Background()
	tools, noGDB, noMPI := demo.FindTools(ctx)
	if noGDB != nil || noMPI != nil {
		t.Fatal(noGDB, noMPI)
	}
	program := filepath.Join(t.TempDir(), "held")
	if err := tools.Compile(ctx, program, heldProgram); err != nil {
		t.Fatal(err)
	}
	j, err := tools.Start(ctx, program, 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Stop)
	held := j.PIDs[0]
	until(t, "the sleep", func() bool {
		stat, err := procfs.Host.Stat(held)
		return err == nil && stat.State == 'D' && len(procfs.Host.Children(held)) > 0
	})
	until(t, "the report", func() bool {
		s := command(t, "report", strconv.Itoa(j.Launcher.Process.Pid))
		s.ends(t, 0)
		text := s.out.String()
		return strings.HasPrefix(text, "Held up. Ranks 1-2 wait for rank 0, which is in uninterruptible sleep in vfork.") &&
			strings.Contains(text, "rank 0: in uninterruptible sleep in vfork (not readable)")
	})
	s := command(t, "dump", "--json", "--job", strconv.Itoa(j.PIDs[1]))
	s.ends(t, 0)
	for i, p := range parse(t, &s.out).Processes {
		isHeld := p.Hold == mqs.Unwakeable && len(p.KernelThreads) > 0 && p.KernelThreads[0].SystemCall == "vfork" && p.State == mqs.Uninterruptible
		if isHeld != (i == 0) || (p.Unavailable == "") == isHeld {
			t.Errorf("rank %d: %q, held by %q, %+v", i, p.Unavailable, p.Hold, p.KernelThreads)
		}
	}
	runOn(t, j.PIDs...)
	for _, id := range procfs.Host.Threads(held) {
		if status, err := procfs.Host.Status(id); err != nil || status.Pending>>(unix.SIGSTOP-1)&1 != 0 {
			t.Errorf("thread %d: %+v, %v", id, status, err)
		}
	}
}
