package ofi

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// A connection leads to its peer by what the peer calls it.
func TestConns(t *testing.T) {
	m := makeUp(t)
	m.connect(set{"remote_index": 5}, set{"remote_index": 6}, set{"remote_index": 6})
	e, _ := m.mustOpen()
	if len(rxmOf(e).conns) != 2 || len(rxmOf(e).conns[5]) != 1 || len(rxmOf(e).conns[6]) != 2 || rxmOf(e).conns[6][1].Addr() != place(connsAt, 2) {
		t.Errorf("%v", rxmOf(e).conns)
	}
	if got := rxmOf(e).peerOfConn(inferior.Ptr[rxmConn](place(connsAt, 1))); got != (transport.Peer{Value: 101, Known: true}) {
		t.Errorf("%+v", got)
	}
}

// A chunk of connections is there if it has some, and has no more than fit into it.
func TestChunks(t *testing.T) {
	for name, c := range map[string]struct {
		chunk int
		at    inferior.Addr
		count uint32
		says  string
	}{
		"less than none":         {0, chunkAt, 0xffff_ffff, "chunk 0 at"},
		"more than fit":          {3, chunkAt, indicesInChunk + 1, "chunk 3 at"},
		"as many as fit":         {3, chunkAt, indicesInChunk, ""},
		"some, but no chunk":     {1, 0, 1, "has 1 connections"},
		"none, and no chunk":     {1, 0, 0, ""},
		"none, out of memory":    {1, nowhere, 0, ""},
		"some, out of memory":    {1, nowhere, 1, "cannot read"},
		"the last chunk":         {indexChunks - 1, chunkAt, 1, ""},
		"less than none at last": {indexChunks - 1, chunkAt, 1 << 31, "chunk 1023 at"},
	} {
		m := makeUp(t)
		m.connect(set{"remote_index": 5})
		m.PutUint64(m.at("rxm_ep", endpointAt, "conn_idx_map.chunk"), 0)
		m.PutUint32(m.at("rxm_ep", endpointAt, "conn_idx_map.count"), 0)
		m.PutUint64(m.at("rxm_ep", endpointAt, "conn_idx_map.chunk")+inferior.Addr(8*c.chunk), uint64(c.at))
		m.PutUint32(m.at("rxm_ep", endpointAt, "conn_idx_map.count")+inferior.Addr(4*c.chunk), c.count)
		o, err := m.open()
		switch isRead := c.at == chunkAt && c.says == ""; {
		case c.says != "":
			if !m.refuses(err, c.says) {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || isRead != (len(rxmOf(o.endpoint).conns[5]) == 1):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A connection that is another endpoint's, or can't be read, proves the layout wrong.
func TestBadConns(t *testing.T) {
	m := makeUp(t)
	m.connect(set{}, set{"ep": uint64(endpointAt) + 8})
	if _, err := m.open(); !m.refuses(err, "is another endpoint's") {
		t.Error(err)
	}
	m = makeUp(t)
	m.connect(set{}, set{})
	m.PutUint64(chunkAt, uint64(nowhere))
	if _, err := m.open(); !m.refuses(err, "cannot read") {
		t.Error(err)
	}
}
