package read

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// readable is a process of which only the decoders below know anything.
var readable = &inferiortest.Process{Identity: inferior.Info{Inferior: 1, PID: 7, Executable: "/bin/prog"}}

// fakeDecoder makes of every process what it is told to.
type fakeDecoder struct {
	source Source
	err    error
	opened *int // counts
}

func (fakeDecoder) Name() string      { return "Fake MPI" }
func (fakeDecoder) Symbols() []string { return []string{"fake"} }
func (d fakeDecoder) Open(*inferior.Reader, map[string]inferior.Symbol) (Source, error) {
	if d.opened != nil {
		*d.opened++
	}
	return d.source, d.err
}

// viewSource shows a process as it stands, by a decoder or a DLL.
type viewSource struct {
	*mqs.Process
	dll string // path of the DLL, empty for a decoder
	// breaks is why a DLL does not survive being read.
	breaks error
	// endless is true if no queue has an end.
	endless bool
	broken  error
}

func (s *viewSource) Info(p *mqs.Process) {
	if s.dll == "" {
		p.Source, p.MPI, p.MPIVersion, p.Library = "native", "Fake MPI", "1.0", "/lib/libfake.so"
		return
	}
	p.Source, p.DLL, p.DLLVersion = "dll", s.dll, "DLL 1"
}

func (s *viewSource) Notes() []string {
	if s.dll == "" {
		return nil
	}
	return []string{"the DLL has a remark"}
}

func (s *viewSource) Communicators() iter.Seq2[mqs.Communicator, error] {
	return func(yield func(mqs.Communicator, error) bool) {
		for _, c := range s.Process.Communicators {
			if !yield(c.Communicator, nil) {
				return
			}
		}
	}
}

func (s *viewSource) Operations(c *mqs.Communicator, class mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
	return func(yield func(mqs.PendingOperation, error) bool) {
		for _, q := range s.Process.Communicators {
			if q.UniqueID != c.UniqueID || q.Queue[class] == nil {
				continue
			}
			for _, op := range q.Queue[class].Operations {
				if !yield(op, nil) {
					return
				}
			}
			if s.breaks != nil {
				s.broken = s.breaks
				yield(mqs.PendingOperation{}, s.broken)
			}
			if s.endless {
				yield(mqs.PendingOperation{}, ErrEndless)
			}
		}
	}
}

func (s *viewSource) Err() error { return s.broken }

// job is a way to read a process, and what it is made of.
type job struct {
	native     *viewSource // nil if there is no decoder
	nativeErr  error
	dll        *viewSource // nil if there is none
	dllErr     error
	sawNative  bool // the DLL was opened with what the decoder knows
	openedDLLs int
	// openedNatives is how often a decoder has opened the process.
	openedNatives int
}

func (j *job) sources() Sources {
	ss := Sources{}
	if j.native != nil || j.nativeErr != nil {
		ss.Decoders = []Decoder{fakeDecoder{j.native, j.nativeErr, &j.openedNatives}}
	}
	ss.OpenDLL = func(_ *inferior.Reader, native Source) (Source, error) {
		j.openedDLLs++
		j.sawNative = native != nil
		if j.dllErr != nil {
			return nil, j.dllErr
		}
		return j.dll, nil
	}
	return ss
}

// ofReceives is how a difference between the receives of [processWith] begins in [expectDifferences].
const ofReceives = "world (0x3)|pending_receives|"

// pendingReceive is a receive as both views have it.
func pendingReceive(buffer inferior.Addr, tag int32) mqs.PendingOperation {
	return mqs.PendingOperation{Status: mqs.Pending, DesiredLocalRank: mqs.Known[int32](1), DesiredTag: mqs.Known(tag), Buffer: mqs.Known(buffer)}
}

// processWith is a process with the given receives pending on its only communicator.
func processWith(ops ...mqs.PendingOperation) *mqs.Process {
	return &mqs.Process{Communicators: []*mqs.Queues{{
		Communicator: mqs.Communicator{UniqueID: 3, Name: mqs.Known("world"), LocalRank: mqs.Known[int32](0), Size: mqs.Known[int32](2)},
		Queue:        [3]*mqs.Queue{mqs.PendingReceives: {Operations: ops, Total: len(ops)}},
	}}}
}

func expectDifferences(t *testing.T, name string, got []mqs.Difference, want ...string) {
	t.Helper()
	var lines []string
	for _, d := range got {
		place := ""
		if d.Operation.Known {
			place = fmt.Sprint(d.Operation.Value)
		}
		lines = append(lines, strings.Join([]string{d.Communicator, d.Queue, place, d.Field, d.Native, d.DLL}, "|"))
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%s: got %q, want %q", name, lines, want)
	}
}

