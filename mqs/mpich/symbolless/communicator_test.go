package symbolless

import (
	"context"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/ch4"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// tags has a context, a rank and a tag of 16 bits each.
var tags = transport.Tags{
	Context: transport.Bits{Shift: 32, Width: 16}, Rank: transport.Bits{Shift: 16, Width: 16}, Tag: transport.Bits{Width: 16}, AnyTag: 0xffff,
	IsInternal: func(e transport.Envelope) bool { return e.Context&mpir.ContextOwn != 0 },
}

func tagOf(context, rank, tag uint64) uint64 { return context<<32 | rank<<16 | tag }

// network is a network library's name, and no more.
type network struct{ transport.Transport }

func (network) Name() string { return "a network" }

// holding is a process that has requests and messages in its network library, of which nothing else can be read.
func holding(n ch4.Network) *Source {
	n.Tags, n.Transport = &tags, network{}
	s := &Source{r: inferior.NewReader(context.Background(), inferiortest.New()), network: &n}
	s.attribute()
	return s
}

// What has a communicator's context in its tag is on it, be it on a part of it that the library has made; what a
// receive was for is in the message that it got.
func TestAttribute(t *testing.T) {
	s := holding(ch4.Network{
		Receives: []transport.Receive{
			{Tag: tagOf(0x10, 0, 1)}, {Tag: tagOf(0x11, 0, 2)},
			{Request: transport.Request{State: transport.Complete}, Tag: tagOf(0x90, 0, 3), SenderTag: tagOf(0x20, 0, 3)},
			{Request: transport.Request{State: transport.Complete}, Tag: tagOf(0x20, 0, 4), SenderTag: tagOf(0x90, 0, 3), Cancelled: true},
		},
		Unexpected: []transport.Message{{Tag: tagOf(0x10, 0, 5)}, {Tag: tagOf(0x30, 0, 6)}},
		Sends:      []transport.Send{{Tag: tagOf(0x10, 1, 7)}, {Tag: tagOf(0x40, 1, 8), ID: 1}, {Tag: tagOf(0x50, 1, 9)}, {Tag: tagOf(0x10, 1, 9), TagLost: true, ID: 1}},
	})
	counts := map[inferior.Addr][3]int{}
	for id, c := range s.comms {
		counts[id] = [3]int{len(c.sends), len(c.receives), len(c.unexpected)}
	}
	want := map[inferior.Addr][3]int{worldContext: {}, 0x10: {1, 2, 1}, 0x20: {0, 2, 0}, 0x30: {0, 0, 1}, 0x40: {1, 0, 0}}
	for id, n := range want {
		if counts[id] != n {
			t.Errorf("%s has %v, want %v", id, counts[id], n)
		}
	}
	if len(counts) != len(want) || s.lost != 2 {
		t.Errorf("%v, and %d sends are lost", counts, s.lost)
	}
	var ids []inferior.Addr
	for c, err := range s.Communicators() {
		if err != nil {
			t.Error(err)
		}
		ids = append(ids, c.UniqueID)
	}
	if len(ids) != len(want) || ids[0] != worldContext || ids[len(ids)-1] != 0x40 {
		t.Errorf("they are %v", ids)
	}
}

// The rank of this process is in its sends. These may be on an intercommunicator, of which the other side has
// the context, unless that is MPI_COMM_WORLD's: then what else has the context is on another communicator.
func TestModel(t *testing.T) {
	send := transport.Send{Tag: tagOf(0, 2, 7), ID: 1}
	receive := transport.Receive{Tag: tagOf(0, 0, 7)}
	on := func(context uint64, n ch4.Network) *Source {
		for i := range n.Sends {
			n.Sends[i].Tag |= tagOf(context, 0, 0)
		}
		for i := range n.Receives {
			n.Receives[i].Tag |= tagOf(context, 0, 0)
		}
		return holding(n)
	}
	for _, c := range []struct {
		context uint64
		n       ch4.Network
		rank    mqs.Maybe[int32]
		name    string
	}{
		{worldContext, ch4.Network{Sends: []transport.Send{send}, Receives: []transport.Receive{receive}}, mqs.Known[int32](2), "MPI_COMM_WORLD"},
		{0x10, ch4.Network{Sends: []transport.Send{send}}, mqs.Known[int32](2), "context 0x10"},
		{0x10, ch4.Network{Sends: []transport.Send{send}, Receives: []transport.Receive{receive}}, mqs.Maybe[int32]{}, "context 0x10"},
	} {
		if got := on(c.context, c.n).model(inferior.Addr(c.context)); got.LocalRank != c.rank || got.Name != mqs.Known(c.name) || got.Inter.Known != (c.context == worldContext) {
			t.Errorf("%#x: %+v", c.context, got)
		}
	}
}
