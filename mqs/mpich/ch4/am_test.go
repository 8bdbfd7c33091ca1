package ch4

import (
	"context"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// requests is a process with requests laid out as those of a recorded one are.
type requests struct {
	t *testing.T
	*inferiortest.Process
}

func newRequests(t *testing.T) *requests {
	t.Helper()
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch4-debug/queues-rank-0")
	names := inferior.Queries(&types{})
	found, err := tg.FindTypes(context.Background(), names)
	if err != nil {
		t.Fatal(err)
	}
	p := &requests{t, inferiortest.New()}
	for i, l := range found {
		p.Types[names[i].Name] = l
	}
	return p
}

// set gives a member of a type a value.
func (p *requests) set(at inferior.Addr, name, path string, value uint64) {
	p.t.Helper()
	f, ok := p.Types[name].Fields[path]
	if !ok {
		p.t.Fatalf("no %s.%s", name, path)
	}
	p.Put(at+inferior.Addr(f.Offset), p.Order().AppendUint64(nil, value)[:f.Size])
}

// request makes one with some members of MPIR_Request.dev.
func (p *requests) request(at inferior.Addr, members map[string]uint64) {
	p.t.Helper()
	p.Put(at, make([]byte, p.Types["MPIR_Request"].Size))
	for path, value := range members {
		p.set(at, "MPIR_Request", "dev."+path, value)
	}
}

func (p *requests) device() *Device {
	p.t.Helper()
	d := over(p.Process)
	if err := inferior.Bind(&d.c, d.lib.Layouts); err != nil {
		p.t.Fatal(err)
	}
	return d
}

// The netmod's half of a receive from any source is no operation of its own.
func TestIsPartner(t *testing.T) {
	const netmods, shared, other = 0x1000, 0x2000, 0x3000
	partner := "anysrc_partner"
	p := newRequests(t)
	if _, ok := p.Types["MPIR_Request"].Fields["dev."+partner]; !ok {
		partner = "anysource_partner_request"
	}
	p.request(netmods, map[string]uint64{partner: shared})
	p.request(shared, map[string]uint64{partner: netmods, "is_local": 1})
	p.request(other, map[string]uint64{partner: shared})
	d := p.device()
	for name, c := range map[string]struct {
		r    mpir.Operation
		want bool
	}{
		"the netmod's half":        {mpir.Operation{At: netmods, Request: mpir.Request{Kind: mpir.KindRecv}}, true},
		"shared memory's half":     {mpir.Operation{At: shared, Request: mpir.Request{Kind: mpir.KindRecv}}, false},
		"one with another partner": {mpir.Operation{At: other, Request: mpir.Request{Kind: mpir.KindRecv}}, false},
		"one in a list":            {mpir.Operation{At: netmods, Request: mpir.Request{Kind: mpir.KindRecv}, IsPosted: true}, false},
		"a send":                   {mpir.Operation{At: netmods, Request: mpir.Request{Kind: mpir.KindSend}}, false},
	} {
		if got := d.IsPartner(&c.r); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Only a rendezvous is known to have set all of what its request says, and of debugger support's library each
// send whose request is in its queue, or in a call. A complete send's type may have been freed.
func TestSend(t *testing.T) {
	const at, isLocal, derived = 0x1000, 1, 0x8c000002
	world := &mpir.Communicator{Comm: mpir.Comm{LocalSize: 3}}
	noted := &mpir.SendqEntry{Rank: 2, Tag: 7}
	for name, c := range map[string]struct {
		r                   mpir.Operation
		sendq               mpir.Sendq
		blocking            string
		dev                 map[string]uint64
		hasDest, hasData    bool
		hasTag, hasDatatype bool
		kind                string
	}{
		"eager":                            {mpir.Operation{Request: mpir.Request{Pending: 1}}, mpir.Sendq{}, "", nil, false, false, false, false, ""},
		"synchronous":                      {mpir.Operation{Request: mpir.Request{Pending: 2}}, mpir.Sendq{}, "", nil, true, true, false, true, "issend"},
		"blocking":                         {mpir.Operation{Request: mpir.Request{Pending: 1}}, mpir.Sendq{}, "send", nil, true, true, false, true, ""},
		"blocking, put aside":              {mpir.Operation{Request: mpir.Request{Pending: 1}}, mpir.Sendq{}, "send", map[string]uint64{"ch4.am.shm_am.posix.req_hdr": 0x40}, false, false, false, false, ""},
		"noted":                            {mpir.Operation{Request: mpir.Request{Pending: 1}, Noted: noted}, mpir.Sendq{IsKept: true}, "", nil, true, true, true, true, ""},
		"noted, complete":                  {mpir.Operation{Noted: noted}, mpir.Sendq{IsKept: true}, "", nil, true, true, true, false, ""},
		"noted, complete, of MPI's types":  {mpir.Operation{Noted: noted}, mpir.Sendq{IsKept: true}, "", map[string]uint64{"ch4.am.datatype": 0x4c000405}, true, true, true, true, ""},
		"noted, with the netmod":           {mpir.Operation{Request: mpir.Request{Pending: 1}, Noted: noted}, mpir.Sendq{IsKept: true}, "", map[string]uint64{"is_local": 0}, true, false, true, false, ""},
		"in a call, with debugger support": {mpir.Operation{Request: mpir.Request{Pending: 1}}, mpir.Sendq{IsKept: true}, "rsend", nil, false, true, false, true, ""},
		"started by a persistent one":      {mpir.Operation{Request: mpir.Request{Pending: 2}, Owner: &mpir.Operation{}}, mpir.Sendq{}, "", nil, false, false, false, false, ""},
	} {
		p := newRequests(t)
		if _, ok := p.Types["MPIR_Request"].Fields["dev.ch4.am.shm_am.posix.req_hdr"]; !ok {
			t.Fatal("the types do not tell of room in shared memory")
		}
		p.request(at, map[string]uint64{"is_local": isLocal, "ch4.am.buffer": 0x80, "ch4.am.count": 3, "ch4.am.datatype": derived, "ch4.am.u.send.dest": 2})
		for path, value := range c.dev {
			p.set(at, "MPIR_Request", "dev."+path, value)
		}
		d := p.device()
		d.lib.Sendq = c.sendq
		c.r.At = at
		got := d.Send(&c.r, world, c.blocking)
		if got.Peer != (mqs.Maybe[int32]{Value: 2 * b2i(c.hasDest), Known: c.hasDest}) || got.Buffer.Known != c.hasData || got.Tag.Known != c.hasTag || got.Datatype.Known != c.hasDatatype || got.Kind != c.kind {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func b2i(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// What the debugger's queue would add is said where the library keeps none.
func TestUnknownSends(t *testing.T) {
	d := over(inferiortest.New())
	without := d.UnknownSends()
	d.lib.Sendq.IsKept = true
	if with := d.UnknownSends(); !strings.HasPrefix(without, with) || !strings.Contains(without, "--enable-debuginfo") || strings.Contains(with, "--enable-debuginfo") {
		t.Errorf("%q, and with debugger support %q", without, with)
	}
}

// A receive keeps what was asked for until a message comes: then that has taken its place. What the netmod has
// is not known.
func TestReceive(t *testing.T) {
	const at, am = 0x1000, 0x2000
	world := &mpir.Communicator{Comm: mpir.Comm{LocalSize: 3, RecvContext: 4}}
	for name, c := range map[string]struct {
		r                mpir.Operation
		isLocal          uint64
		status           uint64
		isAsked, hasData bool
		isMatched        bool
	}{
		"posted":            {mpir.Operation{Request: mpir.Request{Pending: 1}, IsPosted: true}, 0, 0, true, true, false},
		"in shared memory":  {mpir.Operation{Request: mpir.Request{Pending: 1}}, 1, 0, true, true, false},
		"matched":           {mpir.Operation{Request: mpir.Request{Pending: 1}}, 1, activeInProgress, false, true, true},
		"with the netmod":   {mpir.Operation{Request: mpir.Request{Pending: 1}}, 0, activeInProgress, false, false, false},
		"complete":          {mpir.Operation{}, 1, activeInProgress, false, false, true},
		"cancelled":         {mpir.Operation{Request: mpir.Request{CountHi: 1}}, 1, 0, true, true, false},
		"cancelled, netmod": {mpir.Operation{Request: mpir.Request{CountHi: 1}}, 0, 0, false, false, false},
	} {
		p := newRequests(t)
		p.request(at, map[string]uint64{"is_local": c.isLocal, "ch4.am.req": am, "ch4.am.buffer": 0x80, "ch4.am.count": 3, "ch4.am.datatype": 0x4c000405,
			"ch4.am.u.recv.source": 2, "ch4.am.u.recv.tag": 7, "ch4.am.u.recv.context_id": 4})
		p.Put(am, make([]byte, p.Types["MPIDIG_req_ext_t"].Size))
		p.set(am, "MPIDIG_req_ext_t", "status", c.status)
		p.set(am, "MPIDIG_req_ext_t", "recv_async.in_data_sz", 12)
		d := p.device()
		c.r.At = at
		m, isMatched := d.Matched(&c.r)
		if isMatched != c.isMatched || isMatched && m != (mpir.Message{Source: mqs.Known[int32](2), Tag: 7, Bytes: mqs.Known[int64](12)}) || (len(d.lib.Remarks.Sentences()) == 0) != isMatched {
			t.Errorf("%s: it has matched %+v, %t; remarks %q", name, m, isMatched, d.lib.Remarks.Sentences())
		}
		got := d.Receive(&c.r, world, c.r.IsPosted || !isMatched && !c.r.IsComplete())
		if got.Kind != "irecv" || got.Peer.Known != c.isAsked || got.Tag.Known != c.isAsked || got.Buffer.Known != c.hasData {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A send that is too long to be eager has noted its peer, where the size of a cell in shared memory is known.
func TestEagerLimit(t *testing.T) {
	const at, cell, bytes = 0x1000, 0x2000, 12
	world := &mpir.Communicator{Comm: mpir.Comm{LocalSize: 3}}
	for name, c := range map[string]struct {
		limit    int32
		isKnown  bool
		datatype uint64
		pending  int32
		want     bool
	}{
		"longer than a cell":         {bytes - 1, true, 0x4c000405, 1, true},
		"as long as a cell":          {bytes, true, 0x4c000405, 1, false},
		"shorter than a cell":        {bytes + 1, true, 0x4c000405, 1, false},
		"longer, and complete":       {bytes - 1, true, 0x4c000405, 0, false},
		"of a length that is hidden": {bytes - 1, true, 0x0c000000, 1, false},
		"of cells that are none":     {0, true, 0x4c000405, 1, false},
		"of cells below none":        {-1, true, 0x4c000405, 1, false},
		"of cells that are hidden":   {bytes - 1, false, 0x4c000405, 1, false},
	} {
		p := newRequests(t)
		p.request(at, map[string]uint64{"is_local": 1, "ch4.am.buffer": 0x80, "ch4.am.count": 3, "ch4.am.datatype": c.datatype, "ch4.am.u.send.dest": 2})
		p.PutUint32(cell, uint32(c.limit))
		if c.isKnown {
			p.Symbols[symCellSize] = &inferior.Symbol{Addr: cell}
		}
		d := p.device()
		d.lib.Sendq.IsKept = true
		if got := d.Send(&mpir.Operation{At: at, Request: mpir.Request{Pending: c.pending}}, world, "rsend"); got.Peer.Known != c.want || !got.Buffer.Known {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A persistent request keeps what it asks for, and its kind if that is one that there is.
func TestPersistent(t *testing.T) {
	const at = 0x1000
	for kind, want := range map[uint64]string{0: "recv_init", 1: "send_init", 2: "bsend_init", 3: "ssend_init", 4: ""} {
		p := newRequests(t)
		p.request(at, map[string]uint64{"ch4.preq.p_type": kind, "ch4.preq.rank": 2, "ch4.preq.tag": 7, "ch4.preq.buffer": 0x80, "ch4.preq.count": 3, "ch4.preq.datatype": 0x4c000405})
		all := mpir.Arguments{Peer: mqs.Known[int32](2), Tag: mqs.Known[int32](7), Kind: want}.WithBuffer(0x80, 3, 0x4c000405)
		if got := p.device().Persistent(&mpir.Operation{At: at}); got != all {
			t.Errorf("%d: %+v, want %+v", kind, got, all)
		}
	}
	if got := newRequests(t).device().Persistent(&mpir.Operation{At: 0x9000_0000}); got != (mpir.Arguments{}) {
		t.Errorf("what can't be read is %+v", got)
	}
}

// A message that has arrived is eager, or only its envelope has been sent.
func TestArrived(t *testing.T) {
	const at, am = 0x1000, 0x2000
	for name, c := range map[string]struct {
		active uint64
		status uint64
		buffer inferior.Addr
		want   string
	}{
		"eager": {am, activeInProgress, 0x80, mqs.Eager}, "a rendezvous": {am, activeInProgress | activeRendezvous, 0, mqs.Rendezvous}, "of which no more is known": {0x9000_0000, 0, 0x80, ""},
	} {
		p := newRequests(t)
		p.request(at, map[string]uint64{"ch4.am.req": c.active, "ch4.am.buffer": 0x80, "ch4.am.count": 12, "ch4.am.u.recv.source": 2, "ch4.am.u.recv.tag": 7 | mpir.TagErrorBits, "ch4.am.u.recv.context_id": 4})
		p.Put(am, make([]byte, p.Types["MPIDIG_req_ext_t"].Size))
		p.set(am, "MPIDIG_req_ext_t", "status", c.status)
		want := mpir.Message{Source: mqs.Known[int32](2), Tag: 7, Bytes: mqs.Known[int64](12), Context: 4, Buffer: c.buffer, Protocol: c.want}
		if got := p.device().Arrived(&mpir.Operation{At: at}); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got := newRequests(t).device().Arrived(&mpir.Operation{At: 0x9000_0000}); got != (mpir.Message{IsLost: true}) {
		t.Errorf("what can't be read is %+v", got)
	}
}

// Nothing is known of a message that MPI_Mprobe has taken out of a network library that can't be read.
func TestTaken(t *testing.T) {
	p := newRequests(t)
	p.request(0x1000, map[string]uint64{"is_local": 0})
	p.request(0x2000, map[string]uint64{"is_local": 1, "ch4.am.u.recv.source": 2, "ch4.am.u.recv.tag": 7})
	d, c := p.device(), &mpir.Communicator{Model: &mqs.Communicator{}}
	for at, isLost := range map[inferior.Addr]bool{0x1000: true, 0x2000: false, 0x9000_0000: true} {
		if m := d.Taken(&mpir.Operation{At: inferior.Ptr[mpir.Request](at)}, c); m.IsLost != isLost || !isLost && (m.Source != mqs.Known[int32](2) || m.Tag != 7) {
			t.Errorf("%s: %+v", at, m)
		}
	}
}
