package ofi

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Where the objects of a made-up process stand, in bytes. Those of which there are several follow each other at the
// stride.
const (
	providerAt inferior.Addr = 0x1_0000
	domainAt   inferior.Addr = 0x1_1000
	endpointAt inferior.Addr = 0x2_0000
	poolAt     inferior.Addr = 0x3_0000
	regionsAt  inferior.Addr = 0x3_2000
	chunkAt    inferior.Addr = 0x5_0000
	connsAt    inferior.Addr = 0x6_0000
	peersAt    inferior.Addr = 0x7_0000
	entriesAt  inferior.Addr = 0x8_0000
	messagesAt inferior.Addr = 0x9_0000
	buffersAt  inferior.Addr = 0xa_0000
	sharedAt   inferior.Addr = 0xc_0000
	listsAt    inferior.Addr = 0xe_0000
	sendersAt  inferior.Addr = 0xf_0000
	nowhere    inferior.Addr = 0x900_0000

	stride = 0x400
)

// place is the address of element i of those that begin at an address.
func place(from inferior.Addr, i int) inferior.Addr { return from + inferior.Addr(i*stride) }

// madeup is a process with an endpoint of the provider rxm, which has nothing until something is put there.
type madeup struct {
	*inferiortest.Process
	t *testing.T
	l *layout.Layouts
}

// set are members by their paths.
type set map[string]uint64

func makeUp(t *testing.T) *madeup {
	t.Helper()
	m := makeEndpoint(t, "libfabric 1.17")
	m.put("rxm_recv_queue", m.queue(), set{"rxm_ep": uint64(endpointAt), "type": queueTagged})
	m.ring(m.at("rxm_recv_queue", m.queue(), "recv_list"), nil)
	m.ring(m.at("rxm_recv_queue", m.queue(), "unexp_msg_list"), nil)
	return m
}

// makeEndpoint makes a process of a release with an endpoint, the queue of which has not been made.
func makeEndpoint(t *testing.T, release string) *madeup {
	t.Helper()
	at := slices.IndexFunc(tables(), func(t *layout.Table) bool { return t.Release == release })
	m := &madeup{inferiortest.New(), t, tables()[at].Layouts(inferior.Queries(allTypes()...))}
	m.Put(providerAt+0x100, []byte("ofi_rxm\x00"))
	m.put("fi_provider", providerAt, set{"name": uint64(providerAt + 0x100)})
	m.Put(domainAt, make([]byte, 0x1000))
	m.put("util_domain", domainAt, set{"prov": uint64(providerAt)})
	m.Put(endpointAt, make([]byte, 0x8000))
	m.Put(chunkAt, make([]byte, 8*indicesInChunk))
	if m.l.Find("rxm_ep") != nil {
		m.put("rxm_ep", endpointAt, set{"util_ep.domain": uint64(domainAt)})
	}
	return m
}

// at is the address of a member.
func (m *madeup) at(c string, at inferior.Addr, path string) inferior.Addr {
	m.t.Helper()
	f, ok := m.l.Field(c, path)
	if !ok {
		m.t.Fatalf("%s has no %s", c, path)
	}
	return at + inferior.Addr(f.Offset)
}

// put sets members of an object, as wide as they are.
func (m *madeup) put(c string, at inferior.Addr, members set) {
	m.t.Helper()
	size, _ := m.l.Size(c)
	m.Put(at+inferior.Addr(size), nil)
	for path, v := range members {
		f, _ := m.l.Field(c, path)
		m.Put(m.at(c, at, path), m.Order().AppendUint64(nil, v)[:f.Size])
	}
}

// ring puts the elements of a ring in a row behind its head, each by the address of its links.
func (m *madeup) ring(head inferior.Addr, links []inferior.Addr) {
	m.t.Helper()
	all := append([]inferior.Addr{head}, links...)
	for i, at := range all {
		next, before := all[(i+1)%len(all)], all[(i+len(all)-1)%len(all)]
		m.put("dlist_entry", at, set{"next": uint64(next), "prev": uint64(before)})
	}
}

// queue is where the queue of tagged messages is.
func (m *madeup) queue() inferior.Addr { return m.at("rxm_ep", endpointAt, "trecv_queue") }

// post posts receives.
func (m *madeup) post(receives ...set) {
	m.t.Helper()
	var links []inferior.Addr
	for i, r := range receives {
		at := place(entriesAt, i)
		m.Put(at, make([]byte, stride))
		m.put("rxm_recv_entry", at, set{"recv_queue": uint64(m.queue())})
		m.put("rxm_recv_entry", at, r)
		links = append(links, m.at("rxm_recv_entry", at, "entry"))
	}
	m.ring(m.at("rxm_recv_queue", m.queue(), "recv_list"), links)
}

