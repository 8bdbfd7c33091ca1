package mpir

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// reversed has three members, whose global ranks count down from 12.
var reversed = mqs.Communicator{Group: []mqs.Maybe[int32]{mqs.Known[int32](12), mqs.Known[int32](11), mqs.Known[int32](10)}}

// What is not kept is left open, and MPICH's own values for any are the model's.
func TestCommon(t *testing.T) {
	of := func(change func(op *mqs.PendingOperation)) mqs.PendingOperation {
		op := mqs.PendingOperation{Status: mqs.Pending, Request: mqs.Known(inferior.Addr(0x1000))}
		change(&op)
		return op
	}
	anyRank := mqs.Known[int32](mqs.AnyRank)
	for name, c := range map[string]struct {
		a    Arguments
		want mqs.PendingOperation
	}{
		"nothing is kept": {Arguments{}, of(func(*mqs.PendingOperation) {})},
		"from any, of any": {Arguments{Peer: mqs.Known(ownNegatives.AnySource), Tag: mqs.Known(ownNegatives.AnyTag)}, of(func(op *mqs.PendingOperation) {
			op.DesiredLocalRank, op.DesiredGlobalRank, op.TagWild = anyRank, anyRank, mqs.Known(true)
		})},
		"from nobody": {Arguments{Peer: mqs.Known(ownNegatives.ProcNull)}, of(func(*mqs.PendingOperation) {})},
		"of a collective": {Arguments{Peer: mqs.Known[int32](2), Tag: mqs.Known[int32](7), Context: mqs.Known[uint32](ContextCollective), Bytes: mqs.Known[int64](9)}, of(func(op *mqs.PendingOperation) {
			op.DesiredLocalRank, op.DesiredGlobalRank, op.TagWild, op.DesiredTag = mqs.Known[int32](2), mqs.Known[int32](10), mqs.Known(false), mqs.Known[int32](7)
			op.DesiredLength, op.Internal = mqs.Known[int64](9), true
		})},
		"with a buffer": {Arguments{}.WithBuffer(0x40, 3, 0x4c000405), of(func(op *mqs.PendingOperation) {
			op.Buffer, op.SystemBuffer, op.Count, op.DesiredLength = mqs.Known(inferior.Addr(0x40)), mqs.Known(false), mqs.Known[int64](3), mqs.Known[int64](12)
		})},
	} {
		if got := over(inferiortest.New()).common(&reversed, &Operation{At: 0x1000, Request: Request{Pending: 1}}, c.a); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	persistent := &Operation{At: 0x2000}
	if got := over(inferiortest.New()).common(&reversed, &Operation{At: 0x1000, Owner: persistent}, Arguments{}); got.Status != mqs.Complete || got.Request.Value != 0x2000 {
		t.Errorf("started by a persistent one: %+v", got)
	}
}

// What the library has put into the attached buffer, up to 4.1, is packed, and in its list or in its memory.
func TestIsBuffered(t *testing.T) {
	p := inferiortest.New()
	p.Symbols[symBsend] = &inferior.Symbol{Addr: 0x1000}
	p.Types["BsendBuffer"] = &layout.Layout{Size: 24, Fields: map[string]layout.Field{"buffer": field(0, 8, layout.KindPointer), "buffer_size": field(8, 8, layout.KindUnsigned),
		"active": field(16, 8, layout.KindPointer)}}
	p.Types["MPII_Bsend_data_t"] = &layout.Layout{Size: 16, Fields: map[string]layout.Field{"next": field(0, 8, layout.KindPointer), "request": field(8, 8, layout.KindPointer)}}
	p.PutUint64(0x1000, 0x8000, 0x100, firstSend)
	p.PutUint64(firstSend, lastSend, 0x5000)
	p.PutUint64(lastSend, 0, 0x5100)
	l := over(p)
	in := mqs.Known(inferior.Addr(0x8080))
	for name, c := range map[string]struct {
		r    inferior.Ptr[Request]
		a    Arguments
		want bool
	}{
		"packed":                      {0, Arguments{Buffer: in, Datatype: mqs.Known[uint32](packed)}, true},
		"bytes":                       {0, Arguments{Buffer: in, Bytes: mqs.Known[int64](8)}, true},
		"of another type":             {0, Arguments{Buffer: in, Datatype: mqs.Known[uint32](0x4c000405)}, false},
		"elsewhere":                   {0, Arguments{Buffer: mqs.Known(inferior.Addr(0x8100)), Bytes: mqs.Known[int64](8)}, false},
		"in the list":                 {0x5100, Arguments{}, true},
		"in no list, its data hidden": {0x5200, Arguments{}, false},
	} {
		if got := l.isBuffered(&Operation{At: c.r}, c.a, &Communicator{}); got != c.want || over(inferiortest.New()).isBuffered(&Operation{At: c.r}, c.a, &Communicator{}) {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What a call was given completes what the device has not kept, as long as the send is not over.
func TestPassed(t *testing.T) {
	c := &callstack.Call{Function: "MPI_Send", Frames: []inferior.Frame{{Function: "PMPI_Send", Variables: map[string]int64{"dest": 2, "tag": 7, "buf": 0x40, "count": 3, "datatype": 0x4c000405}}}}
	all := Arguments{Peer: mqs.Known[int32](2), Tag: mqs.Known[int32](7)}.WithBuffer(0x40, 3, 0x4c000405)
	kept := Arguments{Tag: mqs.Known[int32](9), Count: mqs.Known[int64](1)}
	both := all
	both.Tag, both.Count, both.Datatype = kept.Tag, kept.Count, kept.Datatype
	for name, of := range map[string]struct {
		call    *callstack.Call
		pending int32
		a, want Arguments
	}{"nothing kept": {c, 1, Arguments{}, all}, "some kept": {c, 1, kept, both}, "complete": {c, 0, kept, kept}, "no call": {nil, 1, kept, kept}} {
		got := of.a
		if made(inferiortest.New(), &scripted{}, nil).passed(of.call, &Operation{Request: Request{Pending: of.pending}}, &got); got != of.want {
			t.Errorf("%s: %+v, want %+v", name, got, of.want)
		}
	}
}

// A message whose request tells nothing more is still one.
func TestArrival(t *testing.T) {
	c := &Communicator{Comm: Comm{RecvContext: 4}, Model: &reversed}
	r := &Operation{At: 0x1000}
	m := Message{Source: mqs.Known[int32](1), Tag: 7, Bytes: mqs.Known[int64](8), Context: 5, Buffer: 0x40, Protocol: mqs.Eager}
	got := arrival(c, r, m)
	if got.ActualGlobalRank != mqs.Known[int32](11) || got.DesiredTag != mqs.Known[int32](7) || !got.Internal || got.SystemBuffer != mqs.Known(true) || len(got.ExtraText) != 1 {
		t.Errorf("%+v", got)
	}
	want := mqs.PendingOperation{Status: mqs.Pending, TagWild: mqs.Known(false), Request: mqs.Known(inferior.Addr(0x1000))}
	if got := arrival(c, r, Message{IsLost: true, Context: 5}); !reflect.DeepEqual(got, want) {
		t.Errorf("one that is lost is %+v", got)
	}
}
