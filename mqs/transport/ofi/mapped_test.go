package ofi

import (
	"maps"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

const mapAt inferior.Addr = 0x10_0000

// makeMapped is a process of which debug information says that the connections stand by the addresses of their peers,
// as up to 1.13. It has some, each with what the peer calls it, nil for none.
func makeMapped(t *testing.T, conns ...set) *madeup {
	t.Helper()
	m := makeUp(t)
	m.PutUint32(m.at("rxm_ep", endpointAt, "conn_idx_map.count"), 1<<31) // so that no table fits
	for _, q := range inferior.Queries(&types{}) {
		if of := m.l.Find(q.Name); of != nil {
			m.Types[q.Name] = &layout.Layout{Size: of.Size, Fields: maps.Clone(of.Fields)}
		}
	}
	delete(m.Types, "util_peer_addr")
	delete(m.Types["rxm_ep"].Fields, "conn_idx_map.chunk")
	delete(m.Types["rxm_ep"].Fields, "conn_idx_map.count")
	m.Types["rxm_ep"].Fields["cmap"] = inferiortest.Field(0x4000, 8, layout.KindPointer)
	m.Types["rxm_ep"].Size = 0x5000
	m.Types["rxm_conn"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{"handle.cmap": inferiortest.Field(0, 8, layout.KindPointer),
		"handle.remote_key": inferiortest.Field(16, 8, layout.KindUnsigned), "handle.fi_addr": inferiortest.Field(24, 8, layout.KindUnsigned)}}
	m.Types["rxm_cmap"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{"ep": inferiortest.Field(0, 8, layout.KindPointer),
		"handles_av": inferiortest.Field(16, 8, layout.KindPointer), "num_allocated": inferiortest.Field(24, 8, layout.KindUnsigned)}}
	m.l = layout.FromDWARF(m.Types)
	m.put("rxm_ep", endpointAt, set{"cmap": uint64(mapAt)})
	m.put("rxm_cmap", mapAt, set{"ep": uint64(endpointAt), "handles_av": uint64(mapAt + 0x100), "num_allocated": uint64(len(conns))})
	m.Put(mapAt+0x100, make([]byte, inferiortest.Page))
	for i, c := range conns {
		if c == nil {
			continue
		}
		m.PutUint64(mapAt+0x100+inferior.Addr(8*i), uint64(place(connsAt, i)))
		m.put("rxm_conn", place(connsAt, i), set{"handle.cmap": uint64(mapAt), "handle.fi_addr": uint64(i)})
		m.put("rxm_conn", place(connsAt, i), c)
	}
	return m
}

// Up to 1.13 a connection is known by the whole of what the peer calls it, and says whose it is.
func TestMapped(t *testing.T) {
	m := makeMapped(t, nil, set{"handle.remote_key": 5<<32 | 1}, set{"handle.remote_key": 6<<32 | 1})
	m.put("rxm_conn", place(connsAt, 3), set{"handle.cmap": uint64(mapAt), "handle.fi_addr": ^uint64(0) - 1}) // FI_ADDR_NOTAVAIL: nobody has named the peer
	o, err := m.open()
	if err != nil {
		t.Fatal(err)
	}
	e := o.endpoint
	if conns := e.connsCalled(5<<32 | 1); len(conns) != 1 || conns[0].Addr() != place(connsAt, 1) || len(e.connsCalled(1)) != 0 {
		t.Errorf("%v", e.conns)
	}
	if got := e.peerOfConn(inferior.Ptr[rxmConn](place(connsAt, 2))); got != (transport.Peer{Value: 2, Known: true}) {
		t.Errorf("%+v", got)
	}
	if got := e.peerOfConn(inferior.Ptr[rxmConn](place(connsAt, 3))); got.Known {
		t.Errorf("%+v", got)
	}
	for name, members := range map[string]set{"another map's": {"handle.cmap": uint64(mapAt) + 8}, "another peer's": {"handle.fi_addr": 7}} {
		if _, err := makeMapped(t, set{}, members).open(); err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, members := range map[string]set{"another endpoint's": {"ep": uint64(endpointAt) + 8}, "too many": {"num_allocated": maxMapped + 1}, "out of memory": {"handles_av": uint64(nowhere)}} {
		m := makeMapped(t, set{})
		m.put("rxm_cmap", mapAt, members)
		if _, err := m.open(); err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	m = makeMapped(t)
	m.put("rxm_ep", endpointAt, set{"cmap": 0})
	if _, err := m.open(); err == nil {
		t.Errorf("an endpoint without any map: %v", err)
	}
}
