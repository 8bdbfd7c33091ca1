package read

import (
	"errors"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// askedDecoder is one that notes that it was asked.
type askedDecoder struct {
	fakeDecoder
	name  string
	asked *string
}

func (d askedDecoder) Name() string { return d.name }

func (d askedDecoder) Open(r *inferior.Reader, symbols map[string]inferior.Symbol) (Source, error) {
	*d.asked += d.name
	return d.fakeDecoder.Open(r, symbols)
}

// The first decoder whose MPI it is decides, whether it can read the process or not.
func TestOpen(t *testing.T) {
	own := &viewSource{}
	broken := Unreadable("B", "its layouts are not known")
	for name, c := range map[string]struct {
		a, b  fakeDecoder
		want  Source
		fails string
		asked string
	}{
		"the first":             {fakeDecoder{source: own}, fakeDecoder{}, own, "", "A"},
		"the second":            {fakeDecoder{err: ErrNotThis}, fakeDecoder{source: own}, own, "", "AB"},
		"the first, unreadable": {fakeDecoder{err: broken}, fakeDecoder{source: own}, nil, "its layouts are not known", "A"},
		"none":                  {fakeDecoder{err: ErrNotThis}, fakeDecoder{err: ErrNotThis}, nil, "/bin/prog does not use an MPI library that mpi-queues can read (A, B): none of its symbols is in the program or its 0 shared libraries", "AB"},
	} {
		asked := ""
		s, err := Open(inferior.NewReader(t.Context(), readable), []Decoder{askedDecoder{c.a, "A", &asked}, askedDecoder{c.b, "B", &asked}})
		if asked != c.asked || c.want != nil && (s != c.want || err != nil) {
			t.Errorf("%s: %v, %v, asked %s", name, s, err, asked)
		}
		var u *UnreadableError
		if c.fails != "" && (!errors.As(err, &u) || !strings.HasPrefix(err.Error(), c.fails)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A process that can't be is not read.
func TestOpenChecksTheProcess(t *testing.T) {
	asked := ""
	p := &inferiortest.Process{Identity: inferior.Info{PointerSize: 2}}
	if _, err := Open(inferior.NewReader(t.Context(), p), []Decoder{askedDecoder{fakeDecoder{}, "A", &asked}}); err == nil || asked != "" ||
		err.Error() != "pointers of 2 bytes can't be read" {
		t.Errorf("%v, asked %q", err, asked)
	}
}

// A file's name is safe to show, whatever it is.
func TestFileName(t *testing.T) {
	for object, want := range map[string]string{"": "the MPI library", "/opt/lib/libmpi.so.12": "libmpi.so.12"} {
		if got := FileName(inferior.Symbol{Object: object}); got != want {
			t.Errorf("%q is called %q", object, got)
		}
	}
	if got := FileName(inferior.Symbol{Object: "/tmp/lib\x1b[31m.so"}); strings.Contains(got, "\x1b") {
		t.Errorf("a terminal obeys %q", got)
	}
}
