package render

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// TestHarmless holds every way of showing to the rule that what a process calls
// its things does not reach a terminal as it is.
func TestHarmless(t *testing.T) {
	const name = "a\x1b[31m\u009b2J\x7f\u202eb\u2066\u200b\ufeff\n\xffc"
	op := mqs.PendingOperation{Status: name, Kind: name, Datatype: mqs.Known(name), ExtraText: []string{name}}
	process := &mqs.Process{PID: 1, Image: name, MPI: name, MPIVersion: name, Library: name, Source: "both", DLL: name, DLLVersion: name, Layout: "table", LayoutName: name,
		Notes: []string{name}, Threads: []mqs.Thread{{Number: 1, Call: name, Function: name, File: name, Line: 1}},
		Differences: []mqs.Difference{{Communicator: name, Queue: "pending_sends", Field: name, Native: name, DLL: name}},
		Communicators: []*mqs.Queues{{Communicator: mqs.Communicator{Name: mqs.Known(name), Context: name},
			Queue: [3]*mqs.Queue{{Operations: []mqs.PendingOperation{op}, Total: 1}, {Unavailable: name}, {}}}}}
	s := &mqs.Snapshot{Processes: []*mqs.Process{process, {PID: 2, Unavailable: name}}}
	r := &waitfor.Report{Verdict: "deadlock", Why: name, Notes: []string{name}, NearMisses: []waitfor.NearMiss{{Kind: "tag", Text: name}},
		Missing:   []waitfor.Missing{{Rank: 1, Why: name}},
		Deadlocks: []waitfor.Deadlock{{Ranks: []int32{0}, Cycle: []waitfor.Wait{{Operation: name, Call: name, Function: name, File: name, Line: 1}}}},
		Groups:    []waitfor.Group{{Ranks: []int32{0}, State: "running", Call: name, Communicator: name, Function: name, File: name, Text: name}}}
	for way, show := range map[string]func(io.Writer) error{
		"text":           func(w io.Writer) error { return Text(w, s, Style{}) },
		"json":           func(w io.Writer) error { return document.Write(w, s) },
		"report":         func(w io.Writer) error { return ReportText(w, r, Style{}) },
		"report in json": func(w io.Writer) error { return document.WriteReport(w, r) },
		"dot":            func(w io.Writer) error { return ReportDOT(w, r) },
		"svg":            func(w io.Writer) error { return ReportSVG(w, r) },
		"html":           func(w io.Writer) error { return ReportHTML(w, r) },
	} {
		var b bytes.Buffer
		if err := show(&b); err != nil {
			t.Errorf("%s: %v", way, err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if printable.Text(line) != line {
				t.Errorf("%s: %q", way, line)
			}
		}
		if strings.Contains(way, "json") {
			var parsed any
			if err := json.Unmarshal(b.Bytes(), &parsed); err != nil {
				t.Errorf("%s: %v", way, err)
			}
		}
	}
	// JSON says what the name is, escaped.
	var b bytes.Buffer
	if err := document.Write(&b, s); err != nil {
		t.Fatal(err)
	}
	back, err := document.Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := back.Processes[0].Communicators[0].Name.Value, strings.ToValidUTF8(name, "\uFFFD"); got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
