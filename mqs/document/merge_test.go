package document

import (
	"bytes"
	"encoding/binary"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
)

func merged(t testing.TB, s *mqs.Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteMerged(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What is merged is read back, and no field is lost.
func TestReadMerged(t *testing.T) {
	for name, want := range map[string]*mqs.Snapshot{"all": sampleSnapshot(), "little": sparse(), "nobody": {}} {
		want.Processes = append(want.Processes, want.Processes...)
		got, _, err := new(Parser).ReadMerged(bytes.NewReader(merged(t, want)), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		// A document in JSON has less: it does not tell nil from an empty list everywhere.
		plain, err := Parse(document(t, want))
		if err != nil {
			t.Fatal(name, err)
		}
		if !bytes.Equal(document(t, got), document(t, plain)) || name == "all" && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: read back as\n%s\nwant\n%s", name, document(t, got), document(t, want))
		}
	}
}

// What a document has as an earlier one had it is the same in memory; what differs, or was forgotten, is read anew.
func TestReadAgain(t *testing.T) {
	var s mqs.Snapshot
	for i := range 4 {
		s.Processes = append(s.Processes, &mqs.Process{PID: i + 1, MPI: "Open MPI"})
	}
	s.Processes[3].Notes = []string{"one"}
	var parser Parser
	read := func(before *Seen) ([]*mqs.Process, *Seen) {
		got, seen, err := parser.ReadMerged(bytes.NewReader(merged(t, &s)), before)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(document(t, got), document(t, &s)) {
			t.Error("it is not read back")
		}
		return got.Processes, seen
	}
	a, seen := read(nil)
	s.Processes[0], s.Processes[2] = s.Processes[2], &mqs.Process{PID: 1, MPI: "Open MPI", Phase: mqs.Finished}
	s.Processes[3] = &mqs.Process{PID: 4, MPI: "Open MPI", Notes: []string{"another"}}
	seen.Drop(func(p *mqs.Process) bool { return p.PID == 2 })
	b, seen := read(seen)
	c, _ := read(seen)
	if b[0] != a[2] || b[1] == a[1] || b[2] == a[0] || b[3] == a[3] {
		t.Error("not the process that was there, or one that was forgotten or differs")
	}
	if !slices.Equal(b, c) {
		t.Error("what was there is read again")
	}
}

// Ranks that differ in numbers only are one class, which is there once.
func TestClasses(t *testing.T) {
	var s mqs.Snapshot
	for i := range 1000 {
		p := *sampleSnapshot().Processes[0]
		p.PID, p.GlobalRank = 5000+i, mqs.Known(int32(i))
		s.Processes = append(s.Processes, &p)
	}
	one := len(merged(t, &mqs.Snapshot{Processes: s.Processes[:1]}))
	if all := len(merged(t, &s)); all > 300*one {
		t.Errorf("one takes %d bytes, a thousand %d", one, all)
	}
}

// Whatever a document says, it costs as much as its length warrants, and ends as an error or as processes.
func TestBrokenMerged(t *testing.T) {
	entry := func(numbers ...uint64) string {
		var b []byte
		for _, n := range numbers {
			b = binary.AppendUvarint(b, n)
		}
		return string(b)
	}
	whole := string(merged(t, sampleSnapshot()))
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"nothing":                    {"", errNotMerged},
		"another format":             {"0" + whole[1:], errNotMerged},
		"no process":                 {mergedFormat, nil},
		"a class that is not there":  {mergedFormat + entry(2), errNotMerged},
		"an empty class":             {mergedFormat + entry(classEntry, 0, 0, 0, 2), errNotMerged},
		"a text that is not there":   {mergedFormat + entry(classEntry, 0, 1, 0), errNotMerged},
		"a text that is cut":         {mergedFormat + entry(textEntry, 5) + "abc", io.ErrUnexpectedEOF},
		"a long text":                {mergedFormat + entry(textEntry, maxString+1), errTooMuch},
		"a class of many numbers":    {mergedFormat + entry(classEntry, 1<<50, 0, 0), errTooMuch},
		"a class of far too many":    {mergedFormat + entry(classEntry, 1<<61, 1<<61, 0), errTooMuch},
		"a class of endless numbers": {mergedFormat + entry(classEntry, 1<<20) + entry(0, 0), nil},
	} {
		cost.AtMost(t, cost.Most, func() {
			if _, _, err := new(Parser).ReadMerged(strings.NewReader(c.text), nil); err != c.want {
				t.Errorf("%s: %v, not %v", name, err, c.want)
			}
		})
	}
	for n := range len(whole) { // wherever it ends
		if s, _, err := new(Parser).ReadMerged(strings.NewReader(whole[:n]), nil); err == nil && len(s.Processes) > 0 {
			t.Fatalf("the first %d bytes of %d are %d processes", n, len(whole), len(s.Processes))
		}
	}
	// A class of which each process is large, many times.
	m := &merger{texts: map[string]uint64{}, classes: map[string]*class{}}
	m.mergeProcess(&mqs.Process{Threads: make([]mqs.Thread, 20_000)})
	m.own = make([]uint64, len(m.own))
	m.class()
	bomb := mergedFormat + string(m.out) + strings.Repeat(entry(firstClass)+strings.Repeat("\x00", len(m.own)), 50)
	cost.AtMost(t, 1<<30, func() {
		if _, _, err := new(Parser).ReadMerged(strings.NewReader(bomb), nil); err != errTooMuch {
			t.Errorf("%d bytes: %v", len(bomb), err)
		}
	})
}

func FuzzMerged(f *testing.F) {
	f.Add(merged(f, sampleSnapshot()))
	f.Add(merged(f, sparse()))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if len(doc) > 8<<10 {
			t.Skip("no kilobyte")
		}
		cost.AtMost(t, 2*cost.Most, func() {
			s, _, err := new(Parser).ReadMerged(bytes.NewReader(doc), nil)
			if err != nil {
				return
			}
			again, _, err := new(Parser).ReadMerged(bytes.NewReader(merged(t, s)), nil)
			if err != nil || !bytes.Equal(document(t, again), document(t, s)) {
				t.Errorf("what was read can't be read back: %v", err)
			}
		})
	})
}
