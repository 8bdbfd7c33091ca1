package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

var update = flag.Bool("update", false, "write what the tests expect anew")

// evil is a name that means harm wherever it is written.
const evil = "</script><script>alert(1)</script>\"'&\x1b[31m\n\xff\u202e<b>\\"

// reports are what can be reported, hostile names included.
func reports() map[string]*waitfor.Report {
	receive, send := mqs.Known(mqs.PendingReceives), mqs.Known(mqs.PendingSends)
	small := &waitfor.Report{Verdict: waitfor.Deadlocked, Why: "Ranks 0 and 1 can be released by each other only", WorldSize: mqs.Known[int32](8),
		Deadlocks: []waitfor.Deadlock{{Ranks: []int32{0, 1}, Cycle: []waitfor.Wait{
			{Rank: 0, For: 1, Class: receive, Operation: `receive from rank 1, tag 7, on "halo exchange"`, Call: "MPI_Recv", Function: "main", File: "/src/ring.c", Line: 42},
			{Rank: 1, For: 0, Class: send, Operation: `send to rank 0, tag 8, on "halo exchange"`, Call: "MPI_Send", Function: "main"}}}},
		Groups: []waitfor.Group{
			{Ranks: []int32{0}, State: waitfor.InDeadlock, Call: "MPI_Recv", Communicator: "halo exchange", Function: "main", File: "/src/ring.c", Line: 42, Text: `MPI_Recv on "halo exchange" at ring.c:42`},
			{Ranks: []int32{1}, State: waitfor.InDeadlock, Call: "MPI_Send", Communicator: "halo exchange", Function: "main", Text: `MPI_Send on "halo exchange" in main`},
			{Ranks: []int32{2, 3, 4, 6}, State: waitfor.Stuck, Call: "MPI_Barrier", Communicator: "MPI_COMM_WORLD", Function: "main", File: "solver.c", Line: 88, Text: "MPI_Barrier on MPI_COMM_WORLD at solver.c:88"},
			{Ranks: []int32{5}, State: waitfor.Running, Function: evil, File: evil, Line: 9, Text: evil + " at " + evil},
			{Ranks: []int32{7}, State: waitfor.Unreadable, Text: "somewhere"}},
		Edges: []waitfor.Edge{{From: 0, To: 1, Class: receive, Count: 1, InCycle: true, Text: `tag 7 on "halo exchange"`},
			{From: 1, To: 0, Class: send, Count: 1, InCycle: true, Text: evil}, {From: 2, To: 0, Count: 4, Text: "MPI_Barrier"}, {From: 2, To: 1, Count: 4, Text: "MPI_Barrier"}},
		NearMisses: []waitfor.NearMiss{{Kind: waitfor.OtherTag, Text: "Rank 0 receives tag 7, rank 1 sends tag 8", Ranks: []int32{0, 1}}, {Kind: waitfor.NeverReceived, Text: evil, Ranks: []int32{5}}},
		Missing:    []waitfor.Missing{{Rank: 7, Why: "it is on host " + evil}},
		Notes:      []string{"A note."}}
	return map[string]*waitfor.Report{"small": small, "ring": ring(100), "crowd": crowd(500), "pairs": pairs(100), "transit": transit(), "threads": threads(), "nothing": {Verdict: waitfor.Unknown, Why: "Nothing is known."}}
}

// threads is the report on a job of two ranks: the threads of one are at several places, and those of the other are unknown.
func threads() *waitfor.Report {
	inCall := mqs.Thread{Number: 1, Placed: true, Call: "MPI_Barrier", Function: "main", File: "/src/ring.py", Line: 7,
		Callers: []mqs.Caller{{Function: "exchange", Object: "/lib/libhalo.so.1"}, {Function: "main", File: "/src/ring.py", Line: 7}}}
	locked := mqs.Thread{Number: 2, Placed: true, Activity: mqs.Locks, BlockedIn: mqs.TakeGIL, Holder: mqs.Known(1), Function: "log", File: "log.py", Line: 3}
	sleeps := mqs.Thread{Number: 5, Placed: true, Activity: mqs.Sleeps, Function: "poll", Object: "/lib/libtimer.so"}
	var s mqs.Snapshot
	for rank, of := range [][]mqs.Thread{{inCall, locked, sleeps}, nil} {
		s.Processes = append(s.Processes, &mqs.Process{PID: 100 + rank, GlobalRank: mqs.Known(int32(rank)), WorldSize: mqs.Known[int32](2),
			Phase: mqs.Active, ThreadMultiple: mqs.Known(true), Threads: of})
	}
	return waitfor.Analyse(&s)
}