// twoViews are what a decoder and a DLL make of one process: the DLL knows not
// what is internal, and has another tag.
func twoViews() (native, dll *viewSource) {
	own := pendingReceive(0x30, 3)
	own.Internal = true
	n, d := processWith(own, pendingReceive(0x10, 1), pendingReceive(0x20, 2)), processWith(pendingReceive(0x30, 3), pendingReceive(0x10, 1), pendingReceive(0x20, 9))
	n.Communicators = append(n.Communicators, &mqs.Queues{Communicator: mqs.Communicator{UniqueID: 9, Name: mqs.Known("own"), Internal: true}})
	return &viewSource{Process: n}, &viewSource{Process: d, dll: "/lib/libfake_dbg.so"}
}

// tags are those of the receives of a process's communicators, a word for each.
func tags(p *mqs.Process) string {
	var out []string
	for _, c := range p.Communicators {
		out = append(out, c.Label()+":")
		if q := c.Queue[mqs.PendingReceives]; q.Unavailable != "" {
			out = append(out, q.Unavailable)
		} else {
			for i := range q.Operations {
				out = append(out, fmt.Sprint(q.Operations[i].DesiredTag.Value))
			}
		}
	}
	return strings.Join(out, " ")
}

func TestParseChoice(t *testing.T) {
	for _, name := range []string{"auto", "native", "dll", "both"} {
		if c, err := ParseChoice(name); err != nil || string(c) != name {
			t.Errorf("%s: %q, %v", name, c, err)
		}
	}
	for _, name := range []string{"", "DLL", "vendor"} {
		if _, err := ParseChoice(name); err == nil || !strings.Contains(err.Error(), "auto, native, dll or both") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestChoices(t *testing.T) {
	unreadable := Unreadable("Fake MPI", "its layouts are not known")
	for _, tc := range []struct {
		name   string
		choice Choice
		// change makes of a process that both can read another one.
		change func(j *job)
		source string // who read it
		tags   string // what was read
		notes  string // in its notes
		fails  string // or the whole sentence of the error
		dlls   int    // how often a DLL was opened
	}{
		{"native", Native, nil, "native", "world: 1 2", "", "", 0},
		{"native is enough", Auto, nil, "native", "world: 1 2", "", "", 0},
		{"the DLL", DLL, nil, "dll", "world: 3 1 9", "the DLL has a remark", "", 1},
		{"both", Both, nil, "both", "world: 1 2", "the DLL has a remark", "", 1},

		{"native only", Native, func(j *job) { j.nativeErr = unreadable }, "", "", "", "its layouts are not known", 0},
		{"auto falls back", Auto, func(j *job) { j.nativeErr = unreadable }, "dll", "world: 3 1 9",
			"this is what the vendor's DLL says, since the native decoder can't read the process: its layouts are not known", "", 1},
		{"auto without a decoder", Auto, func(j *job) { j.nativeErr = ErrNotThis }, "dll", "world: 3 1 9", "the DLL has a remark", "", 1},
		{"nothing to read for anybody", Auto, func(j *job) { j.nativeErr = Nothing("Fake MPI", mqs.Starting, "not yet") }, "", "", "", "not yet", 0},
		{"nothing to compare for anybody", Both, func(j *job) { j.nativeErr = Nothing("Fake MPI", mqs.Starting, "not yet") }, "", "", "", "not yet", 0},
		{"the DLL all the same", DLL, func(j *job) { j.nativeErr = Nothing("Fake MPI", mqs.Starting, "not yet") }, "dll", "world: 3 1 9", "", "", 1},
		{"auto and no DLL", Auto, func(j *job) { j.nativeErr, j.dllErr = unreadable, Unreadable("", "%w anywhere", ErrNoDLL) }, "", "", "", "its layouts are not known", 1},
		{"the DLL and none there", DLL, func(j *job) { j.dllErr = Unreadable("", "%w", ErrNoDLL) }, "", "", "", "no queue DLL was found", 1},
		{"auto and neither can", Auto, func(j *job) { j.nativeErr, j.dllErr = unreadable, Unreadable("", "it crashed") }, "", "", "",
			"its layouts are not known.\nNor can the vendor's DLL: it crashed", 1},
		{"both and neither can", Both, func(j *job) { j.nativeErr, j.dllErr = unreadable, Unreadable("", "it crashed") }, "", "", "",
			"its layouts are not known.\nNor can the vendor's DLL: it crashed", 1},
		{"both without native", Both, func(j *job) { j.nativeErr = unreadable }, "dll", "world: 3 1 9", "nothing to compare with: its layouts are not known", "", 1},
		{"both without the DLL", Both, func(j *job) { j.dllErr = Unreadable("", "it crashed") }, "native", "world: 1 2", "nothing to compare with: it crashed", "", 1},
		{"the connection is gone", Auto, func(j *job) { j.nativeErr = errors.New("broken pipe") }, "", "", "", "broken pipe", 0},
		{"the connection is gone for both", Both, func(j *job) { j.nativeErr = errors.New("broken pipe") }, "", "", "", "broken pipe", 0},

		{"the DLL breaks down", DLL, func(j *job) { j.dll.breaks = errors.New("it crashed in mqs_next_operation") }, "", "", "", "it crashed in mqs_next_operation", 1},
		{"the DLL breaks down after native", Auto, func(j *job) { j.nativeErr, j.dll.breaks = unreadable, errors.New("it crashed") }, "", "", "",
			"its layouts are not known.\nNor can the vendor's DLL: it crashed", 1},
		{"the DLL breaks down beside native", Both, func(j *job) { j.dll.breaks = errors.New("it crashed") }, "native", "world: 1 2", "nothing to compare with: it crashed", "", 1},
		{"an endless queue", DLL, func(j *job) { j.dll.endless = true }, "dll", "world: it does not come to an end", "", "", 1},
		{"the program asks not to be shown", Both, func(j *job) { j.dll = &viewSource{Process: &mqs.Process{}, dll: ""} }, "native", "world: 1 2", "the program asks debuggers not to show its queues", "", 1},
		{"a fault of our own", DLL, func(j *job) { j.dll.Process = nil }, "", "", "", "mpi-queues failed on this process (runtime error: invalid memory address or nil pointer dereference): please report it, with a recording by -record", 1},
	} {
		j := &job{}
		j.native, j.dll = twoViews()
		if tc.change != nil {
			tc.change(j)
		}
		p, err := j.sources().Read(inferior.NewReader(context.Background(), readable), tc.choice, Filter{})
		if j.openedDLLs != tc.dlls || j.openedNatives != 1 {
			t.Errorf("%s: %d DLLs were opened, and decoders have opened the process %d times", tc.name, j.openedDLLs, j.openedNatives)
		}
		if tc.fails != "" || err != nil {
			var u *UnreadableError
			if err == nil || err.Error() != tc.fails {
				t.Errorf("%s: %v", tc.name, err)
			} else if errors.As(err, &u) && u.MPI == "" && errors.Is(j.nativeErr, unreadable) {
				t.Errorf("%s: the error does not say which MPI it is", tc.name)
			}
			continue
		}
		if p.Source != tc.source || tags(p) != tc.tags || !strings.Contains(strings.Join(p.Notes, "\n"), tc.notes) {
			t.Errorf("%s: read by %q: %q, notes %q", tc.name, p.Source, tags(p), p.Notes)
		}
		if path := p.DLL; (path != "") != (tc.source == "dll" || tc.source == "both") || (path != "") != (p.DLLVersion != "") {
			t.Errorf("%s: read by %q, DLL %q, %q", tc.name, p.Source, path, p.DLLVersion)
		}
		if p.Source != string(Both) && p.Differences != nil {
			t.Errorf("%s: differences %v", tc.name, p.Differences)
		}
		if j.openedDLLs > 0 && j.sawNative != (j.nativeErr == nil) {
			t.Errorf("%s: the DLL was opened with the decoder's help: %v", tc.name, j.sawNative)
		}
		if p.MPI != "Fake MPI" && j.nativeErr != ErrNotThis && tc.choice != DLL {
			t.Errorf("%s: MPI %q", tc.name, p.MPI)
		}
	}
}

func TestBothTellsTheDifferences(t *testing.T) {
	j := &job{}
	j.native, j.dll = twoViews()
	read := func(f Filter) *mqs.Process {
		t.Helper()
		p, err := j.sources().Read(inferior.NewReader(context.Background(), readable), Both, f)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const tag = ofReceives + "1|desired_tag|2|9"
	p := read(Filter{})
	expectDifferences(t, "all", p.Differences, tag)
	if p.DLL != "/lib/libfake_dbg.so" || p.DLLVersion != "DLL 1" || p.MPIVersion != "1.0" || p.Communicators[0].Queue[mqs.PendingReceives].Total != 2 {
		t.Errorf("%+v", p)
	}
	p = read(Filter{Internal: true})
	expectDifferences(t, "internal", p.Differences, ofReceives+"2|desired_tag|2|9", "own (0x9)|||communicator|shown|")
	if tags(p) != "world: 3 1 2 own:" {
		t.Errorf("internal: %s", tags(p))
	}
	p = read(Filter{Internal: true, Limit: 1})
	expectDifferences(t, "limit", p.Differences, ofReceives+"2|desired_tag|2|9")
	if q := p.Communicators[0].Queue[mqs.PendingReceives]; len(q.Operations) != 1 || q.Total != 3 || !strings.Contains(strings.Join(p.Notes, "\n"), "1 more difference") {
		t.Errorf("limit: %d of %d, %q", len(q.Operations), q.Total, p.Notes)
	}
	expectDifferences(t, "another queue", read(Filter{Queue: mqs.Known(mqs.PendingSends)}).Differences)
	expectDifferences(t, "one communicator", read(Filter{Comm: "world"}).Differences, tag)

	// What is not in the filter's communicator may not be taken for it.
	j.native.Process.Communicators = append(j.native.Process.Communicators, &mqs.Queues{Communicator: mqs.Communicator{UniqueID: 4, Name: mqs.Known("world")}})
	p = read(Filter{Comm: "0x4"})
	expectDifferences(t, "one that the DLL lacks", p.Differences, "world (0x4)|||communicator|shown|")
	if len(p.Communicators) != 1 {
		t.Errorf("one that the DLL lacks: %s", tags(p))
	}
	j.dll.Process.Communicators = append(j.dll.Process.Communicators, &mqs.Queues{Communicator: mqs.Communicator{UniqueID: 5, Name: mqs.Known("old")}})
	p = read(Filter{Comm: "old"})
	expectDifferences(t, "one that only the DLL has", p.Differences, "old (0x5)|||communicator||shown")
	if len(p.Communicators) != 0 {
		t.Errorf("one that only the DLL has: %s", tags(p))
	}
}

// A name that nobody knows is said to be one, whoever has read the process.
func TestNoSuchCommunicatorFromAnySource(t *testing.T) {
	for name, tc := range map[string]struct {
		choice Choice
		change func(j *job)
	}{
		"auto":                {Auto, func(*job) {}},
		"auto, by the DLL":    {Auto, func(j *job) { j.nativeErr = Unreadable("", "no") }},
		"dll":                 {DLL, func(*job) {}},
		"both":                {Both, func(*job) {}},
		"both without native": {Both, func(j *job) { j.nativeErr = Unreadable("", "no") }},
		"both without DLL":    {Both, func(j *job) { j.dllErr = Unreadable("", "no") }},
	} {
		j := &job{}
		j.native, j.dll = twoViews()
		tc.change(j)
		_, err := j.sources().Read(inferior.NewReader(context.Background(), readable), tc.choice, Filter{Comm: "wrld"})
		var no *NoSuchCommunicatorError
		if !errors.As(err, &no) || !strings.HasSuffix(err.Error(), `there are "world" (0x3)`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSourcesWithoutDLLs(t *testing.T) {
	ss := Sources{Decoders: []Decoder{fakeDecoder{err: Unreadable("Fake MPI", "its layouts are not known")}}}
	for choice, want := range map[Choice]string{
		Auto: "its layouts are not known",
		DLL:  "no queue DLL was found",
		Both: "its layouts are not known.\nNor can the vendor's DLL: no queue DLL was found",
	} {
		_, err := ss.Read(inferior.NewReader(context.Background(), readable), choice, Filter{})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", choice, err)
		}
	}
}

// TestWhyNoLayoutFits checks that the reasons of all layouts are logged, once for each reading, and that the error has the
// nearest one's alone.
func TestWhyNoLayoutFits(t *testing.T) {
	var logged []error
	log := func(why error) { logged = append(logged, why) }
	noFit := &inferior.NoFitError{Nearest: errors.New("the nearest"), Why: errors.New("the nearest\nall others")}
	for _, c := range []struct {
		err  error
		want string
		logs int
	}{
		{Unreadable("Fake MPI", "no layout fits: %w", noFit), "no layout fits: the nearest", 1},
		{Unreadable("Fake MPI", "it is inside MPI_Init"), "it is inside MPI_Init", 0},
	} {
		logged = nil
		_, err := Sources{Decoders: []Decoder{fakeDecoder{err: c.err}}, Log: log}.Read(inferior.NewReader(t.Context(), readable), Native, Filter{})
		if err == nil || err.Error() != c.want || len(logged) != c.logs || c.logs > 0 && logged[0] != noFit.Why {
			t.Errorf("%v, logged %q", err, logged)
		}
	}
}

// Who cancels is not told that a DLL can't read the process.
func TestCancelledWhileADLLReads(t *testing.T) {
	for _, choice := range []Choice{Auto, DLL, Both} {
		ctx, cancel := context.WithCancel(context.Background())
		j := &job{nativeErr: Unreadable("", "no")}
		ss := j.sources()
		ss.OpenDLL = func(r *inferior.Reader, _ Source) (Source, error) {
			cancel()
			return nil, r.Err()
		}
		if _, err := ss.Read(inferior.NewReader(ctx, readable), choice, Filter{}); err != context.Canceled {
			t.Errorf("%s: %v", choice, err)
		}
	}
}

func TestDescribeSaysWhoWouldRead(t *testing.T) {
	no := Unreadable("Fake MPI", "its layouts are not known")
	crash := Unreadable("", "it crashed")
	for _, tc := range []struct {
		name        string
		choice      Choice
		native, dll error
		source      string
		unavailable string
		notes       string
	}{
		{"auto", Auto, nil, crash, "native", "", ""},
		{"auto falls back", Auto, no, nil, "dll", "", ""},
		{"auto, neither", Auto, no, crash, "", "its layouts are not known.\nNor can the vendor's DLL: it crashed", ""},
		{"auto, no DLL", Auto, no, ErrNoDLL, "", "its layouts are not known", ""},
		{"nothing for anybody", Both, Nothing("Fake MPI", mqs.Starting, "not yet"), crash, "", "not yet", ""},
		{"native", Native, no, nil, "", "its layouts are not known", ""},
		{"dll", DLL, nil, nil, "dll", "", "the DLL has a remark"},
		{"dll, not there", DLL, nil, ErrNoDLL, "native", "no queue DLL was found", ""},
		{"both", Both, nil, nil, "both", "", "the DLL has a remark"},
		{"both, no DLL", Both, nil, crash, "native", "", "it crashed"},
		{"both, native can't", Both, no, nil, "dll", "", ""},
	} {
		j := &job{nativeErr: tc.native, dllErr: tc.dll}
		j.native, j.dll = twoViews()
		p, err := j.sources().Describe(inferior.NewReader(context.Background(), readable), tc.choice)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if p.Source != tc.source || p.Unavailable != tc.unavailable || !strings.Contains(strings.Join(p.Notes, "\n"), tc.notes) || p.MPI != "Fake MPI" {
			t.Errorf("%s: %+v", tc.name, p)
		}
	}
}

// What is known of a process without its queues is shown where no DLL reads these, and never in a DLL's place.
func TestRest(t *testing.T) {
	rest := &viewSource{Process: &mqs.Process{}}
	why := &UnreadableError{MPI: "Fake MPI", Reason: "it has no types", Rest: rest}
	none := func(*inferior.Reader, Source) (Source, error) { return nil, Unreadable("", "%w", ErrNoDLL) }
	fails := func(*inferior.Reader, Source) (Source, error) { return nil, Unreadable("", "it is broken") }
	reads := func(*inferior.Reader, Source) (Source, error) {
		return &viewSource{Process: &mqs.Process{}, dll: "/lib/fake.so"}, nil
	}
	for _, c := range []struct {
		choice  Choice
		dll     func(*inferior.Reader, Source) (Source, error)
		source  string
		mention string
	}{
		{Auto, none, "native", "it has no types"}, {Auto, fails, "native", "it is broken"}, {Auto, reads, "dll", "it has no types"},
		{Native, reads, "native", "it has no types"}, {DLL, reads, "dll", ""}, {Both, none, "native", "it has no types"},
		{Both, fails, "native", "it is broken"}, {Both, reads, "dll", "it has no types"},
	} {
		ss := Sources{Decoders: []Decoder{fakeDecoder{err: why}}, OpenDLL: c.dll}
		p, err := ss.Read(inferior.NewReader(context.Background(), readable), c.choice, Filter{})
		if err != nil || p.Source != c.source || !strings.Contains(strings.Join(p.Notes, "\n"), c.mention) {
			t.Errorf("%s: %+v, %v", c.choice, p, err)
		}
		if p, err = ss.Describe(inferior.NewReader(context.Background(), readable), c.choice); err != nil || p.Source != c.source || p.Unavailable != "" {
			t.Errorf("%s: it is described as %+v, %v", c.choice, p, err)
		}
	}
	ss := Sources{Decoders: []Decoder{fakeDecoder{err: why}}, OpenDLL: fails}
	if p, err := ss.Read(inferior.NewReader(context.Background(), readable), DLL, Filter{}); err == nil {
		t.Errorf("what a DLL could not read is %+v", p)
	}
}
