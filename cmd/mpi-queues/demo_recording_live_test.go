//go:build live

package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/demo"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/extension"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

var update = flag.Bool("update", false, "write the demo's recording anew: go test -tags live -run Recording ./cmd/mpi-queues -update")

// TestDemoRecording makes the demo's recording and holds the embedded one against it.
func TestDemoRecording(t *testing.T) {
	j := deadlock(t)
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	init, err := extension.Unpack(folder)
	if err != nil {
		t.Fatal(err)
	}
	// gdb records each process to a file.
	var recorded []inferior.Inferior
	for _, pid := range j.PIDs {
		file := filepath.Join(folder, "recording")
		gdb := exec.Command("gdb", "-nx", "-batch", "-x", init, "-p", strconv.Itoa(pid), "-ex", "mpi-queues -record "+file)
		gdb.Env = append(os.Environ(), "MPI_QUEUES_HELPER="+path)
		if out, err := gdb.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		r, err := recording.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		recorded = append(recorded, r.Processes...)
	}
	if *update {
		var recorders []*inferior.Recorder
		for _, r := range recorded {
			recorder := inferior.NewRecorder(anonymous{r})
			replayed(t, recorder)
			recorders = append(recorders, recorder)
		}
		var out bytes.Buffer
		if err := inferior.WriteRecording(&out, recorders); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("internal/demo/program/deadlock.mpiq", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		demo.Recording = out.Bytes()
	}
	embedded, err := inferior.ReadRecording(bytes.NewReader(demo.Recording), int64(len(demo.Recording)))
	if err != nil {
		t.Fatal(err)
	}
	now, then := cycle(t, replayed(t, recorded...)), cycle(t, replayed(t, embedded...))
	if !slices.Equal(now, then) {
		t.Errorf("the program's ranks wait otherwise than those of the recording; now:\n%s\nthen:\n%s",
			strings.Join(now, "\n"), strings.Join(then, "\n"))
	}
}

// cycle is who waits for whom in the only deadlock of a job. Where the calls are
// is left out: the recording's program need not have line numbers.
func cycle(t *testing.T, s *mqs.Snapshot) []string {
	t.Helper()
	r := waitfor.Analyse(s)
	if len(r.Deadlocks) != 1 || len(r.NearMisses) != 1 {
		t.Fatalf("%d deadlocks, %d near misses: %s", len(r.Deadlocks), len(r.NearMisses), r.Why)
	}
	out := []string{string(r.NearMisses[0].Kind)}
	for _, w := range r.Deadlocks[0].Cycle {
		out = append(out, fmt.Sprintf("rank %d in %s: %s", w.Rank, w.Call, w.Operation))
	}
	return out
}

func replayed(t *testing.T, processes ...inferior.Inferior) *mqs.Snapshot {
	t.Helper()
	s, err := (&recording.Recording{Processes: processes}).Read(t.Context(), decoders.All, read.Filter{Internal: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// anonymous is a process that does not say where its program lay.
type anonymous struct{ inferior.Inferior }

func (a anonymous) Info() inferior.Info {
	info := a.Inferior.Info()
	info.Executable = filepath.Base(info.Executable)
	return info
}
