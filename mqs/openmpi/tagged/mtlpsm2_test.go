package tagged

import (
	"errors"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	"github.com/mpi-queues/mpi-queues/mqs/transport/psm"
)

// overPSM2 is a recorded process over PSM2, whose memory can be changed.
type overPSM2 struct {
	*inferiortest.Patched
	t *testing.T
	m *psm2Matcher
}

func recordedOverPSM2(t *testing.T, name string) *overPSM2 {
	t.Helper()
	of := inferiortest.Patch(inferiortest.Recorded(t, "openmpi-4.1.4-psm2/"+name))
	_, all := openOf(t, of)
	return &overPSM2{of, t, all.matcher.(*psm2Matcher)}
}

// posted is the only posted receive.
func (o *overPSM2) posted() psm.Found {
	o.t.Helper()
	all, err := o.m.mq.Posted()
	if err != nil || len(all) != 1 {
		o.t.Fatalf("%d receives, %v", len(all), err)
	}
	return all[0]
}

// put changes a member of a request.
func (o *overPSM2) put(at inferior.Ptr[psm.Request], member func(*psm.Request) *uint32, v uint32) {
	o.t.Helper()
	offset, ok := inferior.OffsetOf(&o.m.mq.Request, member)
	if !ok {
		o.t.Fatal("there is no such member")
	}
	o.PutUint32(at.Addr()+offset, v)
}

// match takes the only posted receive out of its list: a message has come.
func (o *overPSM2) match() psm.Found {
	o.t.Helper()
	r := o.posted()
	kinds := inferior.SizeOf(&o.m.mq.Request, func(r *psm.Request) *inferior.Embedded[inferior.Ptr[psm.Queue]] { return &r.In }) / 8
	o.PutPointer(r.In.Addr()+inferior.Addr(8*(kinds-1)), 0)
	list := inferior.Places(&o.m.mq.Queues, o.m.of.module.MQ).Posted.Addr()
	o.PutPointer(list, 0).PutPointer(list+8, 0)
	count, _ := inferior.OffsetOf(&o.m.mq.Queues, func(q *psm.Queues) *uint32 { return &q.ListCount })
	o.PutUint32(o.m.Addr()+count, 0)
	o.put(r.At, func(r *psm.Request) *uint32 { return &r.State }, psm.Matched)
	o.put(r.At, func(r *psm.Request) *uint32 { return &r.Length }, 12)
	return r
}

// A blocking receive that has matched knows its message, and not what it asked for: that may be a former user's.
func TestPSM2Matched(t *testing.T) {
	o := recordedOverPSM2(t, "recv-rank-0")
	r := o.match()
	q, all := openOf(t, o)
	matched := all.matcher.Queues().Matched
	if len(matched) != 1 || len(all.matcher.Queues().Posted) != 0 {
		t.Fatalf("%+v", all.matcher.Queues())
	}
	if got := matched[0]; !got.AskLost || got.SenderTag != uint64(r.More)<<32|uint64(r.Low) || got.SenderBeside != mqs.Known(uint64(r.High)) || got.Received != 12 || got.State != transport.Matched {
		t.Errorf("%+v", got)
	}
	operations, err := ompitest.Operations(q, ompitest.Comm(t, q.Process, "MPI_COMM_WORLD"), mqs.PendingReceives)
	if err != nil || len(operations) != 1 {
		t.Fatalf("%+v, %v", operations, err)
	}
	op := operations[0]
	if op.Kind != "recv" || op.Status != mqs.Matched || op.DesiredTag.Known || op.ActualTag != mqs.Known(int32(r.Low)) ||
		op.ActualLocalRank != mqs.Known(int32(r.High)) || op.ActualLength != mqs.Known[int64](12) {
		t.Errorf("%+v", op)
	}
	o.put(r.At, func(r *psm.Request) *uint32 { return &r.Error }, 1)
	if _, all := openOf(t, o); all.matcher.Queues().Matched[0].Received != -1 {
		t.Errorf("a message that is cut has a length: %+v", all.matcher.Queues().Matched)
	}
}

