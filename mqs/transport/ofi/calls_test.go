package ofi

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// far is how far apart things stand that no page has two of.
const far inferior.Addr = 0x5000

// sparse makes a pool of so many buffers at nowhere and on, all of which are in use.
func (m *madeup) sparse(n int) (buffers []inferior.Addr) {
	m.t.Helper()
	header, _ := m.l.Size("ofi_bufpool_hdr")
	m.Put(poolAt, make([]byte, stride))
	m.put("ofi_bufpool", poolAt, set{"entry_size": uint64(far), "entry_cnt": uint64(n), "region_cnt": 1, "region_table": uint64(poolAt + 0x800), "attr.chunk_cnt": uint64(n)})
	m.PutUint64(poolAt+0x800, uint64(regionsAt))
	m.Put(nowhere-0x1000, make([]byte, (n+1)*int(far)))
	m.put("ofi_bufpool_region", regionsAt, set{"pool": uint64(poolAt), "mem_region": uint64(nowhere)})
	for i := range n {
		at := nowhere + inferior.Addr(i)*far
		m.put("ofi_bufpool_hdr", at-inferior.Addr(header), set{"region": uint64(regionsAt), "index": uint64(i)})
		buffers = append(buffers, at)
	}
	return buffers
}

// The calls to the debugger do not grow with receives and messages, however far from each other they are, nor with peers.
func TestCalls(t *testing.T) {
	for name, of := range map[string]func(t *testing.T, n int) (m *madeup, posted, messages int){
		"tcp's receives": func(t *testing.T, n int) (*madeup, int, int) {
			m := makeXNet(t)
			m.PutUint64(m.domain("xfer_pool"), uint64(poolAt))
			all := m.sparse(n)
			for i, at := range all {
				m.put("xnet_xfer_entry", at, set{"entry.next": uint64(append(all, 0)[i+1]), "src_addr": AnyPeer})
			}
			m.put("xnet_srx", srxAt, set{"tag_queue.head": uint64(all[0]), "tag_queue.tail": uint64(all[n-1])})
			return m, n, 0
		},
		"tcp's messages": func(t *testing.T, n int) (*madeup, int, int) {
			m := makeXNet(t)
			m.PutUint64(m.domain("xfer_pool"), uint64(poolAt))
			all := m.sparse(n)
			for i, at := range all {
				m.put("xnet_xfer_entry", at, of("hdr", xnetTagged, 0, set{"entry.next": uint64(append(all, 0)[i+1])}))
			}
			m.Put(savedAt, make([]byte, stride))
			m.put("xnet_saved_msg", savedAt, set{"queue.head": uint64(all[0]), "queue.tail": uint64(all[n-1]), "cnt": uint64(n)})
			m.ring(m.domain("saved_tag_list"), []inferior.Addr{m.at("xnet_saved_msg", savedAt, "entry")})
			return m, 0, n
		},
		"tcp's peers": func(t *testing.T, n int) (*madeup, int, int) {
			m := makeXNet(t)
			m.PutUint64(m.at("xnet_rdm", endpointAt, "conn_idx_map.chunk"), uint64(chunkAt))
			m.PutUint32(m.at("xnet_rdm", endpointAt, "conn_idx_map.count"), uint32(n))
			size, _ := m.l.Size("xnet_ep")
			for i := range n {
				conn := nowhere + inferior.Addr(i)*3*far
				m.Put(conn, make([]byte, stride))
				m.Put(conn+far, make([]byte, size))
				m.Put(conn+2*far, make([]byte, stride))
				m.put("xnet_conn", conn, set{"rdm": uint64(endpointAt), "ep": uint64(conn + far), "peer": uint64(conn + 2*far)})
				m.put("xnet_ep", conn+far, set{"srx": uint64(srxAt)})
				m.PutUint64(chunkAt+inferior.Addr(8*i), uint64(conn))
			}
			return m, 0, 0
		},
		"receives over sockets": func(t *testing.T, n int) (*madeup, int, int) {
			m := makeSockets(t)
			m.entries("rx_entry_list", make([]set, n)...)
			return m, n, 0
		},
		"messages over sockets": func(t *testing.T, n int) (*madeup, int, int) {
			m := makeSockets(t)
			all := make([]set, n)
			for i := range all {
				all[i] = set{"is_buffered": 1}
			}
			m.entries("rx_buffered_list", all...)
			return m, 0, n
		},
	} {
		calls := map[int]int{}
		for _, n := range []int{2, 40} {
			m, posted, messages := of(t, n)
			if _, q := m.mustOpen(); len(q.Posted) != posted || len(q.Unexpected) != messages || q.UnexpectedErr != nil {
				t.Errorf("%s: %d receives of %d, %d messages of %d, %v", name, len(q.Posted), posted, len(q.Unexpected), messages, q.UnexpectedErr)
			}
			calls[n] = m.Calls
		}
		if calls[40] > calls[2]+3 {
			t.Errorf("%s: calls by their number: %v", name, calls)
		}
		t.Logf("%s: %v", name, calls)
	}
}
