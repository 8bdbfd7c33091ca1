package recordings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
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
			t.Parallel()
			library, r := load(t, filepath.Dir(file)).Library, open(t, base+".mpiq")
			var all bytes.Buffer
			for _, e := range handlesOf(t, base) {
				shown := handle(t, r, valueOf(t, &e))
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

// valueOf is the handle of an entry.
func valueOf(t *testing.T, e *expect.HandleEntry) mqs.HandleValue {
	t.Helper()
	v, err := mqs.ParseHandle(mqs.HandleKind(e.Kind()), e.Value)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// handle is what a recording of one process says of a handle.
func handle(t *testing.T, r *recording.Recording, v mqs.HandleValue) *mqs.Handle {
	t.Helper()
	h, err := r.Handle(t.Context(), decoders.All, r.Processes[0], v)
	if err != nil {
		t.Fatal(err)
	}
	return h
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

// TestHandlesOfNothingRecorded checks that what was not recorded is unknown: nothing is said to be freed or invalid for
// that, in recordings of any age. A run asks each library for a quarter of the kinds of handles.
func TestHandlesOfNothingRecorded(t *testing.T) {
	sample.LogSeed(t)
	for _, folder := range folders(t) {
		of, file := load(t, folder), files(t, folder)[0]
		r := open(t, file)
		for i, kind := range mqs.HandleKinds {
			if !sample.Chosen(folder, i, 4) {
				continue
			}
			// Addresses that a process might have, and a place beyond what any process has.
			for _, value := range []uint64{0x5555deadb000, 0x8c3ff000} {
				if value>>32 != 0 && of.PointerSize == 4 {
					continue
				}
				h := handle(t, r, mqs.HandleValue{Kind: kind, Value: value})
				isNumber := of.MPI == "MPICH" // whose own bits tell of what kind it is
				if h.State == mqs.InvalidHandle && isNumber && kind != mqs.StatusHandle {
					continue
				}
				if h.State != "" || len(h.Notes) == 0 {
					t.Errorf("%s: %s %#x is %q: %q", file, kind, value, h.State, h.Notes)
				}
			}
		}
	}
}

// inTables are the kinds of handles of which a library has all in tables of its own.
var inTables = map[string][]mqs.HandleKind{
	"Open MPI": {mqs.CommHandle, mqs.GroupHandle, mqs.WinHandle, mqs.OpHandle, mqs.ErrhandlerHandle, mqs.FileHandle, mqs.InfoHandle},
	"MPICH": {mqs.CommHandle, mqs.DatatypeHandle, mqs.RequestHandle, mqs.GroupHandle, mqs.WinHandle, mqs.OpHandle,
		mqs.ErrhandlerHandle, mqs.InfoHandle, mqs.MessageHandle},
}

// TestRecordHandles checks that a recording has what all handles lead to that the library has in tables, whatever
// variables there are; and what those lead to that variables have. A run asks a quarter of them of the recordings that it
// has made of each recording.
func TestRecordHandles(t *testing.T) {
	sample.LogSeed(t)
	for _, file := range matches(t, "*/*.handles.json") {
		base := strings.TrimSuffix(file, ".handles.json")
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			library, entries := load(t, filepath.Dir(file)).Library, handlesOf(t, base)
			var values []mqs.HandleValue
			for _, e := range entries {
				values = append(values, valueOf(t, &e))
			}
			first, tables, all := open(t, base+".mpiq"), recordObjects(t, base+".mpiq", nil), recordObjects(t, base+".mpiq", values)
			for i, e := range entries {
				if e.IsGone() || !sample.Chosen(base, i, 4) {
					continue
				}
				want := shown(t, first, values[i])
				if got := shown(t, all, values[i]); got != want {
					t.Errorf("%s, which a variable has, is\n%swant\n%s", e.Expression, got, want)
				}
				if !slices.Contains(inTables[library.MPI], values[i].Kind) {
					continue
				}
				if got := shown(t, tables, values[i]); got != want {
					t.Errorf("%s, which the library has in a table, is\n%swant\n%s", e.Expression, got, want)
				}
			}
		})
	}
}

func open(t *testing.T, file string) *recording.Recording {
	t.Helper()
	r, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// recordObjects records nothing but what handles lead to of a process that was recorded.
func recordObjects(t *testing.T, file string, values []mqs.HandleValue) *recording.Recording {
	t.Helper()
	recorder := inferior.NewRecorder(open(t, file).Processes[0])
	if err := (read.Sources{Decoders: decoders.All}).RecordObjects(t.Context(), recorder, values); err != nil {
		var u *read.UnreadableError
		if !errors.As(err, &u) { // nothing but the handles' own bits may be known
			t.Fatal(err)
		}
	}
	var archive bytes.Buffer
	if err := recording.Write(&archive, recording.Content{Recorders: []*inferior.Recorder{recorder}, Choice: read.Auto}); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Read(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shown is what is shown of a handle of a recording's one process.
func shown(t *testing.T, r *recording.Recording, v mqs.HandleValue) string {
	t.Helper()
	var text bytes.Buffer
	if err := render.Handle(&text, handle(t, r, v), render.Style{}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// No more handles of a kind are found than are asked for.
func TestFewHandles(t *testing.T) {
	for _, file := range matches(t, "*/handles-rank-0.mpiq") {
		source, err := read.Open(inferior.NewReader(t.Context(), open(t, file).Processes[0]), decoders.All)
		if err != nil {
			t.Fatal(err)
		}
		e, ok := source.(read.Enumerator)
		if !ok { // a stripped MPICH
			continue
		}
		const most = 2
		n := map[mqs.HandleKind]int{}
		for _, v := range e.Handles(most) {
			n[v.Kind]++
		}
		for kind, n := range n {
			if n > most {
				t.Errorf("%s: %d handles of kind %s", file, n, kind)
			}
		}
		if n[mqs.CommHandle] != most || n[mqs.GroupHandle] != most || n[mqs.DatatypeHandle] != most {
			t.Errorf("%s: %v", file, n)
		}
	}
}
