package document

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A large document is parsed in pieces, wherever these end, and is the same as if
// it were parsed at once.
func TestParserPieces(t *testing.T) {
	valid := func() *mqs.Snapshot { // what is not UTF-8 would not come back
		s := sparse()
		s.Processes[0].Communicators[0].Name.Value = "a \"name\" ]}"
		return s
	}
	var s mqs.Snapshot
	for range 1000 {
		s.Processes = append(s.Processes, valid().Processes...)
	}
	for i, p := range s.Processes {
		p.PID = i
	}
	text := document(t, &s)
	if len(text) < 3*chunkSize {
		t.Fatalf("%d bytes are too few", len(text))
	}
	got, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(document(t, got), text) {
		t.Error("a large document is not read back")
	}
	if a, b := got.Processes[0].Communicators[0], got.Processes[len(valid().Processes)].Communicators[0]; &a.Group[0] != &b.Group[0] {
		t.Error("equal groups are kept twice")
	}
	small := document(t, valid())
	for _, r := range []io.Reader{iotest.OneByteReader(bytes.NewReader(small)), iotest.DataErrReader(bytes.NewReader(small))} {
		got, err := new(Parser).Read(r)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(document(t, got), document(t, valid())) {
			t.Error("a document is not read back in pieces")
		}
	}
}

func TestParserTolerance(t *testing.T) {
	for text, want := range map[string]int{
		`{"processes":[],"schema":1}`:                        0,
		"\n {\"schema\" : 1, \"processes\" : [ { } ,\n{}]} ": 2,
		`{"later": {"processes": [{"pid": "x"}]}, "names": ["processes", "]}"], "schema": 1, "processes": [{"later": [{}, "}\"{"], "pid": 5}]}`:                1,
		`{"schema":1,"processes":[{"communicators":[{"unique_id":"0x1","pending_sends":[{}],"unavailable":{},"totals":{}}],"threads":[{"call":"MPI_Recv"}]}]}`: 1,
	} {
		s, err := Parse([]byte(text))
		if err != nil || len(s.Processes) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A thread in a call is where it is, also in a document that does not say so; a word
// that nobody knows says nothing.
func TestParserThreads(t *testing.T) {
	s, err := Parse([]byte(`{"schema":1,"processes":[{"state":"dancing","threads":[{"call":"MPI_Recv"},{"function":"main"},{"placed":true,"activity":"dances"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	p := s.Processes[0]
	if got := p.Threads; !got[0].Placed || got[1].Placed || !got[2].Placed || got[2].Activity != "" || p.State != "" {
		t.Errorf("read as %+v, state %q", got, p.State)
	}
}

// Names and words may be written with escapes, null is as nothing, and of a key that is there twice the
// second one counts.
func TestParserOddities(t *testing.T) {
	s, err := Parse([]byte(`{"schema":1,"processes":[{"\u0070id":7,"x\"y":{"pid":8},"state":"\u0072unning","image":"a\u00e9\ud800","notes":null,"threads":[{"number":1},null],
		"phase":"active","phase":null,"windows":[{}],"windows":[],"communicators":[{"pending_sends":null,"totals":{"pending_sends":null,"x":"y"},"unavailable":{"x":3}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	p := s.Processes[0]
	if p.PID != 7 || p.State != mqs.Running || p.Image != "a\u00e9\uFFFD" || p.Notes != nil || len(p.Threads) != 2 || p.Phase != "" || p.Windows == nil || len(p.Windows) > 0 {
		t.Errorf("read as %+v", p)
	}
	if q := p.Communicators[0].Queue; !q[mqs.PendingSends].Incomplete || q[mqs.PendingSends].Operations == nil || q[mqs.PendingReceives].Incomplete {
		t.Errorf("queues are read as %+v", q)
	}
}

func TestParserErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                                 "unexpected end",
		`[]`:                               "not a snapshot of mpi-queues",
		`{}`:                               "schema 0",
		`{"schema": 2}`:                    "schema 2",
		`{"schema":1,"processes":{}`:       "/processes can't be an object",
		`{"schema":1,"processes":[{}`:      "unexpected end",
		`{"schema":1,"processes":[{} {}]}`: "invalid character '{'",
		`{"schema":1,"processes":[{},]}`:   "invalid character ','",
		`{"schema":1,"processes":[5]}`:     "number",
		`{"schema":1,"processes":[null]}`:  "null",
		`{"schema":1,"processes":[{}]} {}`: "after top-level value",
		`{"schema":1,"processes":[{}],"processes":[{}]}`:                                  "null",
		"{\"schema\":1,\n\"processes\":[{},\n\n{\"pid\":\n[}]}]}":                         "line 5: invalid character '}'",
		"{\"schema\":1,\"processes\":[\n{},\n{\"pid\": \"1\"}]}":                          "line 3: /pid can't be a string",
		`{"schema":1,"processes":[{"pid": 1}, {"image": "a`:                               "unexpected end",
		`{"schema":1,"processes":[{"communicators":[{"group":["x"]}]}]}`:                  "/0 can't be a string",
		`{"schema":1,"processes":[{"pid":1e3}]}`:                                          "/pid: invalid syntax",
		`{"schema":1,"processes":[{"global_rank":4294967296}]}`:                           "/global_rank: value out of range",
		`{"schema":1,"processes":[{"progress":-1}]}`:                                      "/progress: invalid syntax",
		`{"schema":1,"processes":[{"thread_multiple":3}]}`:                                "/thread_multiple can't be a number",
		`{"schema":1,"processes":[{"image":{}}]}`:                                         "/image can't be an object",
		`{"schema":1,"processes":[{"notes":[1]}]}`:                                        "/notes/0 can't be a number",
		`{"schema":1,"processes":[{"threads":{}}]}`:                                       "/threads can't be an object",
		`{"schema":1,"processes":[{"threads":[7]}]}`:                                      "/threads/0 can't be a number",
		`{"schema":1,"processes":[{"threads":[{"communicator":"z"}]}]}`:                   `/threads/0/communicator: address "z"`,
		`{"schema":1,"processes":[{"communicators":[{"traffic":[[1]]}]}]}`:                "/communicators/0/traffic/0: it has 1 elements, not 3",
		`{"schema":1,"processes":[{"communicators":[{"traffic":[[1,2,3,4]]}]}]}`:          "/communicators/0/traffic/0: it has 4 elements, not 3",
		`{"schema":1,"processes":[{"communicators":[{"totals":{"pending_sends":"x"}}]}]}`: "/communicators/0/totals/pending_sends can't be a string",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", text, err, want)
		}
	}
	if _, err := new(Parser).Read(iotest.ErrReader(fmt.Errorf("the disk is gone"))); err == nil || err.Error() != "the disk is gone" {
		t.Errorf("a reader's error is %v", err)
	}
}
