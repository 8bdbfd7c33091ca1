package transport_test

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// reversed has three members, of which the local ranks count down from the global rank 12.
var reversed = mqs.Communicator{Size: mqs.Known[int32](3), Group: []mqs.Maybe[int32]{mqs.Known[int32](12), mqs.Known[int32](11), mqs.Known[int32](10)}}

// ranks are a local rank of reversed and its global one.
func ranks(local int32) (mqs.Maybe[int32], mqs.Maybe[int32]) {
	return mqs.Known(local), mqs.Known(12 - local)
}

func TestSend(t *testing.T) {
	local, global := ranks(2)
	request := transport.Request{Buffer: 0x100, Length: 8}
	for name, c := range map[string]struct {
		send transport.Send
		rank mqs.Maybe[int32]
		want mqs.PendingOperation
	}{
		"to a known rank": {transport.Send{Request: request, Tag: tagOf(5, 0, 9), ID: 77}, local, mqs.PendingOperation{Status: mqs.Pending,
			DesiredLocalRank: local, DesiredGlobalRank: global, DesiredTag: mqs.Known[int32](9), DesiredLength: mqs.Known[int64](8),
			Buffer: mqs.Known(inferior.Addr(0x100)), MessageID: mqs.Known[uint64](77)}},
		"of the library's": {transport.Send{Request: request, Tag: tagOf(5, 0, -16)}, local, mqs.PendingOperation{Status: mqs.Pending,
			DesiredLocalRank: local, DesiredGlobalRank: global, DesiredTag: mqs.Known[int32](-16), DesiredLength: mqs.Known[int64](8),
			Buffer: mqs.Known(inferior.Addr(0x100)), Internal: true}},
		"answered, of which little is left": {transport.Send{Request: transport.Request{State: transport.Matched, Length: -1}, Tag: tagOf(5, 0, -16), TagLost: true, ID: 77},
			mqs.Maybe[int32]{}, mqs.PendingOperation{Status: mqs.Matched}},
	} {
		c.want.TagWild = mqs.Known(false)
		c.want.SetActual()
		if got := inTag.Send(&reversed, &c.send, c.rank); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestReceive(t *testing.T) {
	one, oneGlobal := ranks(1)
	two, twoGlobal := ranks(2)
	anyRank := mqs.Known[int32](mqs.AnyRank)
	asks := func(mask uint64) transport.Receive {
		return transport.Receive{Tag: tagOf(5, 1, 9), Mask: mask, SenderTag: tagOf(5, 2, 4), Received: 6, Peer: transport.Peer{Value: 8, Known: true},
			SenderPeer: transport.Peer{Value: 9, Known: true}}
	}
	of := func(state transport.State, mask uint64, change func(r *transport.Receive)) transport.Receive {
		r := asks(mask)
		r.State = state
		change(&r)
		return r
	}
	as := func(*transport.Receive) {}
	asked := mqs.PendingOperation{Status: mqs.Pending, DesiredLocalRank: one, DesiredGlobalRank: oneGlobal, TagWild: mqs.Known(false), DesiredTag: mqs.Known[int32](9)}
	got := mqs.PendingOperation{Status: mqs.Complete, ActualLocalRank: two, ActualGlobalRank: twoGlobal, ActualTag: mqs.Known[int32](4), ActualLength: mqs.Known[int64](6)}
	both := func(length mqs.Maybe[int64], text ...string) mqs.PendingOperation {
		op := asked
		op.Status, op.ExtraText = mqs.Matched, text
		op.ActualLocalRank, op.ActualGlobalRank, op.ActualTag, op.ActualLength = got.ActualLocalRank, got.ActualGlobalRank, got.ActualTag, length
		return op
	}
	cancelled := asked
	cancelled.Status, cancelled.ExtraText = mqs.Complete, []string{mqs.Cancelled}
	for name, c := range map[string]struct {
		receive transport.Receive
		want    mqs.PendingOperation
	}{
		"posted":                {of(transport.Posted, fullMask, as), asked},
		"of any":                {of(transport.Posted, anyTag&^inTag.Rank.Mask(), func(r *transport.Receive) { r.Tag = tagOf(5, 1, -1) }), mqs.PendingOperation{Status: mqs.Pending, DesiredLocalRank: anyRank, DesiredGlobalRank: anyRank, TagWild: mqs.Known(true)}},
		"matched":               {of(transport.Matched, fullMask, as), both(mqs.Known[int64](6))},
		"matched by the card":   {of(transport.Matched, fullMask, func(r *transport.Receive) { r.Offloaded = true }), both(mqs.Maybe[int64]{}, transport.OffloadedText)},
		"complete":              {of(transport.Complete, fullMask, as), got},
		"complete, by the card": {of(transport.Complete, fullMask, func(r *transport.Receive) { r.Offloaded = true }), func() mqs.PendingOperation { op := got; op.ExtraText = []string{transport.OffloadedText}; return op }()},
		"cancelled":             {of(transport.Complete, fullMask, func(r *transport.Receive) { r.Cancelled = true }), cancelled},
	} {
		if got := inTag.Receive(&reversed, &c.receive); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if name == "of any" { // the mask has nothing to say of the source there
			continue
		}
		c.receive.Tag, c.receive.SenderTag = tagOf(5, 0, 9), tagOf(5, 0, 4)
		if got := beside.Receive(&reversed, &c.receive); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s, with the sender beside the tag: %+v, want %+v", name, got, c.want)
		}
	}
	if got := beside.Receive(&reversed, &transport.Receive{Mask: fullMask}); got.DesiredLocalRank != anyRank {
		t.Errorf("from anywhere, with the sender beside the tag: %+v", got)
	}
	if got := beside.Message(&reversed, &transport.Message{}, false); got.ActualLocalRank.Known {
		t.Errorf("a message from nobody that is known: %+v", got)
	}
	tags := beside
	for value, c := range map[uint64]struct {
		isSent, isRank bool
		want           mqs.Maybe[int32]
	}{0: {true, true, mqs.Known[int32](0)}, 2: {true, true, mqs.Known[int32](2)}, 3: {true, true, mqs.Maybe[int32]{}}, 1 << 40: {true, true, mqs.Maybe[int32]{}},
		1: {false, true, mqs.Maybe[int32]{}}, 1<<32 | 1: {true, false, mqs.Maybe[int32]{}}} {
		tags.IsRankBeside = c.isRank
		m := transport.Message{Beside: mqs.Maybe[uint64]{Value: value, Known: c.isSent}}
		if got := tags.Message(&reversed, &m, false); got.ActualLocalRank != c.want || got.DesiredLocalRank != c.want || got.ActualGlobalRank.Known != c.want.Known {
			t.Errorf("a message with %d beside the tag: %+v", value, got)
		}
	}
	tags.IsRankBeside = true
	if got := tags.Message(&reversed, &transport.Message{Peer: transport.Peer{Value: 8, Known: true}, Beside: mqs.Known[uint64](2)}, false); got.ActualLocalRank != one {
		t.Errorf("a message from a known peer: %+v", got)
	}
	stands := mqs.Known[uint64](2)
	if got := tags.Receive(&reversed, &transport.Receive{Request: transport.Request{State: transport.Matched}, Mask: fullMask, Beside: stands, SenderBeside: stands}); got.DesiredLocalRank != mqs.Known[int32](2) || got.ActualLocalRank != mqs.Known[int32](2) {
		t.Errorf("a receive of what has a rank beside the tag: %+v", got)
	}
	if got := beside.Receive(&reversed, &transport.Receive{Mask: fullMask, Beside: stands}); got.DesiredLocalRank != anyRank {
		t.Errorf("a receive of what has no rank beside the tag: %+v", got)
	}
	if got := beside.Receive(&reversed, &transport.Receive{Mask: fullMask, Peer: transport.Peer{Value: 99, Known: true}}); got.DesiredLocalRank.Known || got.DesiredGlobalRank.Known {
		t.Errorf("from nobody that is known: %+v", got)
	}
}

func TestMessage(t *testing.T) {
	local, global := ranks(2)
	arrived := mqs.PendingOperation{Status: mqs.Pending, DesiredLocalRank: local, DesiredGlobalRank: global, TagWild: mqs.Known(false), DesiredTag: mqs.Known[int32](4), DesiredLength: mqs.Known[int64](6)}
	arrived.SetActual()
	for name, c := range map[string]struct {
		change  func(m *transport.Message)
		isTaken bool
		want    func(op *mqs.PendingOperation)
	}{
		"eager": {func(m *transport.Message) { m.Data = 0x100 }, false, func(op *mqs.PendingOperation) {
			op.ExtraText, op.SystemBuffer, op.Buffer = []string{mqs.Eager}, mqs.Known(true), mqs.Known(inferior.Addr(0x100))
		}},
		"eager, somewhere": {func(*transport.Message) {}, false, func(op *mqs.PendingOperation) { op.ExtraText = []string{mqs.Eager} }},
		"rendezvous": {func(m *transport.Message) { m.Rendezvous, m.Sender = true, 77 }, false, func(op *mqs.PendingOperation) {
			op.ExtraText, op.MessageID = []string{mqs.Rendezvous}, mqs.Known[uint64](77)
		}},
		"taken": {func(m *transport.Message) { m.Data = 0x100 }, true, func(op *mqs.PendingOperation) {
			op.Status, op.ExtraText = mqs.Matched, []string{mqs.TakenByProbe}
		}},
		"of no known length": {func(m *transport.Message) { m.Length = -1 }, false, func(op *mqs.PendingOperation) {
			op.ExtraText, op.DesiredLength, op.ActualLength = []string{mqs.Eager}, mqs.Maybe[int64]{}, mqs.Maybe[int64]{}
		}},
	} {
		m := transport.Message{Tag: tagOf(5, 2, 4), Peer: transport.Peer{Value: 9, Known: true}, Length: 6}
		c.change(&m)
		want := arrived
		c.want(&want)
		for _, tags := range []*transport.Tags{&inTag, &beside} {
			if got := tags.Message(&reversed, &m, c.isTaken); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
}
