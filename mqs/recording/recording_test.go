package recording

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// process is one that no decoder can read, of the debugger's number for it.
func process(number int) *inferiortest.Process {
	return &inferiortest.Process{Identity: inferior.Info{Inferior: number, PID: 100 + number, Kind: "core", Executable: "/prog"}}
}

// byDLL is what a DLL may have said, of every kind: two communicators have one id.
func byDLL() *mqs.Process {
	p := read.Identity(process(1).Info())
	p.Source, p.DLL, p.DLLVersion = "dll", "/lib/libtoy.so", "toy 1"
	p.GlobalRank, p.WorldSize, p.Phase = mqs.Known[int32](1), mqs.Known[int32](2), mqs.Active
	p.Notes = []string{"the sends of a may not be all: so it is", "the DLL has a remark"}
	queue := func(tag int32) *mqs.Queue {
		return &mqs.Queue{Total: 1, Operations: []mqs.PendingOperation{{Status: mqs.Pending, DesiredTag: mqs.Known(tag), TagWild: mqs.Known(false)}}}
	}
	none := &mqs.Queue{Operations: []mqs.PendingOperation{}}
	p.Communicators = []*mqs.Queues{
		{Communicator: mqs.Communicator{UniqueID: 7, Name: mqs.Known("a"), Size: mqs.Known[int32](2), LocalRank: mqs.Known[int32](1)},
			Queue: [3]*mqs.Queue{queue(1), none, {Unavailable: "the DLL has no information on it"}}},
		{Communicator: mqs.Communicator{UniqueID: 7, Name: mqs.Known("b")}, Queue: [3]*mqs.Queue{queue(2), queue(3), none}},
	}
	return p
}

// written is a recording of what it is made of.
func written(t *testing.T, c Content, processes ...inferior.Inferior) *Recording {
	t.Helper()
	for _, p := range processes {
		c.Recorders = append(c.Recorders, inferior.NewRecorder(p))
	}
	var file bytes.Buffer
	if err := Write(&file, c); err != nil {
		t.Fatal(err)
	}
	r, err := Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What a DLL has said is said again, without it.
func TestDLLAnswersAgain(t *testing.T) {
	want := byDLL()
	r := written(t, Content{Choice: read.DLL, ByDLL: []*mqs.Process{want}}, process(1))
	got, err := r.process(inferior.NewReader(t.Context(), r.Processes[0]), nil, read.Filter{Internal: true})
	if err != nil {
		t.Fatal(err)
	}
	want.Threads = got.Threads
	document := func(p *mqs.Process) string {
		var out bytes.Buffer
		if err := document.Write(&out, &mqs.Snapshot{Processes: []*mqs.Process{p}}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got, want := document(got), document(want); got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
	// A filter is one of the replay's.
	if got, err = r.process(inferior.NewReader(t.Context(), r.Processes[0]), nil, read.Filter{Comm: "b"}); err != nil || len(got.Communicators) != 1 || got.Communicators[0].Queue[0].Operations[0].DesiredTag.Value != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Where the command had an error, the replay has the same.
func TestErrorsAgain(t *testing.T) {
	failed := read.Failed(process(1).Info(), read.Unreadable("", "libtoy.so crashed\nin mqs_setup_image"))
	r := written(t, Content{Choice: read.DLL, ByDLL: []*mqs.Process{failed}}, process(1), process(2))
	if _, err := r.process(inferior.NewReader(t.Context(), r.Processes[0]), nil, read.Filter{}); err == nil || err.Error() != failed.Unavailable {
		t.Errorf("the error is %v", err)
	}
	if _, err := r.process(inferior.NewReader(t.Context(), r.Processes[1]), nil, read.Filter{}); !errors.Is(err, read.ErrNoDLL) {
		t.Errorf("without a DLL the error is %v", err)
	}
}

// Recordings of before have processes alone, and were read by decoders alone.
func TestOldRecording(t *testing.T) {
	var file bytes.Buffer
	if err := inferior.WriteRecording(&file, []*inferior.Recorder{inferior.NewRecorder(process(1))}); err != nil {
		t.Fatal(err)
	}
	r, err := Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.process(inferior.NewReader(t.Context(), r.Processes[0]), nil, read.Filter{})
	if err == nil || !strings.Contains(err.Error(), "does not use an MPI library") || len(r.Beside) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A stranger's recording can hold anything.
func TestHostileRecording(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no source":        {sourceFile: "elsewhere"},
		"a long source":    {sourceFile: strings.Repeat("x", 1<<20)},
		"no document":      {dllFile: "{"},
		"no processes":     {dllFile: `{"schema": 1, "processes": [null]}`},
		"another document": {besideFile: `{"schema": 99, "processes": []}`},
		"brackets":         {dllFile: strings.Repeat("[", 1<<20)},
	} {
		var file bytes.Buffer
		err := inferior.WriteRecording(&file, []*inferior.Recorder{inferior.NewRecorder(process(1))}, func(z *zip.Writer) error {
			for name, text := range files {
				f, err := z.Create(name)
				if err == nil {
					_, err = f.Write([]byte(text))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
		runtime.ReadMemStats(&after)
		if name != "no processes" && !errors.Is(err, inferior.ErrNotRecording) {
			t.Errorf("%s: the error is %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%s: it took %d bytes", name, took)
		}
	}
}

// Communicators that the DLL's document has in numbers are bounded as a DLL's own are.
func TestManyAnswers(t *testing.T) {
	p := byDLL()
	for i := range 1000 {
		p.Communicators = append(p.Communicators, &mqs.Queues{Communicator: mqs.Communicator{UniqueID: inferior.Addr(i), Name: mqs.Known(fmt.Sprint(i))},
			Queue: p.Communicators[0].Queue})
	}
	r := written(t, Content{Choice: read.Auto, ByDLL: []*mqs.Process{p}}, process(1))
	got, err := r.process(inferior.NewReader(t.Context(), r.Processes[0]), nil, read.Filter{Limit: 1})
	if err != nil || len(got.Communicators) != 1002 {
		t.Errorf("%v", err)
	}
}

// Operations that are all the same are packed to next to nothing, and are read all the same.
func TestManyAlike(t *testing.T) {
	const n = 50_000 // more than any text may have
	p := byDLL()
	q := p.Communicators[0].Queue[0]
	for range n {
		q.Operations = append(q.Operations, q.Operations[0])
	}
	q.Total = len(q.Operations)
	r := written(t, Content{Choice: read.DLL, ByDLL: []*mqs.Process{p}}, process(1))
	got, err := r.process(inferior.NewReader(t.Context(), r.Processes[0]), nil, read.Filter{})
	if err != nil || len(got.Communicators[0].Queue[0].Operations) != n+1 {
		t.Error(err)
	}
}
