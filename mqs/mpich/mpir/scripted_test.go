package mpir

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// scripted is a device that keeps of requests what a test gives it.
type scripted struct {
	Device // of which nothing else is asked

	arguments   map[*Operation]Arguments
	partitions  map[*Operation]Partitioned
	unreadable  error // of partitioned operations
	matched     map[*Operation]Message
	countsPosts bool
	mayRefuse   bool
	flags       map[flagsAsked][]mqs.Flag
}

func (d *scripted) Send(r *Operation, _ *Communicator, _ string) Arguments  { return d.arguments[r] }
func (d *scripted) Receive(r *Operation, _ *Communicator, _ bool) Arguments { return d.arguments[r] }
func (d *scripted) Persistent(r *Operation) Arguments                       { return d.arguments[r] }
func (d *scripted) UnknownSends() string                                    { return "not all of a send is known" }
func (d *scripted) Matched(r *Operation) (Message, bool)                    { m, ok := d.matched[r]; return m, ok }
func (d *scripted) Taken(*Operation, *Communicator) Message                 { return Message{Tag: 5} }
func (d *scripted) OwnFlags(*Communicator) []mqs.Flag                       { return nil }
func (d *scripted) AwaitedFlags(c *Communicator, call string, isDirect bool) []mqs.Flag {
	return d.flags[flagsAsked{c.At, call, isDirect}]
}
func (d *scripted) MayRefuse() bool   { return d.mayRefuse }
func (d *scripted) CountsPosts() bool { return d.countsPosts }

func (d *scripted) Partitioned(r *Operation) (Partitioned, bool, error) {
	p, ok := d.partitions[r]
	return p, ok, d.unreadable
}

// made is the source of a made-up process, in which there are some communicators and requests.
func made(p *inferiortest.Process, d *scripted, comms []*Communicator, all ...*Operation) *Source {
	q := &requests{byAddr: map[inferior.Ptr[Request]]*Operation{}}
	in := &inCalls{kinds: callstack.Kinds{}}
	for _, r := range all {
		q.byAddr[r.At] = r
		switch {
		case r.Kind == KindSend:
			q.sends = append(q.sends, r)
			in.kinds[r.At.Addr()] = callstack.Kind{}
		case r.Kind == KindRecv:
			q.receives = append(q.receives, r)
			in.kinds[r.At.Addr()] = callstack.Kind{}
		case r.IsTaken():
			q.taken = append(q.taken, r)
		}
	}
	there := &communicators{all: comms, byID: map[inferior.Addr]*Communicator{}}
	for _, c := range comms {
		there.byID[c.At.Addr()] = c
	}
	return &Source{lib: over(p), device: d, communicators: func() *communicators { return there }, requests: func() *requests { return q }, inCalls: func() *inCalls { return in }}
}

// flagsAsked is what a device is asked for flags.
type flagsAsked struct {
	comm     inferior.Ptr[Comm]
	call     string
	isDirect bool
}

// comm is a communicator that receives with a context.
func comm(at inferior.Ptr[Comm], context uint32, isInternal bool) *Communicator {
	model := reversed
	model.UniqueID, model.Internal = at.Addr(), isInternal
	return &Communicator{At: at, Comm: Comm{RecvContext: context}, Model: &model}
}

// waiting is a call that may be where it waits, and holds some addresses.
func waiting(function string, held ...*Operation) *callstack.Call {
	c := &callstack.Call{Function: function, Frames: []inferior.Frame{{Function: "poll"}, {}, {Function: "P" + function}}, CandidatePointers: map[inferior.Addr]bool{}}
	for _, r := range held {
		c.CandidatePointers[r.At.Addr()] = true
	}
	return c
}

// names are those of requests among some that have names.
func names(of map[string]*Operation, list []*Operation) (out []string) {
	for name, r := range of {
		if slices.Contains(list, r) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// The made-up process is as the tests take it to be.
func TestMade(t *testing.T) {
	send := &Operation{At: 0x1000, Request: Request{Kind: KindSend, Comm: 0x10}}
	s := made(inferiortest.New(), &scripted{arguments: map[*Operation]Arguments{send: {Tag: mqs.Known[int32](3)}}}, []*Communicator{comm(0x10, 0, false)}, send)
	if got := s.send(s.communicators().all[0], send); got.DesiredTag != mqs.Known[int32](3) || got.Request.Value != 0x1000 {
		t.Errorf("%+v", got)
	}
}
