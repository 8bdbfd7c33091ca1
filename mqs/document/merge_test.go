package document

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
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

// unmerged reads a merged document that is packed to its length.
func unmerged(t testing.TB, text []byte) (*mqs.Snapshot, error) {
	t.Helper()
	account := new(Budget).Account(t.Context())
	account.Add(int64(len(text)))
	s, _, err := new(Parser).ReadMerged(bytes.NewReader(text), account, nil)
	return s, err
}

// What is merged is read back, and no field is lost.
func TestReadMerged(t *testing.T) {
	for name, want := range map[string]*mqs.Snapshot{"all": sampleSnapshot(), "little": sparse(), "nobody": {}} {
		want.Processes = append(want.Processes, want.Processes...)
		got, err := unmerged(t, merged(t, want))
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
		got, seen, err := parser.ReadMerged(bytes.NewReader(merged(t, &s)), new(Budget).Account(t.Context()), before)
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
		"another format":             {"x" + whole[1:], errNotMerged},
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
			if _, err := unmerged(t, []byte(c.text)); err != c.want {
				t.Errorf("%s: %v, not %v", name, err, c.want)
			}
		})
	}
	for n := range len(whole) { // wherever it ends
		if s, err := unmerged(t, []byte(whole[:n])); err == nil && len(s.Processes) > 0 {
			t.Fatalf("the first %d bytes of %d are %d processes", n, len(whole), len(s.Processes))
		}
	}
}

// TestMergedBombs checks that a few kilobytes that unpack to many megabytes are not made to more memory than a small job takes,
// whatever they are full of.
func TestMergedBombs(t *testing.T) {
	cost.Large(t)
	class := func(p mqs.Process) (entry string, numbers int) {
		m := &merger{texts: map[string]uint64{}, classes: map[string]*class{}}
		m.mergeProcess(&p)
		m.own = make([]uint64, len(m.own))
		m.class()
		return string(m.out), len(m.own)
	}
	again := func(begin, then string) string { return mergedFormat + begin + strings.Repeat(then, 16<<20/len(then)) }
	text := func(s string) string {
		return string(append(binary.AppendUvarint([]byte{textEntry}, uint64(len(s))), s...))
	}
	threads, own := class(mqs.Process{Threads: make([]mqs.Thread, 20_000)})
	empty, ownEmpty := class(mqs.Process{})
	world := []mqs.Maybe[int32]{mqs.Known[int32](4711)}
	group, ownGroup := class(mqs.Process{Communicators: []*mqs.Queues{{Communicator: mqs.Communicator{Group: world}}}})
	for name, bomb := range map[string]string{
		"large processes": again(threads, string([]byte{firstClass})+strings.Repeat("\x00", own)),
		"small processes": again(empty, string([]byte{firstClass})+strings.Repeat("\x00", ownEmpty)),
		"empty texts":     again("", text("")),
		"long texts":      again("", text(strings.Repeat("x", maxString-1))),
		"empty classes":   again("", "\x01\x00\x00\x00"),
		"long classes":    again("", "\x01\x00\x00"+string(binary.AppendUvarint(nil, 1<<20))+strings.Repeat("\x00", 1<<20)),
		"a long group":    again(strings.Replace(group, text("4711"), text("0-2147483647"), 1), string([]byte{firstClass})+strings.Repeat("\x00", ownGroup)),
	} {
		packed := packedSize(t, bomb)
		cost.AtMost(t, cost.Most, func() {
			account := new(Budget).Account(t.Context())
			account.Add(packed)
			_, _, err := new(Parser).ReadMerged(strings.NewReader(bomb), account, nil)
			if err != nil && err != errTooMuch {
				t.Errorf("%s: %d bytes, packed to %d, end in %v", name, len(bomb), packed, err)
			}
		})
	}
}

// packedSize is how many bytes a text is packed to.
func packedSize(t testing.TB, text string) int64 {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return int64(b.Len())
}

// TestBudget checks that documents share what they take beyond their warrant, that none can use up another's warrant, and that
// nothing is read when the time is over.
func TestBudget(t *testing.T) {
	var b Budget
	b.Hold(sharedMemory - 1000)
	first, second := b.Account(t.Context()), b.Account(t.Context())
	first.Add(10)
	second.Add(10)
	if err := first.Spend(10*warrant + 1000); err != nil || b.Left() != 0 {
		t.Errorf("%v, %d bytes are left", err, b.Left())
	}
	if err := second.Spend(10 * warrant); err != nil {
		t.Error(err)
	}
	if err := second.Spend(1); err != errTooMuchInAll {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	text := strings.NewReader(string(merged(t, sampleSnapshot())))
	if _, _, err := new(Parser).ReadMerged(text, b.Account(ctx), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func FuzzMerged(f *testing.F) {
	f.Add(merged(f, sampleSnapshot()))
	f.Add(merged(f, sparse()))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if len(doc) > 8<<10 {
			t.Skip("no kilobyte")
		}
		cost.AtMost(t, 2*cost.Most, func() {
			s, err := unmerged(t, doc)
			if err != nil {
				return
			}
			again, err := unmerged(t, merged(t, s))
			if err != nil || !bytes.Equal(document(t, again), document(t, s)) {
				t.Errorf("what was read can't be read back: %v", err)
			}
		})
	})
}