// arrive has messages come that no receive matches.
func (m *madeup) arrive(messages ...set) {
	m.t.Helper()
	var links []inferior.Addr
	for i, of := range messages {
		at := place(messagesAt, i)
		m.Put(at, make([]byte, stride))
		m.put("rxm_rx_buf", at, set{"ep": uint64(endpointAt), "pkt.hdr.op": opTagged})
		m.put("rxm_rx_buf", at, of)
		links = append(links, m.at("rxm_rx_buf", at, "unexp_msg.entry"))
	}
	m.ring(m.at("rxm_recv_queue", m.queue(), "unexp_msg_list"), links)
}

// tagged is a tag as a message that has come has it twice.
func tagged(tag uint64, more set) set {
	out := set{"unexp_msg.tag": tag, "pkt.hdr.tag": tag}
	for path, v := range more {
		out[path] = v
	}
	return out
}

// connect makes connections in the chunk, each with the peer of its number, which has the address 100 and on.
func (m *madeup) connect(conns ...set) {
	m.t.Helper()
	m.PutUint64(m.at("rxm_ep", endpointAt, "conn_idx_map.chunk"), uint64(chunkAt))
	m.PutUint32(m.at("rxm_ep", endpointAt, "conn_idx_map.count"), uint32(len(conns)))
	for i, c := range conns {
		m.Put(place(connsAt, i), make([]byte, stride))
		m.put("rxm_conn", place(connsAt, i), set{"ep": uint64(endpointAt), "peer": uint64(place(peersAt, i))})
		m.put("rxm_conn", place(connsAt, i), c)
		m.put("util_peer_addr", place(peersAt, i), set{"fi_addr": 100 + uint64(i)})
		m.PutUint64(chunkAt+inferior.Addr(8*(2*i+1)), uint64(place(connsAt, i))) // every other place is empty
	}
}

// pool makes buffers for messages on their way, perRegion to a region; nil are free ones.
func (m *madeup) pool(perRegion int, buffers ...set) {
	m.t.Helper()
	header, _ := m.l.Size("ofi_bufpool_hdr")
	size, _ := m.l.Size("rxm_tx_buf")
	width := uint64(header + size)
	regions := len(buffers) / perRegion
	m.put("rxm_ep", endpointAt, set{"tx_pool": uint64(poolAt)})
	m.put("ofi_bufpool", poolAt, set{"entry_size": width, "entry_cnt": uint64(len(buffers)), "region_cnt": uint64(regions),
		"region_table": uint64(poolAt + 0x800), "attr.chunk_cnt": uint64(perRegion)})
	var free inferior.Addr
	for i := len(buffers) - 1; i >= 0; i-- {
		region := place(regionsAt, i/perRegion)
		memory := buffersAt + inferior.Addr(i/perRegion*0x8000)
		m.PutUint64(poolAt+0x800+inferior.Addr(8*(i/perRegion)), uint64(region))
		m.put("ofi_bufpool_region", region, set{"pool": uint64(poolAt), "index": uint64(i / perRegion), "mem_region": uint64(memory)})
		at := m.buffer(perRegion, i)
		m.Put(at, make([]byte, width))
		m.put("ofi_bufpool_hdr", at, set{"region": uint64(region), "index": uint64(i), "entry.slist.next": uint64(nowhere)})
		if buffers[i] == nil {
			m.put("ofi_bufpool_hdr", at, set{"entry.slist.next": uint64(free)})
			free = at
			continue
		}
		m.put("rxm_tx_buf", at+inferior.Addr(header), set{"pkt.hdr.op": opTagged})
		m.put("rxm_tx_buf", at+inferior.Addr(header), buffers[i])
	}
	m.put("ofi_bufpool", poolAt, set{"free_list.entries.head": uint64(free)})
}

// buffer is where the header of a buffer of the pool is.
func (m *madeup) buffer(perRegion, i int) inferior.Addr {
	header, _ := m.l.Size("ofi_bufpool_hdr")
	size, _ := m.l.Size("rxm_tx_buf")
	return buffersAt + inferior.Addr(i/perRegion*0x8000+i%perRegion*(header+size)-header)
}

// open reads the endpoint.
func (m *madeup) open() (*OFI, error) {
	return Open(inferior.NewReader(context.Background(), m), endpointAt)
}

// refuses says whether the layouts of the process's own release are refused with a text, whatever those of others are.
func (m *madeup) refuses(err error, says string) bool {
	if err == nil {
		return false
	}
	_, why, _ := strings.Cut(err.Error(), "the layout of "+m.l.Name+": ")
	why, _, _ = strings.Cut(why, "\nthe layout of ")
	return strings.Contains(why, says)
}

// saysOf says whether an error has a text.
func saysOf(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

// mustOpen returns the endpoint's queues.
func (m *madeup) mustOpen() (*Endpoint, *transport.Queues) {
	m.t.Helper()
	o, err := m.open()
	if err != nil {
		m.t.Fatal(err)
	}
	return o.endpoint, o.Matchers()[0].Queues()
}

// rxmOf is what rxm has of an endpoint.
func rxmOf(e *Endpoint) *rxm {
	switch in := e.in.(type) {
	case *rxm:
		return in
	default:
		panic("not rxm's")
	}
}
