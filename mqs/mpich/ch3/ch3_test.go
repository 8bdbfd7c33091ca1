package ch3

import (
	"context"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

var field = inferiortest.Field

// over is a device of a made-up process, of which nothing is bound.
func over(p *inferiortest.Process) *Device {
	return &Device{lib: &mpir.Library{Reader: inferior.NewReader(context.Background(), p), Symbols: p.Found()}}
}

// bind binds the types of a made-up process.
func bind(t *testing.T, p *inferiortest.Process, structs any) {
	t.Helper()
	if err := inferior.Bind(structs, layout.FromDWARF(p.Types)); err != nil {
		t.Fatal(err)
	}
}

// made is a process that has one request at 0x1000, as its member says it.
func made(t *testing.T, q dev) (*Device, *mpir.Operation) {
	t.Helper()
	p := inferiortest.New()
	p.Types["MPIR_Request"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{
		"dev.match.parts.rank": field(0, 4, layout.KindSigned), "dev.match.parts.tag": field(4, 4, layout.KindSigned), "dev.match.parts.context_id": field(8, 4, layout.KindUnsigned),
		"dev.datatype": field(12, 4, layout.KindSigned), "dev.user_buf": field(16, 8, layout.KindPointer), "dev.user_count": field(24, 8, layout.KindSigned),
		"dev.state": field(32, 4, layout.KindUnsigned), "dev.tmpbuf": field(40, 8, layout.KindPointer)}}
	p.PutUint32(0x1000, uint32(q.Rank), uint32(q.Tag), q.Context, q.Datatype)
	p.PutUint64(0x1010, uint64(q.Buffer), uint64(q.Count), uint64(q.State), uint64(q.Tmpbuf))
	d := over(p)
	bind(t, p, &d.c)
	return d, &mpir.Operation{At: 0x1000}
}

// A receive keeps what was asked for, unless its message was there first: that has no wildcards.
func TestReceive(t *testing.T) {
	comm := &mpir.Communicator{Comm: mpir.Comm{Context: 3, RecvContext: 5}}
	const cancelled = 1
	for name, c := range map[string]struct {
		q          dev
		isPending  bool
		cancelled  uint32
		isEnvelope bool // that of the message
	}{
		"pending":                  {dev{Rank: 2, Tag: 7, Context: 5}, true, 0, false},
		"it may be the message's":  {dev{Rank: 2, Tag: 7, Context: 5}, false, 0, true},
		"from any source":          {dev{Rank: -2, Tag: 7, Context: 5}, false, 0, false},
		"of any tag":               {dev{Rank: 2, Tag: -1, Context: 5}, false, 0, false},
		"cancelled, of a constant": {dev{Rank: 2, Tag: 7, Context: 5}, false, cancelled, false},
	} {
		d, r := made(t, c.q)
		r.CountHi = c.cancelled
		got := d.Receive(r, comm, c.isPending)
		if got.Peer.Known == c.isEnvelope || got.Tag.Known == c.isEnvelope || got.Kind != "irecv" || got.Context != mqs.Known[uint32](0) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The kind of an operation is in its state.
func TestKinds(t *testing.T) {
	for state, want := range map[uint32][2]string{1 << 4: {"isend", "send_init"}, 3<<4 | 1: {"issend", "ssend_init"}, 63 << 4: {}} {
		d, r := made(t, dev{State: state, Context: 4})
		once, again := d.Send(r, &mpir.Communicator{Comm: mpir.Comm{Context: 3}}, ""), d.Persistent(r)
		if got := [2]string{once.Kind, again.Kind}; got != want || once.Context != mqs.Known[uint32](mpir.ContextCollective) {
			t.Errorf("state %#x: %q, want %q; its context is %+v", state, got, want, once.Context)
		}
	}
}

// The data of an eager message is in the library's buffer, if it has any; that of a rendezvous is with the sender.
func TestArrived(t *testing.T) {
	for _, c := range []struct {
		state, bytes uint32
		protocol     string
		buffer       inferior.Addr
	}{{stateEager, 8, mqs.Eager, 0x40}, {stateEager, 0, mqs.Eager, 0}, {stateRendezvous, 8, mqs.Rendezvous, 0}, {0, 8, "", 0}} {
		d, r := made(t, dev{Rank: 1, Tag: 7 | mpir.TagErrorBits, Context: 4, State: c.state, Tmpbuf: 0x40})
		r.CountLo = c.bytes
		want := mpir.Message{Source: mqs.Known[int32](1), Tag: 7, Bytes: mqs.Known(int64(c.bytes)), Context: 4, Buffer: c.buffer, Protocol: c.protocol}
		if got := d.Arrived(r); got != want || d.Taken(r, nil) != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// The count of requests that are over goes round at 32 bits.
func TestProgress(t *testing.T) {
	p := inferiortest.New()
	p.PutUint32(0x1000, 1<<31)
	p.Types["MPL_atomic_int_t"] = &layout.Layout{Size: 4, Fields: map[string]layout.Field{"v": field(0, 4, layout.KindSigned)}}
	p.Types["MPIR_Request"] = &layout.Layout{Size: 4, Fields: map[string]layout.Field{}}
	if got := over(p).Progress(); got.Known {
		t.Errorf("without the symbol: %+v", got)
	}
	p.Symbols[symCompleted] = &inferior.Symbol{Addr: 0x1000}
	d := over(p)
	_ = inferior.Bind(&d.c, layout.FromDWARF(p.Types)) // which lacks members of requests
	if got := d.Progress(); got != mqs.Known[uint64](1<<31) {
		t.Errorf("%+v", got)
	}
}
