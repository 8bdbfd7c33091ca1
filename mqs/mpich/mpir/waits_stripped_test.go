package mpir

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// A call of whose functions none has a name may wait if two functions are inside of it, and it hands no message to UCX.
func TestMayWait(t *testing.T) {
	for functions, want := range map[string]bool{
		"PMPI_Barrier < main": false, "? < PMPI_Barrier < main": false, "? < ? < PMPI_Barrier < main": true,
		"ucp_tag_send_nbx < ? < ? < PMPI_Barrier < main": false, "ucp_worker_progress < ? < ? < PMPI_Barrier < main": true,
	} {
		frames := inferiortest.Thread(1, functions).Frames
		if got := MayWait(&callstack.Call{Frames: frames[:len(frames)-1]}); got != want {
			t.Errorf("%s: %t", functions, got)
		}
	}
}

// part makes a request of a message of a collective.
func (d *scripted) part(at inferior.Ptr[Request], kind uint32, comm inferior.Ptr[Comm], tag int32) *Operation {
	r := &Operation{At: at, Request: Request{Kind: kind, Pending: 1, Comm: comm}}
	if d.arguments == nil {
		d.arguments = map[*Operation]Arguments{}
	}
	d.arguments[r] = Arguments{Tag: mqs.Known(tag), Context: mqs.Known[uint32](ContextCollective)}
	return r
}

