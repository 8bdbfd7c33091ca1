package ch4

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// A send knows where it goes, a receive what it takes: in 4.0 in members of its own, and from 4.1 on in its status.
func TestPartitioned(t *testing.T) {
	const send, recv = 6, 7 // kinds of requests
	for name, envelope := range map[string]map[string]layout.Field{
		"4.0": {"dev.ch4.part_req.u.recv.source": field(32, 4, layout.KindSigned), "dev.ch4.part_req.u.recv.tag": field(36, 4, layout.KindSigned), "status.MPI_SOURCE": field(60, 4, layout.KindSigned)},
		"4.1": {"status.MPI_SOURCE": field(32, 4, layout.KindSigned), "status.MPI_TAG": field(36, 4, layout.KindSigned)},
	} {
		p := inferiortest.New()
		p.Types["MPIR_Request"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{
			"u.part.partitions": field(0, 4, layout.KindSigned), "u.part.active_flag": field(4, 4, layout.KindSigned), "dev.ch4.part_req.buffer": field(8, 8, layout.KindPointer),
			"dev.ch4.part_req.count": field(16, 8, layout.KindSigned), "dev.ch4.part_req.datatype": field(24, 4, layout.KindSigned), "dev.ch4.part_req.u.send.dest": field(28, 4, layout.KindSigned),
			"dev.ch4.part_req.am.peer_req_ptr": field(40, 8, layout.KindPointer), "dev.ch4.part_req.am.u.recv.sdata_size": field(48, 8, layout.KindSigned)}}
		for path, f := range envelope {
			p.Types["MPIR_Request"].Fields[path] = f
		}
		p.PutUint32(0x1000, 3, 1)
		p.PutUint64(0x1008, 0x40, 10)
		p.PutUint32(0x1018, 0x4c000405, 2, 1, 9)
		p.PutUint64(0x1028, 0x80, 120)
		d := over(p)
		r := &mpir.Operation{At: 0x1000}
		if _, ok, err := d.Partitioned(r); ok || err != nil {
			t.Errorf("%s: without the types: %t, %v", name, ok, err)
		}
		if err := inferior.Bind(&d.partitioned, d.lib.Layouts); err != nil {
			t.Fatal(err)
		}
		want := mpir.Partitioned{Partitions: 3, IsActive: true, Buffer: 0x40, Count: 10, Datatype: 0x4c000405, Tag: 9, IsMatched: true, Bytes: 120}
		for kind, peer := range map[uint32]int32{send: 2, recv: 1} {
			r.Kind, want.Peer, want.Sent = kind, peer, 0x80
			if kind == send {
				want.Sent = 0x1000 // the receiver has its address
			}
			if got, ok, err := d.Partitioned(r); got != want || !ok || err != nil {
				t.Errorf("%s, kind %d: %+v, %t, %v; want %+v", name, kind, got, ok, err, want)
			}
		}
	}
}
