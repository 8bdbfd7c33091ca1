package ch4

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// A message's own request has the data's place of the receive that has matched it, and is no receive itself.
func TestCarriers(t *testing.T) {
	const program, message, other, alone = 0x1000, 0x2000, 0x3000, 0x4000
	p := newRequests(t)
	ext := *p.Types["MPIDIG_req_ext_t"]
	ext.Fields = map[string]layout.Field{"status": ext.Fields["status"], "recv_async.in_data_sz": ext.Fields["recv_async.in_data_sz"],
		"rreq.match_req": {Offset: ext.Size, Size: 8, Kind: layout.KindPointer}}
	ext.Size += 8
	p.Types["MPIDIG_req_ext_t"] = &ext
	extension := func(at inferior.Addr, status, bytes, match uint64) uint64 {
		p.Put(at, make([]byte, ext.Size))
		p.set(at, "MPIDIG_req_ext_t", "status", status)
		p.set(at, "MPIDIG_req_ext_t", "recv_async.in_data_sz", bytes)
		p.set(at, "MPIDIG_req_ext_t", "rreq.match_req", match)
		return uint64(at)
	}
	p.request(program, map[string]uint64{"is_local": 1, "ch4.am.req": extension(0x10000, activeInProgress, 0, 0)})
	p.request(message, map[string]uint64{"is_local": 1, "ch4.am.req": extension(0x11000, activeInProgress|activeMatched, 12, program),
		"ch4.am.buffer": 0x40, "ch4.am.count": 3, "ch4.am.datatype": 0x4c000405, "ch4.am.u.recv.tag": 7})
	p.request(other, map[string]uint64{"is_local": 1, "ch4.am.req": extension(0x12000, activeInProgress, 8, program)}) // which no receive has matched
	p.request(alone, map[string]uint64{"is_local": 1, "ch4.am.req": extension(0x13000, activeMatched, 8, 0x9000)})     // whose receive is gone
	d := p.device()
	requests := map[inferior.Ptr[mpir.Request]]*mpir.Operation{}
	for _, at := range []inferior.Ptr[mpir.Request]{program, message, other, alone} {
		requests[at] = &mpir.Operation{At: at, Request: mpir.Request{Kind: mpir.KindRecv, Pending: 1, Comm: 0x100}}
	}
	d.Join(requests, nil, nil)
	for at, want := range map[inferior.Ptr[mpir.Request]]bool{program: false, message: true, other: false, alone: false} {
		if got := d.IsPartner(requests[at]); got != want {
			t.Errorf("the request at %s is none of the program's: %t", at, got)
		}
	}
	got := d.Receive(requests[program], comm(0x100, 2, 2), false)
	if m, ok := d.Matched(requests[program]); !ok || m.Tag != 7 || m.Bytes != mqs.Known[int64](12) || got.Buffer != mqs.Known(inferior.Addr(0x40)) || got.Count != mqs.Known[int64](3) || got.Datatype != mqs.Known[uint32](0x4c000405) {
		t.Errorf("%+v, %+v", got, m)
	}
	requests[message].Comm = 0x200
	if d.Join(requests, nil, nil); d.IsPartner(requests[message]) {
		t.Error("a message on another communicator is the receive's")
	}
}