// transit is a deadlock that a message in transit may end, beside a rank of which too little is known.
func transit() *waitfor.Report {
	r := ring(14)
	r.Verdict = waitfor.DeadlockedUnless
	r.Groups = append(r.Groups, waitfor.Group{Ranks: []int32{14}, State: waitfor.Uncertain, Text: "somewhere that is not known"})
	return r
}

// ring is a deadlock of ranks at one place, each of which receives from the next.
func ring(n int32) *waitfor.Report {
	r := &waitfor.Report{Verdict: waitfor.Deadlocked, Why: "All wait for each other."}
	d := waitfor.Deadlock{}
	for rank := range n {
		d.Ranks = append(d.Ranks, rank)
		d.Cycle = append(d.Cycle, waitfor.Wait{Rank: rank, For: (rank + 1) % n, Class: mqs.Known(mqs.PendingReceives), Operation: "receive", Call: "MPI_Recv", File: "r.c", Line: 5})
	}
	r.Deadlocks = []waitfor.Deadlock{d}
	r.Groups = []waitfor.Group{{Ranks: d.Ranks, State: waitfor.InDeadlock, Call: "MPI_Recv", File: "r.c", Line: 5, Text: "MPI_Recv at r.c:5"}}
	r.Edges = []waitfor.Edge{{Count: int(n), InCycle: true, Class: mqs.Known(mqs.PendingReceives)}}
	return r
}

// pairs is a job of deadlocks of two, and of as many ranks that can't be read, each for a reason of its own.
func pairs(n int32) *waitfor.Report {
	r := &waitfor.Report{Verdict: waitfor.Deadlocked, Why: "Everyone waits."}
	for i := range n {
		a, b := 2*i, 2*i+1
		r.Deadlocks = append(r.Deadlocks, waitfor.Deadlock{Ranks: []int32{a, b}, Cycle: []waitfor.Wait{{Rank: a, For: b, Operation: "MPI_Barrier"}, {Rank: b, For: a, Operation: "MPI_Bcast"}}})
		r.Missing = append(r.Missing, waitfor.Missing{Rank: 2*n + i, Why: fmt.Sprintf("process %d has exited", i)})
	}
	return r
}

// crowd is a job in which everyone is somewhere else, and waits for the two before.
func crowd(n int) *waitfor.Report {
	r := &waitfor.Report{Verdict: waitfor.NoDeadlock, Why: "Rank 0 can move."}
	for i := range n {
		state := waitfor.Waiting
		if i == 0 {
			state = waitfor.Running
		}
		r.Groups = append(r.Groups, waitfor.Group{Ranks: []int32{int32(2 * i)}, State: state, Call: "MPI_Wait", File: "a.c", Line: i + 1, Text: fmt.Sprintf("MPI_Wait at a.c:%d", i+1)})
		for back := 1; back <= min(i, 2); back++ {
			r.Edges = append(r.Edges, waitfor.Edge{From: i, To: i - back, Count: 1, Class: mqs.Known(mqs.UnexpectedMessages), Text: "x"})
		}
		r.NearMisses = append(r.NearMisses, waitfor.NearMiss{Kind: waitfor.OtherTag, Text: "A miss.", Ranks: []int32{1}})
	}
	return r
}

// TestReportGolden holds the texts against files; -update writes them.
func TestReportGolden(t *testing.T) {
	for name, r := range reports() {
		for suffix, write := range map[string]func(io.Writer, *waitfor.Report) error{
			".txt": func(w io.Writer, r *waitfor.Report) error { return ReportText(w, r, Style{}) }, ".json": document.WriteReport, ".dot": ReportDOT} {
			var b bytes.Buffer
			if err := write(&b, r); err != nil {
				t.Fatal(err)
			}
			file := "testdata/report/" + name + suffix
			if *update {
				if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%s: got\n%s\nwant\n%s", file, b.Bytes(), want)
			}
		}
	}
}