// The messages of a call are those of blocking collectives, or those of the only schedule of a call that is carried out
// by one. If there are other calls, it has to hold them all.
func TestPartsOfCalls(t *testing.T) {
	const first, second = 0x10, 0x20
	d := &scripted{}
	of := map[string]*Operation{
		"a send":               d.part(0x1000, KindSend, first, 1),
		"a receive":            d.part(0x1100, KindRecv, first, lastBlockingTag),
		"scheduled":            d.part(0x1200, KindSend, first, lastBlockingTag+1),
		"another of its":       d.part(0x1300, KindRecv, first, lastBlockingTag+1),
		"of another tag":       d.part(0x1400, KindRecv, first, firstScheduleTag),
		"elsewhere":            d.part(0x1500, KindRecv, second, lastBlockingTag+1),
		"complete":             d.part(0x1600, KindRecv, first, 1),
		"of no communicator":   d.part(0x1700, KindRecv, 0x30, 1),
		"a persistent one's":   d.part(0x1800, KindRecv, first, 1),
		"the program's":        d.part(0x1900, KindRecv, first, 1),
		"of a tag not known":   d.part(0x1a00, KindRecv, first, 1),
		"with the tag nothing": d.part(0x1b00, KindRecv, first, 0),
	}
	of["complete"].Pending = 0
	of["a persistent one's"].Owner = &Operation{}
	d.arguments[of["the program's"]] = Arguments{Tag: mqs.Known[int32](1), Context: mqs.Known[uint32](0)}
	d.arguments[of["of a tag not known"]] = Arguments{Context: mqs.Known[uint32](ContextCollective)}
	const barrier, neighbour = "MPI_Barrier", "MPI_Neighbor_alltoall"
	for name, c := range map[string]struct {
		call    string
		there   []string
		isAlone bool
		held    []string
		want    []string
	}{
		"blocking":                        {barrier, []string{"a send", "a receive", "scheduled", "complete"}, true, nil, []string{"a receive", "a send"}},
		"none of its own":                 {barrier, []string{"complete", "of no communicator", "a persistent one's", "the program's", "of a tag not known"}, true, nil, nil},
		"a schedule":                      {neighbour, []string{"scheduled", "another of its"}, true, nil, []string{"another of its", "scheduled"}},
		"a schedule of a call without":    {barrier, []string{"scheduled", "another of its"}, true, nil, nil},
		"a schedule beside blocking ones": {neighbour, []string{"a send", "scheduled"}, true, nil, []string{"a send"}},
		"two schedules":                   {neighbour, []string{"scheduled", "of another tag"}, true, nil, nil},
		"two communicators":               {neighbour, []string{"scheduled", "elsewhere"}, true, nil, nil},
		"a tag of none":                   {neighbour, []string{"with the tag nothing"}, true, nil, []string{"with the tag nothing"}},
		"beside others, all held":         {barrier, []string{"a send", "a receive"}, false, []string{"a send", "a receive", "complete"}, []string{"a receive", "a send"}},
		"beside others, one held":         {barrier, []string{"a send", "a receive"}, false, []string{"a send"}, nil},
		"beside others, none there":       {barrier, nil, false, nil, nil},
	} {
		var there, held []*Operation
		for _, n := range c.there {
			there = append(there, of[n])
		}
		for _, n := range c.held {
			held = append(held, of[n])
		}
		s := made(inferiortest.New(), d, []*Communicator{comm(first, 8, false), comm(second, 16, false)}, there...)
		if got := names(of, s.partsOf(waiting(c.call, held...), c.isAlone)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for name, spoil := range map[string]func(q *requests, c *callstack.Call){
		"requests that can't be read":   func(q *requests, _ *callstack.Call) { q.err = errors.New("no pool") },
		"receives that can't be read":   func(q *requests, _ *callstack.Call) { q.postedErr = errors.New("no list") },
		"a call that does not wait yet": func(_ *requests, c *callstack.Call) { c.Frames = c.Frames[1:] },
	} {
		s, c := made(inferiortest.New(), d, []*Communicator{comm(first, 8, false)}, of["a send"]), waiting(barrier)
		if spoil(s.requests(), c); s.partsOf(c, true) != nil {
			t.Errorf("%s: it waits for a message", name)
		}
	}
}

// The communicator of a collective is that of its messages, or the program's of which the library has made that.
func TestCommOfParts(t *testing.T) {
	d := &scripted{}
	comms := []*Communicator{comm(0x10, 16, false), comm(0x20, 16|2, true), comm(0x30, 32, false), comm(0x40, 48|4, true)}
	on := map[inferior.Ptr[Comm]]*Operation{}
	for _, at := range []inferior.Ptr[Comm]{0x10, 0x20, 0x30, 0x40, 0x50} {
		on[at] = d.part(inferior.Ptr[Request](0x1000+16*at), KindSend, at, 1)
	}
	s := made(inferiortest.New(), d, comms)
	for name, c := range map[string]struct {
		call  string
		parts []inferior.Ptr[Comm]
		want  inferior.Ptr[Comm] // 0 if it is not known
	}{
		"none":                             {"MPI_Barrier", nil, 0},
		"one":                              {"MPI_Barrier", []inferior.Ptr[Comm]{0x30}, 0x30},
		"two":                              {"MPI_Barrier", []inferior.Ptr[Comm]{0x30, 0x30}, 0x30},
		"on a part":                        {"MPI_Barrier", []inferior.Ptr[Comm]{0x20}, 0x10},
		"on a part, and on the whole":      {"MPI_Barrier", []inferior.Ptr[Comm]{0x20, 0x10}, 0x10},
		"on a part of none of the program": {"MPI_Barrier", []inferior.Ptr[Comm]{0x40}, 0},
		"on two":                           {"MPI_Barrier", []inferior.Ptr[Comm]{0x10, 0x30}, 0},
		"on one that is not known":         {"MPI_Barrier", []inferior.Ptr[Comm]{0x50}, 0},
		"a call that makes one":            {"MPI_Win_create", []inferior.Ptr[Comm]{0x30}, 0},
		"another one":                      {"MPI_Win_allocate_shared", []inferior.Ptr[Comm]{0x30}, 0},
		"a third one":                      {"MPI_File_open", []inferior.Ptr[Comm]{0x30}, 0},
		"one that makes none":              {"MPI_Win_fence", []inferior.Ptr[Comm]{0x30}, 0x30},
	} {
		var parts []*Operation
		for _, at := range c.parts {
			parts = append(parts, on[at])
		}
		got := s.commOfParts(waiting(c.call), parts)
		if (got != nil) != (c.want != 0) || got != nil && got.At != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

// MPI_Sendrecv of a stripped library waits for the only incomplete request of a call that it holds.
func TestExchangedUnseen(t *testing.T) {
	request := func(at inferior.Ptr[Request], kind uint32, pending int32) *Operation {
		return &Operation{At: at, Request: Request{Kind: kind, Pending: pending}}
	}
	of := map[string]*Operation{"send": request(0x1000, KindSend, 1), "receive": request(0x1100, KindRecv, 1), "sent": request(0x1200, KindSend, 0), "started": request(0x1300, KindSend, 1)}
	of["started"].Owner = &Operation{}
	for name, c := range map[string]struct {
		held []string
		want []string
	}{
		"a send": {[]string{"send"}, []string{"send"}}, "a receive, its send is over": {[]string{"receive", "sent"}, []string{"receive"}},
		"both": {[]string{"send", "receive"}, nil}, "none": {nil, nil}, "what is over": {[]string{"sent"}, nil}, "a persistent one's": {[]string{"started", "send"}, []string{"send"}},
	} {
		s := made(inferiortest.New(), &scripted{}, nil, of["send"], of["receive"], of["sent"], of["started"])
		s.lib.IsStripped = true
		var held []*Operation
		for _, n := range c.held {
			held = append(held, of[n])
		}
		got, isAll := s.waitedFor(waiting("MPI_Sendrecv", held...), true)
		if !slices.Equal(names(of, got), c.want) || isAll {
			t.Errorf("%s: %q, all: %t", name, names(of, got), isAll)
		}
		early := waiting("MPI_Sendrecv", held...)
		early.Frames = early.Frames[1:]
		if got := s.exchangedUnseen(early); got != nil {
			t.Errorf("%s, before it waits: %q", name, names(of, got))
		}
		s.requests().err = errors.New("no pool")
		if got := s.exchangedUnseen(waiting("MPI_Sendrecv", held...)); got != nil {
			t.Errorf("%s, of requests that can't be read: %q", name, names(of, got))
		}
	}
}

// A call for the program's requests waits for some of those that are not complete, if it holds one of them.
func TestMayAwait(t *testing.T) {
	d := &scripted{}
	request := func(at inferior.Ptr[Request], kind uint32, pending int32) *Operation {
		return &Operation{At: at, Request: Request{Kind: kind, Pending: pending, Comm: 0x10}}
	}
	of := map[string]*Operation{
		"receive": request(0x1000, KindRecv, 1), "another": request(0x1100, KindSend, 1), "complete": request(0x1200, KindRecv, 0),
		"taken": request(0x1300, kindMprobe, 1), "unexpected": request(0x1400, KindRecv, 1), "part": d.part(0x1500, KindSend, 0x10, 1), "scheduled": d.part(0x1600, KindSend, 0x10, 300),
		"persistent": request(0x1700, kindPersistentRecv, 1), "its own": request(0x1800, KindRecv, 1), "generalized": request(0x1900, kindGeneralized, 1), "partitioned": request(0x1c00, kindPartitionedRecv, 1),
		"persistent, over": request(0x1a00, kindPersistentSend, 1), "its own, over": request(0x1b00, KindSend, 0),
	}
	for owner, own := range map[string]string{"persistent": "its own", "persistent, over": "its own, over"} {
		of[owner].Real, of[own].Owner = of[own].At, of[owner]
	}
	for name, c := range map[string]struct {
		there, held []string
		want        []string
	}{
		"one":                        {[]string{"receive"}, []string{"receive"}, []string{"receive"}},
		"one that it does not hold":  {[]string{"receive"}, []string{"complete"}, nil},
		"none":                       {[]string{"complete"}, []string{"complete"}, nil},
		"two":                        {[]string{"receive", "another"}, []string{"receive"}, []string{"another", "receive"}},
		"two that it does not hold":  {[]string{"receive", "another"}, []string{"complete"}, nil},
		"one beside others of calls": {[]string{"receive", "complete", "taken", "unexpected", "part", "scheduled"}, []string{"receive"}, []string{"receive"}},
		"a persistent one":           {[]string{"persistent", "its own"}, []string{"persistent"}, []string{"persistent"}},
		"a persistent one, by what it has started": {[]string{"persistent", "its own"}, []string{"its own"}, []string{"persistent"}},
		"a persistent one that is over":            {[]string{"persistent, over", "its own, over", "receive"}, []string{"receive"}, []string{"receive"}},
		"a partitioned one":                        {[]string{"partitioned"}, []string{"partitioned"}, []string{"partitioned"}},
		"one of another kind":                      {[]string{"generalized"}, []string{"generalized"}, nil},
		"one beside one of another kind":           {[]string{"receive", "generalized"}, []string{"receive"}, nil},
	} {
		var there, held []*Operation
		for _, n := range c.there {
			there = append(there, of[n])
		}
		for _, n := range c.held {
			held = append(held, of[n])
		}
		s := made(inferiortest.New(), d, []*Communicator{comm(0x10, 8, false)}, there...)
		s.lib.IsStripped = true
		s.requests().unexpected = []*Operation{of["unexpected"]}
		call := waiting("MPI_Waitall", held...)
		if got, isAll := s.waitedFor(call, true); !slices.Equal(names(of, got), c.want) || isAll != (len(c.want) == 1) {
			t.Errorf("%s: %q, all: %t, want %q", name, names(of, got), isAll, c.want)
		}
		if w := s.waitOf(call, true); w.All != (len(c.want) == 1) || w.Some != (len(c.want) > 1) {
			t.Errorf("%s: all: %t, some: %t", name, w.All, w.Some)
		}
		if got, isAll := s.waitedFor(call, false); got != nil || isAll {
			t.Errorf("%s, beside another call: %q, all: %t", name, names(of, got), isAll)
		}
		for what, spoil := range map[string]func(q *requests, c *callstack.Call){
			"requests that can't be read": func(q *requests, _ *callstack.Call) { q.err = errors.New("no pool") },
			"receives that can't be read": func(q *requests, _ *callstack.Call) { q.err, q.postedErr = nil, errors.New("no list") },
			"before it waits":             func(q *requests, c *callstack.Call) { q.postedErr, c.Frames = nil, c.Frames[1:] },
		} {
			s := made(inferiortest.New(), d, []*Communicator{comm(0x10, 8, false)}, there...)
			spoiled := waiting("MPI_Waitall", held...)
			if spoil(s.requests(), spoiled); s.mayAwait(spoiled) != nil {
				t.Errorf("%s, %s: it waits for one", name, what)
			}
		}
	}
}

// Where a send may be refused, a call that sends may have no request of its own yet: what it holds is not known to be one. A
// synchronous send has one, and a receive too.
func TestRefusedSends(t *testing.T) {
	request := func(at inferior.Ptr[Request], kind uint32) *Operation {
		return &Operation{At: at, Request: Request{Kind: kind, Pending: 1}}
	}
	of := map[string]*Operation{"send": request(0x1000, KindSend), "receive": request(0x1100, KindRecv)}
	for call, c := range map[string]struct {
		held    string
		isKnown bool // also where it may be refused
	}{
		"MPI_Send": {"send", false}, "MPI_Rsend": {"send", false}, "MPI_Sendrecv": {"receive", false}, "MPI_Sendrecv_replace": {"send", false},
		"MPI_Ssend": {"send", true}, "MPI_Recv": {"receive", true}, "MPI_Mrecv": {"receive", true},
	} {
		for _, mayRefuse := range []bool{false, true} {
			s := made(inferiortest.New(), &scripted{mayRefuse: mayRefuse}, nil, of["send"], of["receive"])
			s.lib.IsStripped = true
			got, _ := s.waitedFor(waiting(call, of[c.held]), true)
			own := s.ownOf(waiting(call, of[c.held]), []inferior.Addr{of[c.held].At.Addr()})
			if isKnown := c.isKnown || !mayRefuse; (len(got) == 1) != isKnown || own.Proved != isKnown {
				t.Errorf("%s, which may be refused (%t): it waits for %q, proved %t", call, mayRefuse, names(of, got), own.Proved)
			}
			s.lib.IsStripped = false
			if s.mayBeRefused(waiting(call)) != (mayRefuse && !c.isKnown) {
				t.Errorf("%s: whether it may be refused is not told", call)
			}
		}
	}
}

// How far a collective has come is not known where its messages may be refused, but on which communicator it is.
func TestRefusedCollectives(t *testing.T) {
	for _, mayRefuse := range []bool{false, true} {
		d := &scripted{mayRefuse: mayRefuse}
		part := d.part(0x1000, KindRecv, 0x10, 1)
		s := made(inferiortest.New(), d, []*Communicator{comm(0x10, 8, false)}, part)
		s.lib.IsStripped = true
		if w := s.waitOf(waiting("MPI_Barrier", part), true); (len(w.Requests) == 0) != mayRefuse || !w.Comm.Known {
			t.Errorf("refused (%t): %+v", mayRefuse, w)
		}
	}
}

// A blocking probe in a stripped library is on the only communicator that it holds.
func TestCommOfProbe(t *testing.T) {
	first, second := comm(0x10, 0, false), comm(0x20, 4, false)
	for name, c := range map[string]struct {
		call       string
		holds      []*Communicator
		isStripped bool
		want       mqs.Maybe[inferior.Addr]
	}{
		"one":                    {"MPI_Mprobe", []*Communicator{second}, true, mqs.Known[inferior.Addr](0x20)},
		"two":                    {"MPI_Probe", []*Communicator{first, second}, true, mqs.Maybe[inferior.Addr]{}},
		"none":                   {"MPI_Probe", nil, true, mqs.Maybe[inferior.Addr]{}},
		"a call that only looks": {"MPI_Iprobe", []*Communicator{second}, true, mqs.Maybe[inferior.Addr]{}},
		"not stripped":           {"MPI_Probe", []*Communicator{second}, false, mqs.Maybe[inferior.Addr]{}},
	} {
		s := made(inferiortest.New(), &scripted{}, []*Communicator{first, second})
		s.lib.IsStripped = c.isStripped
		call := waiting(c.call)
		for _, on := range c.holds {
			call.CandidatePointers[on.At.Addr()] = true
		}
		if got := s.waitOf(call, true).Comm; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A collective is on the only communicator of the program's whose address its call holds, if it is given one, or calls a function
// that is.
func TestCommOfCollective(t *testing.T) {
	comms := []*Communicator{comm(0x10, 16, false), comm(0x20, 32, false), comm(0x30, 48, true)}
	s := made(inferiortest.New(), &scripted{}, comms)
	for name, c := range map[string]struct {
		functions string
		held      []inferior.Addr
		want      inferior.Ptr[Comm] // 0 if it is not known
	}{
		"one":                          {"? < ? < PMPI_Barrier < main", []inferior.Addr{0x20}, 0x20},
		"one beside the library's own": {"? < ? < PMPI_Barrier < main", []inferior.Addr{0x20, 0x30, 0x40}, 0x20},
		"the library's own":            {"? < ? < PMPI_Barrier < main", []inferior.Addr{0x30}, 0},
		"two":                          {"? < ? < PMPI_Barrier < main", []inferior.Addr{0x10, 0x20}, 0},
		"none":                         {"? < ? < PMPI_Barrier < main", nil, 0},
		"of a call in a call":          {"? < ? < PMPI_Barrier < PMPI_File_close < main", []inferior.Addr{0x10}, 0x10},
		"left over in a call that is given a file":   {"? < ? < PMPI_File_close < main", []inferior.Addr{0x10}, 0},
		"left over in a call that is given a window": {"? < ? < PMPI_Win_fence < main", []inferior.Addr{0x10}, 0},
		"in a call that makes one":                   {"? < ? < PMPI_Barrier < PMPI_File_open < main", []inferior.Addr{0x10}, 0},
	} {
		frames := inferiortest.Thread(1, c.functions).Frames
		call := &callstack.Call{Frames: frames[:len(frames)-1], CandidatePointers: map[inferior.Addr]bool{}}
		call.Function = strings.TrimPrefix(call.Frames[len(call.Frames)-1].Function, "P")
		for _, a := range c.held {
			call.CandidatePointers[a] = true
		}
		if got := s.commOfCollective(call); (got != nil) != (c.want != 0) || got != nil && got.At != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

// The flags that a call waits for are on its communicator, or on the only one with such flags if no other call is there.
func TestFlagsOfCalls(t *testing.T) {
	flag := func(on inferior.Ptr[Comm]) []mqs.Flag {
		return []mqs.Flag{{Comm: on.Addr(), Kind: mqs.Released, Count: 7}}
	}
	const barrier = "MPI_Barrier"
	world, node, other := comm(0x10, 16, false), comm(0x20, 32, true), comm(0x30, 48, false)
	for name, c := range map[string]struct {
		functions  string
		comm       *Communicator
		flags      []flagsAsked
		isStripped bool
		hasOthers  bool // other threads are in calls
		want       inferior.Ptr[Comm]
	}{
		"on its communicator":             {"? < PMPI_Barrier < main", world, []flagsAsked{{0x10, barrier, true}}, false, false, 0x10},
		"on a part of it":                 {"? < PMPI_Barrier < main", world, []flagsAsked{{0x20, barrier, false}}, false, false, 0x20},
		"on another's, perhaps":           {"? < PMPI_Barrier < main", world, []flagsAsked{{0x20, barrier, false}}, false, true, 0},
		"on its own beside others":        {"? < PMPI_Barrier < main", world, []flagsAsked{{0x10, barrier, true}, {0x20, barrier, false}}, false, true, 0x10},
		"on one of two":                   {"? < PMPI_Barrier < main", nil, []flagsAsked{{0x10, barrier, false}, {0x30, barrier, false}}, true, false, 0},
		"of a stripped library":           {"? < PMPI_Barrier < main", nil, []flagsAsked{{0x30, barrier, false}}, true, false, 0x30},
		"of a stripped one beside others": {"? < PMPI_Barrier < main", other, []flagsAsked{{0x30, barrier, true}}, true, true, 0},
		"in a call that it has called":    {"? < PMPI_Barrier < PMPI_File_close < main", nil, []flagsAsked{{0x30, barrier, false}}, true, false, 0x30},
		"none in a receive":               {"? < PMPI_Recv < main", world, []flagsAsked{{0x10, "MPI_Recv", true}}, false, false, 0},
		"none in MPI_Waitall":             {"? < PMPI_Waitall < main", world, []flagsAsked{{0x10, "MPI_Waitall", true}}, false, false, 0},
	} {
		d := &scripted{flags: map[flagsAsked][]mqs.Flag{}}
		for _, asked := range c.flags {
			d.flags[asked] = flag(asked.comm)
		}
		s := made(inferiortest.New(), d, []*Communicator{world, node, other})
		s.lib.IsStripped = c.isStripped
		frames := inferiortest.Thread(1, c.functions).Frames
		call := &callstack.Call{Frames: frames[:len(frames)-1]}
		call.Function = strings.TrimPrefix(call.Frames[len(call.Frames)-1].Function, "P")
		got, on := s.awaitedFlags(call, c.comm, !c.hasOthers)
		if (on != nil) != (c.want != 0) || on != nil && (on.At != c.want || !slices.Equal(got, flag(c.want))) {
			t.Errorf("%s: %+v on %+v, want %s", name, got, on, c.want)
		}
	}
	s := made(inferiortest.New(), &scripted{flags: map[flagsAsked][]mqs.Flag{{0x10, barrier, true}: flag(0x10)}}, []*Communicator{world})
	s.requests().err = errors.New("unreadable")
	if got, on := s.awaitedFlags(waiting(barrier), world, true); on != nil {
		t.Errorf("without its requests: %+v", got)
	}
}