// What does not lead back to the mtl's request, or compares what the mtl does not, is not believed.
func TestPSM2Proofs(t *testing.T) {
	for says, member := range map[string]func(*psm.Request) *uint32{
		"and the mtl's at":    func(r *psm.Request) *uint32 { return &r.Capacity },
		"compares other bits": func(r *psm.Request) *uint32 { return &r.SelLow },
		"has state 7":         func(r *psm.Request) *uint32 { return &r.State },
	} {
		o := recordedOverPSM2(t, "recv-rank-0")
		o.put(o.posted().At, member, 7)
		p, q := ompitest.MustOpen(t, o, Components...)
		_, err := ompitest.Operations(q, ompitest.Comm(t, p, "MPI_COMM_WORLD"), mqs.PendingReceives)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// TestPSM2Module checks that a module of mtl psm2 is refused that has no endpoint, or another one than its queues belong to.
func TestPSM2Module(t *testing.T) {
	for says, endpoint := range map[string]inferior.Addr{"the module has no endpoint": 0, "and the mtl's is 0x10": 0x10} {
		o := recordedOverPSM2(t, "recv-rank-0")
		symbols, err := o.m.of.R.Symbols("ompi_mtl_psm2")
		if err != nil {
			t.Fatal(err)
		}
		o.PutPointer(memberAt(t, &o.m.of.Module, inferior.Ptr[psm2Module](symbols["ompi_mtl_psm2"].Addr), func(m *psm2Module) *inferior.Addr { return &m.PSM }), endpoint)
		p, q := ompitest.MustOpen(t, o, Components...)
		if _, err := ompitest.Operations(q, ompitest.Comm(t, p, "MPI_COMM_WORLD"), mqs.PendingReceives); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// A blocking send is the only call's that sends and holds it; without such a call its kind is not known.
func TestPSM2BlockingSend(t *testing.T) {
	o := recordedOverPSM2(t, "ssend-rank-1")
	sends := o.m.Queues().Sends
	if len(sends) != 1 || !sends[0].OfCall || sends[0].Peer.Known || sends[0].ID != uint64(sends[0].Addr) {
		t.Fatalf("%+v", sends)
	}
	q, all := openOf(t, o)
	world := ompitest.Comm(t, q.Process, "MPI_COMM_WORLD")
	held := all.sends[world.Model.UniqueID]
	if len(held) != 1 {
		t.Fatalf("%+v", held)
	}
	if got := q.describeSend(world.Model, &held[0]); got.Kind != "ssend" || got.DesiredLocalRank.Known {
		t.Errorf("%+v", got)
	}
	calls, err := q.Calls()
	if err != nil || len(calls) != 1 {
		t.Fatalf("%d calls, %v", len(calls), err)
	}
	receiving := calls[0]
	receiving.Function = "MPI_Recv"
	for name, c := range map[string]struct {
		calls  []callstack.Call
		isHeld bool
	}{
		"one":          {[]callstack.Call{calls[0], receiving}, true},
		"two":          {[]callstack.Call{calls[0], calls[0]}, false},
		"none":         {nil, false},
		"none that is": {[]callstack.Call{receiving}, false},
	} {
		if of := (&owners{calls: c.calls}).holder(&sends[0]); (of != nil) != c.isHeld {
			t.Errorf("%s: %+v", name, of)
		}
	}
	alone := held[0]
	alone.call = nil
	if got := q.describeSend(world.Model, &alone).Kind; got != callstack.KindNotKnown {
		t.Errorf("a call that is not known made it by %q", got)
	}
}

// A message that MPI_Mprobe has taken is there until it is received.
func TestPSM2Taken(t *testing.T) {
	o := recordedOverPSM2(t, "requests-rank-0")
	q, all := openOf(t, o)
	seen := 0
	for _, list := range all.unexpected {
		for _, m := range list {
			if _, err := o.m.MessageAt(m.Addr); (err == nil) != m.isTaken || err != nil && !errors.Is(err, transport.ErrNoMessage) {
				t.Errorf("%+v: %v", m, err)
			}
			if !m.isTaken {
				continue
			}
			seen++
			o.put(inferior.Ptr[psm.Request](m.Addr), func(r *psm.Request) *uint32 { return &r.State }, psm.Posted)
		}
	}
	if seen != 1 || q.Process == nil {
		t.Fatalf("%d messages are taken", seen)
	}
	if _, all := openOf(t, o); len(all.unexpected) == 0 {
		t.Error("there is no message any more")
	} else {
		for _, list := range all.unexpected {
			for _, m := range list {
				if m.isTaken {
					t.Errorf("it was received: %+v", m)
				}
			}
		}
	}
}
