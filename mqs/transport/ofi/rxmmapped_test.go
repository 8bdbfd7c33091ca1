package ofi

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

const mapAt inferior.Addr = 0x10_0000

// makeMapped is a process of 1.13, the connections of which stand by the addresses of their peers. It has some, each
// with what the peer calls it, nil for none.
func makeMapped(t *testing.T, conns ...set) *madeup {
	t.Helper()
	m := makeEndpoint(t, "libfabric 1.13")
	m.put("rxm_recv_queue", m.queue(), set{"rxm_ep": uint64(endpointAt), "type": queueTagged})
	m.ring(m.at("rxm_recv_queue", m.queue(), "recv_list"), nil)
	m.ring(m.at("rxm_recv_queue", m.queue(), "unexp_msg_list"), nil)
	m.Put(mapAt, make([]byte, 0x4000+inferiortest.Page))
	m.put("rxm_ep", endpointAt, set{"cmap": uint64(mapAt)})
	m.put("rxm_cmap", mapAt, set{"ep": uint64(endpointAt), "handles_av": uint64(mapAt + 0x4000), "num_allocated": uint64(len(conns))})
	for i, c := range conns {
		if c == nil {
			continue
		}
		m.PutUint64(mapAt+0x4000+inferior.Addr(8*i), uint64(place(connsAt, i)))
		m.put("rxm_conn", place(connsAt, i), set{"handle.cmap": uint64(mapAt), "handle.fi_addr": uint64(i)})
		m.put("rxm_conn", place(connsAt, i), c)
	}
	return m
}

// Up to 1.13 a connection is known by the whole of what the peer calls it, and says whose it is.
func TestMapped(t *testing.T) {
	m := makeMapped(t, nil, set{"handle.remote_key": 5<<32 | 1}, set{"handle.remote_key": 6<<32 | 1})
	m.put("rxm_conn", place(connsAt, 3), set{"handle.cmap": uint64(mapAt), "handle.fi_addr": ^uint64(0)}) // FI_ADDR_NOTAVAIL: nobody has named the peer
	e, _ := m.mustOpen()
	x := rxmOf(e)
	if conns := x.connsCalled(5<<32 | 1); len(conns) != 1 || conns[0].Addr() != place(connsAt, 1) || len(x.connsCalled(1)) != 0 {
		t.Errorf("%v", x.conns)
	}
	if got := x.peerOfConn(inferior.Ptr[rxmConn](place(connsAt, 2))); got != (transport.Peer{Value: 2, Known: true}) {
		t.Errorf("%+v", got)
	}
	if got := x.peerOfConn(inferior.Ptr[rxmConn](place(connsAt, 3))); got.Known {
		t.Errorf("%+v", got)
	}
	m = makeMapped(t)
	m.put("rxm_ep", endpointAt, set{"cmap": 0})
	if _, err := m.open(); !m.refuses(err, "the endpoint keeps no connections") {
		t.Errorf("without any map: %v", err)
	}
}

// A message without a header of rxm's is from the peer that calls its connection so, whoever rxm takes for its sender.
func TestSenderOfMadeUpHeader(t *testing.T) {
	for name, c := range map[string]struct {
		dynamic, kind, called uint64
		want                  transport.Peer
	}{
		"as one peer calls it":        {1, ctrlEager, 6, transport.Peer{Value: 2, Known: true}},
		"as two peers call it":        {1, ctrlEager, 5, transport.Peer{}},
		"as nobody calls it":          {1, ctrlEager, 7, transport.Peer{}},
		"with a header":               {0, ctrlEager, 6, transport.Peer{Value: 1, Known: true}},
		"with a rendezvous's, always": {1, ctrlRendezvous, 6, transport.Peer{Value: 1, Known: true}},
	} {
		m := makeMapped(t, set{"handle.remote_key": 5}, set{"handle.remote_key": 5}, set{"handle.remote_key": 6})
		m.put("rxm_domain", domainAt, set{"dyn_rbuf": c.dynamic})
		m.arrive(tagged(7, set{"unexp_msg.addr": 1, "pkt.ctrl_hdr.type": c.kind, "pkt.ctrl_hdr.conn_id": c.called}))
		if _, q := m.mustOpen(); q.UnexpectedErr != nil || len(q.Unexpected) != 1 || q.Unexpected[0].Peer != c.want {
			t.Errorf("%s: %+v, %v", name, q.Unexpected, q.UnexpectedErr)
		}
	}
}