func TestReportJSONKeepsTheSchema(t *testing.T) {
	s, err := jsonschema.NewCompiler().Compile("../document/report-schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range reports() {
		var b bytes.Buffer
		if err := document.WriteReport(&b, r); err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(&b)
		if err == nil {
			err = s.Validate(doc)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReportTextStyled(t *testing.T) {
	var b bytes.Buffer
	if err := ReportText(&b, reports()["small"], Style{On: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "\x1b[1;31mDeadlock\x1b[m. ") || strings.Contains(b.String(), "\x1b[31m\n") {
		t.Errorf("styled:\n%q", b.String())
	}
}

func TestSVGIsXML(t *testing.T) {
	for name, r := range reports() {
		var b bytes.Buffer
		if err := ReportSVG(&b, r); err != nil {
			t.Fatal(err)
		}
		nodes, ranks := 0, map[string]bool{}
		for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			start, ok := token.(xml.StartElement)
			switch {
			case !ok:
			case start.Name.Local == "script" || start.Name.Local == "b":
				t.Errorf("%s: a name has become an element", name)
			case strings.HasPrefix(fmt.Sprint(start.Attr), "[{{ class} node"):
				nodes++
				for _, attribute := range start.Attr {
					ranks[attribute.Value] = ranks[attribute.Value] || attribute.Name.Local == "data-rank"
				}
			}
		}
		// A group's node says which rank to go to.
		for _, group := range r.Groups[:min(len(r.Groups), mostNodes-1)] {
			if rank := fmt.Sprint(group.Ranks[0]); len(r.Groups) <= mostNodes && !ranks[rank] {
				t.Errorf("%s: no node is for rank %s", name, rank)
			}
		}
		if most := mostNodes + mostCycles*mostCycleRank + len(stateWords); nodes > most {
			t.Errorf("%s: %d nodes are drawn", name, nodes)
		}
	}
}

func TestDOTIsWellFormed(t *testing.T) {
	for name, r := range reports() {
		var b bytes.Buffer
		if err := ReportDOT(&b, r); err != nil {
			t.Fatal(err)
		}
		// Outside of strings, only the writer's own syntax may appear: names that a program has chosen must not end a string.
		text := regexp.MustCompile(`"(\\.|[^"\\])*"`).ReplaceAllString(b.String(), "S")
		for line := range strings.Lines(text) {
			if !dotLine.MatchString(line) {
				t.Errorf("%s: %q in\n%s", name, line, &b)
			}
		}
		if strings.Count(text, "{") != strings.Count(text, "}") || strings.Count(text, "[") != strings.Count(text, "]") {
			t.Errorf("%s: open braces in\n%s", name, &b)
		}
	}
}

// dotLine matches a line of Graphviz's language whose strings are S.
var dotLine = regexp.MustCompile(`^ *((digraph job|subgraph cluster_\d+) \{|(graph|node|edge|n\d+( -> n\d+)?) \[|\w+=(S|\w+)|\];|\}|// (Node|Edge) definitions\.)?\n$`)

// Nodes keep clear of each other, whatever the graph.
func TestNodesDoNotOverlap(t *testing.T) {
	for name, r := range reports() {
		p := newPicture(r)
		for _, g := range append(p.cycles, p.groups) {
			l := arrange(&g)
			for i, a := range l.at {
				if a.x < nodeWidth/2-1 || a.y < nodeHeight/2-1 || a.x+nodeWidth/2 > l.width+1 || a.y+nodeHeight/2 > l.height+1 {
					t.Errorf("%s: node %d is outside of the picture", name, i)
				}
				for k, b := range l.at[:i] {
					if abs(a.x-b.x) < nodeWidth && abs(a.y-b.y) < nodeHeight {
						t.Errorf("%s: nodes %d and %d overlap", name, i, k)
					}
				}
			}
		}
	}
}

func abs(v float64) float64 { return max(v, -v) }
