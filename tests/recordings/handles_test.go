package recordings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// handlesOf are what the program says of the handles of a recorded process, nil if it says nothing of them.
func handlesOf(t *testing.T, base string) []expect.HandleEntry {
	t.Helper()
	entries, err := expect.LoadRecordedHandles(base + ".handles.json")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return entries
}

// What a recording says of a handle is what the program says of it, and what is shown is the text beside it. Only of
// what is no handle, or none any more, nothing may have been recorded: it is not known then.
func TestHandles(t *testing.T) {
	for _, file := range matches(t, "*/*.handles.json") {
		base := strings.TrimSuffix(file, ".handles.json")
		t.Run(base, func(t *testing.T) {
			library := load(t, filepath.Dir(file)).Library
			var all bytes.Buffer
			for _, e := range handlesOf(t, base) {
				shown := handle(t, base+".mpiq", e.Kind(), e.Value)
				fmt.Fprintf(&all, "%s = ", e.Expression)
				if err := render.Handle(&all, shown, render.Style{}); err != nil {
					t.Fatal(err)
				}
				if e.IsGone() && shown.State == "" {
					continue
				}
				for _, difference := range expect.CompareHandle(&e, asDocument(t, shown), library.MayLack) {
					t.Error(difference)
				}
			}
			compare(t, base+".handles.txt", all.Bytes())
		})
	}
}

// handle is what a recording of one process says of a handle.
func handle(t *testing.T, file, kind, value string) *mqs.Handle {
	t.Helper()
	r, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := mqs.ParseHandle(mqs.HandleKind(kind), value)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := r.Handle(t.Context(), decoders.All, r.Processes[0], v)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// asDocument is a handle as -json has it.
func asDocument(t *testing.T, h *mqs.Handle) expect.Object {
	t.Helper()
	var doc bytes.Buffer
	if err := document.WriteHandle(&doc, h); err != nil {
		t.Fatal(err)
	}
	o, err := expect.ParseHandle(doc.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// What was not recorded is not known: nothing is said to be freed or invalid for that, in recordings of any age.
func TestHandlesOfNothingRecorded(t *testing.T) {
	for _, folder := range folders(t) {
		file := files(t, folder)[0]
		for _, kind := range mqs.HandleKinds {
			// Addresses that a process might have, and a place beyond what any process has.
			for _, value := range []string{"0x5555deadb000", "0x8c3ff000"} {
				if len(value) == 14 && load(t, folder).PointerSize == 4 {
					continue
				}
				h := handle(t, file, string(kind), value)
				isNumber := load(t, folder).MPI == "MPICH" // whose own bits tell of what kind it is
				if h.State == mqs.InvalidHandle && isNumber && kind != mqs.StatusHandle {
					continue
				}
				if h.State != "" || len(h.Notes) == 0 {
					t.Errorf("%s: %s %s is %q: %q", file, kind, value, h.State, h.Notes)
				}
			}
		}
	}
}
