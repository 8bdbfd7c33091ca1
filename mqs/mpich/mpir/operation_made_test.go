package mpir

import (
	"errors"
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// withBuffer is a process in which MPI_Buffer_attach has attached a buffer of 256 bytes at 0x8000.
func withBuffer() *inferiortest.Process {
	p := inferiortest.New()
	p.Symbols[symBsend] = &inferior.Symbol{Addr: 0x1000}
	p.Types["BsendBuffer"] = &layout.Layout{Size: 16, Fields: map[string]layout.Field{"buffer": field(0, 8, layout.KindPointer), "buffer_size": field(8, 8, layout.KindUnsigned)}}
	p.PutUint64(0x1000, 0x8000, 0x100)
	return p
}

// told is what is told of a send or a receive: what it is called, how far it is, and what is said of it.
type told struct {
	kind       string
	status     mqs.Status
	isInternal bool
	extra      []string
}

// What a send is called depends on the call that may have made it, on its buffer, and on what is known of collectives.
func TestKindsOfSends(t *testing.T) {
	const intType, inBuffer, elsewhere = 0x4c000405, 0x8080, 0x9000
	program := mqs.Known[uint32](0)
	isend := Arguments{Kind: "isend", Tag: mqs.Known[int32](7), Context: program}
	with := func(a Arguments, change func(a *Arguments)) Arguments { change(&a); return a }
	unknown := with(isend, func(a *Arguments) { a.Context = mqs.Maybe[uint32]{} })
	packedAt := func(at inferior.Addr) Arguments { return isend.WithBuffer(at, 8, packed) }
	for name, c := range map[string]struct {
		r         Request
		owner     bool
		a         Arguments
		call      *callstack.Kind // that may have made it
		sendq     Sendq
		collected string // the collective that holds it
		err       error  // of the calls
		isHidden  bool   // where the attached buffer is
		want      told
	}{
		"the program's":               {r: Request{Pending: 1}, a: isend, want: told{"isend", mqs.Pending, false, nil}},
		"complete":                    {a: isend, want: told{"isend", mqs.Complete, false, nil}},
		"cancelled":                   {r: Request{CountHi: 1}, a: isend, want: told{"isend", mqs.Complete, false, []string{mqs.Cancelled}}},
		"cancelled, not yet":          {r: Request{Pending: 1, CountHi: 1}, a: isend, want: told{"isend", mqs.Pending, false, nil}},
		"a call's":                    {r: Request{Pending: 1}, a: isend, call: &callstack.Kind{Name: "ssend"}, want: told{"ssend", mqs.Pending, false, nil}},
		"a call's, perhaps":           {r: Request{Pending: 1}, a: isend, call: &callstack.Kind{}, want: told{"", mqs.Pending, false, nil}},
		"a synchronous one, perhaps":  {r: Request{Pending: 1}, a: with(isend, func(a *Arguments) { a.Kind = "issend" }), call: &callstack.Kind{}, want: told{"issend", mqs.Pending, false, nil}},
		"started, near a call":        {r: Request{Pending: 1}, owner: true, a: isend, call: &callstack.Kind{Name: "ssend"}, want: told{"isend", mqs.Pending, false, nil}},
		"started, near what may be":   {r: Request{Pending: 1}, owner: true, a: isend, call: &callstack.Kind{}, want: told{"isend", mqs.Pending, false, nil}},
		"buffered":                    {r: Request{Pending: 1}, a: packedAt(inBuffer), want: told{"bsend", mqs.Pending, false, []string{mqs.DataInBuffer}}},
		"buffered, sent":              {a: packedAt(inBuffer), want: told{"bsend", mqs.Complete, false, nil}},
		"packed by the program":       {r: Request{Pending: 1}, a: packedAt(elsewhere), want: told{"isend", mqs.Pending, false, nil}},
		"packed, perhaps buffered":    {r: Request{Pending: 1}, a: packedAt(elsewhere), isHidden: true, want: told{"", mqs.Pending, false, nil}},
		"of another type":             {r: Request{Pending: 1}, a: isend.WithBuffer(elsewhere, 8, intType), isHidden: true, want: told{"isend", mqs.Pending, false, nil}},
		"started, in the buffer":      {r: Request{Pending: 1}, owner: true, a: packedAt(inBuffer), want: told{"isend", mqs.Pending, false, nil}},
		"started, packed":             {r: Request{Pending: 1}, owner: true, a: packedAt(elsewhere), isHidden: true, want: told{"isend", mqs.Pending, false, nil}},
		"started, buffered":           {r: Request{Pending: 1}, owner: true, a: with(isend, func(a *Arguments) { a.Kind = "bsend_init" }), want: told{"bsend_init", mqs.Complete, false, []string{mqs.DataInBuffer}}},
		"started, buffered, sent":     {owner: true, a: with(isend, func(a *Arguments) { a.Kind = "bsend_init" }), want: told{"bsend_init", mqs.Complete, false, nil}},
		"in no queue that has all":    {r: Request{Pending: 1}, a: unknown, sendq: Sendq{IsUsers: true}, want: told{"isend", mqs.Pending, true, nil}},
		"in none, calls not known":    {r: Request{Pending: 1}, a: unknown, sendq: Sendq{IsUsers: true}, err: errors.New("no stack"), want: told{"isend", mqs.Pending, false, nil}},
		"in none, perhaps a call's":   {r: Request{Pending: 1}, a: unknown, sendq: Sendq{IsUsers: true}, call: &callstack.Kind{}, want: told{"", mqs.Pending, false, nil}},
		"in none, buffered":           {r: Request{Pending: 1}, a: unknown.WithBuffer(inBuffer, 8, packed), sendq: Sendq{IsUsers: true}, want: told{"bsend", mqs.Pending, false, []string{mqs.DataInBuffer}}},
		"near a collective":           {r: Request{Pending: 1}, a: unknown, collected: "MPI_Bcast", want: told{"isend", mqs.Pending, false, []string{"perhaps a part of MPI_Bcast"}}},
		"the program's, near one":     {r: Request{Pending: 1}, a: isend, collected: "MPI_Bcast", want: told{"isend", mqs.Pending, false, nil}},
		"of a collective":             {r: Request{Pending: 1}, a: with(isend, func(a *Arguments) { a.Context = mqs.Known[uint32](ContextCollective) }), want: told{"isend", mqs.Pending, true, nil}},
		"of a collective, and queued": {r: Request{Pending: 1}, a: with(isend, func(a *Arguments) { a.Context = mqs.Known[uint32](ContextCollective) }), sendq: Sendq{IsUsers: true}, want: told{"isend", mqs.Pending, true, nil}},
	} {
		c.r.Kind, c.r.Comm = KindSend, 0x10
		r := &Operation{At: 0x2000, Request: c.r}
		d := &scripted{arguments: map[*Operation]Arguments{r: c.a}}
		on := comm(0x10, 8, false)
		s := made(withBuffer(), d, []*Communicator{on}, r)
		if c.owner {
			r.Owner = &Operation{At: 0x3000}
			d.arguments[r.Owner] = c.a
		}
		in := s.inCalls()
		in.err, in.inCollective = c.err, map[inferior.Addr]string{}
		if delete(in.kinds, r.At.Addr()); c.call != nil {
			in.kinds[r.At.Addr()] = *c.call
		}
		if c.collected != "" {
			in.inCollective[r.At.Addr()] = c.collected
		}
		if s.lib.Sendq = c.sendq; c.isHidden {
			s.lib.image = &Image{}
		}
		op := s.send(on, r)
		if got := (told{op.Kind, op.Status, op.Internal, op.ExtraText}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if isInBuffer := c.want.kind == "bsend"; op.SystemBuffer.Value != isInBuffer || isInBuffer && (op.Count.Known || op.Datatype.Known) {
			t.Errorf("%s: %+v", name, op)
		}
		if len(s.lib.Remarks.Sentences()) != 0 {
			t.Errorf("%s: %q", name, s.lib.Remarks.Sentences())
		}
	}
}

// Where the tag of a send is not kept, that is said.
func TestRemarkOnSends(t *testing.T) {
	r, on := &Operation{At: 0x2000, Request: Request{Kind: KindSend, Pending: 1, Comm: 0x10}}, comm(0x10, 8, false)
	s := made(inferiortest.New(), &scripted{arguments: map[*Operation]Arguments{r: {Kind: "isend"}}}, []*Communicator{on}, r)
	if s.send(on, r); !reflect.DeepEqual(s.lib.Remarks.Sentences(), []string{s.device.UnknownSends()}) {
		t.Errorf("%q", s.lib.Remarks.Sentences())
	}
}

// A receive says what it has got once it has matched: before, and of one that was cancelled or is from nobody, it has got
// nothing.
func TestKindsOfReceives(t *testing.T) {
	irecv := Arguments{Kind: "irecv", Tag: mqs.Known[int32](7), Context: mqs.Known[uint32](0)}
	unknown := irecv
	unknown.Context = mqs.Maybe[uint32]{}
	message := Message{Source: mqs.Known[int32](2), Tag: 9, Bytes: mqs.Known[int64](12)}
	for name, c := range map[string]struct {
		r         Request
		isPosted  bool
		owner     bool
		a         Arguments
		matched   *Message
		call      *callstack.Kind
		collected string
		want      told
		tag       mqs.Maybe[int32] // that it has got
	}{
		"posted":                     {r: Request{Pending: 1}, isPosted: true, a: irecv, matched: &message, want: told{"irecv", mqs.Pending, false, nil}},
		"not matched":                {r: Request{Pending: 1}, a: irecv, want: told{"irecv", mqs.Pending, false, nil}},
		"matched":                    {r: Request{Pending: 1}, a: irecv, matched: &message, want: told{"irecv", mqs.Matched, false, nil}, tag: mqs.Known[int32](9)},
		"complete":                   {r: Request{Source: 1, Tag: 8, CountLo: 4}, a: irecv, matched: &message, want: told{"irecv", mqs.Complete, false, nil}, tag: mqs.Known[int32](8)},
		"cancelled":                  {r: Request{Source: 1, Tag: 8, CountHi: 1}, a: irecv, want: told{"irecv", mqs.Complete, false, []string{mqs.Cancelled}}},
		"cancelled, not yet":         {r: Request{Pending: 1, CountHi: 1}, a: irecv, want: told{"irecv", mqs.Pending, false, nil}},
		"from nobody":                {r: Request{Source: ownNegatives.ProcNull, Tag: 8}, a: irecv, want: told{"irecv", mqs.Complete, false, nil}},
		"from nobody, not yet":       {r: Request{Pending: 1, Source: ownNegatives.ProcNull}, a: irecv, matched: &message, want: told{"irecv", mqs.Matched, false, nil}, tag: mqs.Known[int32](9)},
		"a call's":                   {r: Request{Pending: 1}, a: irecv, call: &callstack.Kind{Name: "recv"}, want: told{"recv", mqs.Pending, false, nil}},
		"a call's, perhaps":          {r: Request{Pending: 1}, a: irecv, call: &callstack.Kind{}, want: told{"", mqs.Pending, false, nil}},
		"started, near a call":       {r: Request{Pending: 1}, owner: true, a: irecv, call: &callstack.Kind{Name: "recv"}, want: told{"irecv", mqs.Pending, false, nil}},
		"near a collective":          {r: Request{Pending: 1}, a: unknown, collected: "MPI_Bcast", want: told{"", mqs.Pending, false, []string{"perhaps a part of MPI_Bcast"}}},
		"the program's, near one":    {r: Request{Pending: 1}, a: irecv, collected: "MPI_Bcast", want: told{"irecv", mqs.Pending, false, nil}},
		"started, near a collective": {r: Request{Pending: 1}, owner: true, a: unknown, collected: "MPI_Bcast", want: told{"irecv", mqs.Pending, false, nil}},
	} {
		c.r.Kind, c.r.Comm = KindRecv, 0x10
		r := &Operation{At: 0x2000, Request: c.r, IsPosted: c.isPosted}
		d := &scripted{arguments: map[*Operation]Arguments{r: c.a}, matched: map[*Operation]Message{}}
		if c.matched != nil {
			d.matched[r] = *c.matched
		}
		on := comm(0x10, 8, false)
		s := made(inferiortest.New(), d, []*Communicator{on}, r)
		if c.owner {
			r.Owner = &Operation{At: 0x3000}
			d.arguments[r.Owner] = c.a
		}
		in := s.inCalls()
		in.inCollective = map[inferior.Addr]string{}
		if delete(in.kinds, r.At.Addr()); c.call != nil {
			in.kinds[r.At.Addr()] = *c.call
		}
		if c.collected != "" {
			in.inCollective[r.At.Addr()] = c.collected
		}
		op := s.receive(on, r)
		if got := (told{op.Kind, op.Status, op.Internal, op.ExtraText}); !reflect.DeepEqual(got, c.want) || op.ActualTag != c.tag {
			t.Errorf("%s: %+v with tag %v, want %+v", name, got, op.ActualTag, c.want)
		}
		if op.ActualLength.Known != c.tag.Known || op.ActualLocalRank.Known != c.tag.Known {
			t.Errorf("%s: %+v", name, op)
		}
	}
}

// Of a stripped library, a message of a collective with a schedule's tag is of a non-blocking one.
func TestCommonOfStripped(t *testing.T) {
	for name, c := range map[string]struct {
		isStripped bool
		context    uint32
		tag        mqs.Maybe[int32]
		want       bool
	}{
		"of the first schedule": {true, ContextCollective, mqs.Known[int32](firstScheduleTag), true}, "of a blocking one": {true, ContextCollective, mqs.Known[int32](firstScheduleTag - 1), false},
		"the program's": {true, 0, mqs.Known[int32](firstScheduleTag), false}, "not stripped": {false, ContextCollective, mqs.Known[int32](firstScheduleTag), false}, "of a tag not known": {true, ContextCollective, mqs.Maybe[int32]{Value: firstScheduleTag}, false},
	} {
		l := over(inferiortest.New())
		l.IsStripped = c.isStripped
		op := l.common(&reversed, &Operation{At: 0x1000}, Arguments{Tag: c.tag, Context: mqs.Known(c.context)})
		if got := reflect.DeepEqual(op.ExtraText, []string{mqs.NonBlockingCollective}); got != c.want || op.Internal != (c.context == ContextCollective) {
			t.Errorf("%s: %+v", name, op)
		}
	}
}
