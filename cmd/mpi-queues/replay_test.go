package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
	"github.com/mpi-queues/mpi-queues/mqs/render"
)

// A recording of several processes shows what the command has shown, what it has inferred of
// one process from another and those that it could not read included.
func TestReplayOfSeveral(t *testing.T) {
	// Three ranks of tests/programs/queues.c on Debian's MPICH 4.0.2, whose senders do not know
	// their receivers, recorded by one command.
	r, err := recording.Open(filepath.Join("testdata", "mpich-job.mpiq"))
	if err != nil {
		t.Fatal(err)
	}
	var recorders []*inferior.Recorder
	var processes []inferior.Inferior
	for _, of := range r.Processes {
		recorder := inferior.NewRecorder(of)
		recorders, processes = append(recorders, recorder), append(processes, recorder)
	}
	beside := []*mqs.Process{{Inferior: 9, PID: 99, Unavailable: "it runs"}}
	one := func(r *inferior.Reader, f read.Filter) (*mqs.Process, error) {
		return read.Sources{Decoders: decoders.All}.Read(r, read.Native, f)
	}
	shown, err := read.Several{Processes: processes, Beside: beside, Read: one}.Together(t.Context(), read.Filter{Internal: true})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "several.mpiq")
	var archive bytes.Buffer
	if err := recording.Write(&archive, recording.Content{Recorders: recorders, Choice: read.Auto, Beside: beside}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, archive.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err = recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.Read(t.Context(), decoders.All, read.Filter{Internal: true})
	if err != nil {
		t.Fatal(err)
	}
	want, got := text(t, shown), text(t, again)
	if got != want {
		t.Errorf("the replay shows\n%s\nand the command\n%s", got, want)
	}
	if n := strings.Count(got, "inferred: "); n < 30 {
		t.Errorf("%d receivers are inferred:\n%s", n, got)
	}
}

func text(t *testing.T, s *mqs.Snapshot) string {
	t.Helper()
	var out bytes.Buffer
	if err := render.Text(&out, s, render.Style{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
