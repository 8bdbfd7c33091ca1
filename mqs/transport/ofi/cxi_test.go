package ofi

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Where the parts of an endpoint of the provider cxi are.
const (
	cxiObjectAt   = sharedAt
	cxiReceivesAt = sharedAt + 0x4000
	cxiSendsAt    = sharedAt + 0x1_0000
	cxiBookAt     = peersAt
	cxiEntriesAt  = sendersAt
)

// makeCXI makes a process with an endpoint of the provider cxi whose software matches, and which has nothing.
func makeCXI(t *testing.T) *madeup {
	t.Helper()
	m := makeEndpoint(t, "libfabric 2.1 with cxi")
	m.Put(endpointAt, make([]byte, stride))
	m.Put(providerAt+0x100, []byte("cxi\x00"))
	for at, c := range map[inferior.Addr]string{cxiObjectAt: "cxip_ep_obj", cxiReceivesAt: "cxip_rxc_hpc", cxiSendsAt: "cxip_txc", cxiBookAt: "cxip_av"} {
		size, _ := m.l.Size(c)
		m.Put(at, make([]byte, size))
	}
	m.put("cxip_ep", endpointAt, set{"ep.fid.fclass": uint64(ClassEndpoint), "ep_obj": uint64(cxiObjectAt)})
	m.put("cxip_ep_obj", cxiObjectAt, set{"domain": uint64(domainAt), "av": uint64(cxiBookAt), "protocol": cxiProtocol, "rxc": uint64(cxiReceivesAt), "txc": uint64(cxiSendsAt)})
	m.put("cxip_rxc_hpc", cxiReceivesAt, set{"base.ep_obj": uint64(cxiObjectAt), "base.domain": uint64(domainAt), "base.state": cxiBySoftware, "base.pid_bits": 9})
	m.put("cxip_txc", cxiSendsAt, set{"ep_obj": uint64(cxiObjectAt), "domain": uint64(domainAt)})
	m.put("cxip_av", cxiBookAt, set{"domain": uint64(domainAt)})
	for _, q := range []string{"base.rx_evtq.req_list", "sw_recv_queue", "replay_queue", "sw_ux_list", "sw_pending_ux_list"} {
		m.ring(m.at("cxip_rxc_hpc", cxiReceivesAt, q), nil)
	}
	m.ring(m.at("cxip_txc", cxiSendsAt, "tx_evtq.req_list"), nil)
	return m
}

// request makes requests of a half of the endpoint, which stand in its list and, where queue is not empty, in that too.
func (m *madeup) request(half string, of inferior.Addr, list, queue string, from int, requests ...set) {
	m.t.Helper()
	var links, queued []inferior.Addr
	for i := range from + len(requests) {
		at := place(entriesAt, i)
		links = append(links, m.at("cxip_req", at, "evtq_entry"))
		if i < from {
			continue
		}
		m.Put(at, make([]byte, stride))
		m.put("cxip_req", at, requests[i-from])
		queued = append(queued, m.at("cxip_req", at, "recv.rxc_entry"))
	}
	m.ring(m.at(half, of, list), links)
	if queue != "" {
		m.ring(m.at(half, of, queue), queued)
	}
}

// cxiRequested is a receive as the provider has it.
func cxiRequested(more set) set {
	out := set{"type": cxiReceived, "req_ctx": uint64(cxiReceivesAt), "recv.rxc": uint64(cxiReceivesAt), "recv.tagged": 1, "recv.match_id": cxiAnyone}
	for path, v := range more {
		out[path] = v
	}
	return out
}

// address puts addresses into the book, each a process and a card.
func (m *madeup) address(places ...uint64) {
	m.t.Helper()
	m.put("cxip_av", cxiBookAt, set{"av_entry_hash": uint64(cxiEntriesAt)})
	before := inferior.Addr(0)
	for i, p := range places {
		at, next := place(cxiEntriesAt, i), uint64(0)
		m.Put(at, make([]byte, stride))
		if i+1 < len(places) {
			next = uint64(place(cxiEntriesAt, i+1))
		}
		key := m.at("cxip_av_entry", at, "addr")
		m.put("cxip_av_entry", at, set{"hh.prev": uint64(before), "hh.next": next, "hh.key": uint64(key), "fi_addr": 100 + uint64(i)})
		m.PutUint32(key, uint32(p))
		before = at
	}
}

// cxiPlace is a process on a card as the book has it, cxiID as the network card calls it.
func cxiPlace(pid, nic uint64) uint64 { return nic<<cxiPIDBits | pid }
func cxiID(pid, nic uint64) uint64    { return pid<<23 | nic }

// Receives are those that have not matched, in the card or in the software, of processes by their addresses.
func TestCXIPosted(t *testing.T) {
	m := makeCXI(t)
	m.address(cxiPlace(1, 7), cxiPlace(2, 7), cxiPlace(1, 0xfffff))
	m.request("cxip_rxc_hpc", cxiReceivesAt, "base.rx_evtq.req_list", "", 0,
		cxiRequested(set{"recv.hw_offloaded": 1, "recv.tag": 7, "recv.ignore": 0xff, "context": 0x123, "recv.ulen": 12, "recv.recv_buf": 0x5555, "recv.match_id": cxiID(2, 7)}),
		cxiRequested(set{"recv.hw_offloaded": 1, "recv.tgt_event": 1}), cxiRequested(set{"recv.hw_offloaded": 1, "recv.parent": 1}),
		cxiRequested(set{"recv.hw_offloaded": 1, "recv.flags": 1 << 19}), cxiRequested(set{"recv.hw_offloaded": 1, "recv.tagged": 0}),
		cxiRequested(set{"recv.hw_offloaded": 1, "type": cxiSent}), cxiRequested(set{"recv.hw_offloaded": 1, "req_ctx": 1}),
		cxiRequested(nil))
	m.request("cxip_rxc_hpc", cxiReceivesAt, "base.rx_evtq.req_list", "sw_recv_queue", 8, cxiRequested(set{"recv.tag": 8, "recv.match_id": cxiID(1, 0xfffff)}))
	m.request("cxip_rxc_hpc", cxiReceivesAt, "base.rx_evtq.req_list", "replay_queue", 9, cxiRequested(set{"recv.tag": 9}))
	_, q := m.mustOpen()
	want := []transport.Receive{
		{Request: transport.Request{Addr: entriesAt, UserData: 0x123, Length: 12, Buffer: 0x5555}, Tag: 7, Mask: ^uint64(0xff), Peer: mqs.Known[uint64](101), Offloaded: true},
		{Request: transport.Request{Addr: place(entriesAt, 8)}, Tag: 8, Mask: ^uint64(0), Peer: mqs.Known[uint64](102), Sequence: 1},
		{Request: transport.Request{Addr: place(entriesAt, 9)}, Tag: 9, Mask: ^uint64(0), Sequence: 2},
	}
	if !reflect.DeepEqual(q.Posted, want) {
		t.Errorf("%+v\nwant %+v", q.Posted, want)
	}
	m.put("cxip_av", cxiBookAt, set{"symmetric": 1, "av_entry_hash": uint64(nowhere)})
	if _, q := m.mustOpen(); q.Posted[0].Peer != mqs.Known[uint64](7) {
		t.Errorf("%+v", q.Posted[0])
	}
}

// cxiArrive has messages come that no receive matches.
func (m *madeup) cxiArrive(messages ...set) {
	m.t.Helper()
	m.put("cxip_rxc_hpc", cxiReceivesAt, set{"sw_ux_list_len": uint64(len(messages))})
	var links []inferior.Addr
	for i, of := range messages {
		at := place(messagesAt, i)
		m.Put(at, make([]byte, stride))
		m.put("cxip_ux_send", at, of)
		links = append(links, m.at("cxip_ux_send", at, "rxc_entry"))
	}
	m.ring(m.at("cxip_rxc_hpc", cxiReceivesAt, "sw_ux_list"), links)
}

// Messages are those that the software has. Where the network card matches, there may be more, and the setting is said that
// keeps it from that.
func TestCXIUnexpected(t *testing.T) {
	const ev = "put_ev.tgt_long."
	m := makeCXI(t)
	m.address(cxiPlace(1, 7))
	m.cxiArrive(
		set{ev + "match_bits": cxiTagged | cxiHasData | 7, ev + "header_data": 5, ev + "rlength": 12, ev + "initiator.initiator.process": cxiID(1, 7)},
		set{ev + "match_bits": cxiTagged | 1<<50 | 8, ev + "header_data": 5, ev + "initiator.initiator.process": cxiID(2, 7)},
		set{ev + "match_bits": 9},
		set{ev + "match_bits": cxiTagged | 10, "claimed": 1},
	)
	m.Put(m.at("cxip_ux_send", place(messagesAt, 1), ev+"match_bits")-1, []byte{0xfd})
	m.Put(m.at("cxip_ux_send", messagesAt, ev+"match_bits")-1, []byte{0xfb})
	e, q := m.mustOpen()
	want := []transport.Message{
		{Addr: messagesAt, Tag: 7, Peer: mqs.Known[uint64](100), Length: 12, Beside: mqs.Known[uint64](5)},
		{Addr: place(messagesAt, 1), Tag: 8, Beside: mqs.Maybe[uint64]{Value: 5}, Rendezvous: true},
	}
	if !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil || q.Offload != "" {
		t.Errorf("%+v\nwant %+v, %v, %q", q.Unexpected, want, q.UnexpectedErr, q.Offload)
	}
	if got, err := e.MessageAt(messagesAt); err != nil || got != want[0] {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := e.MessageAt(place(messagesAt, 2)); !errors.Is(err, transport.ErrNoMessage) {
		t.Error(err)
	}
	m.PutUint64(chunkAt, uint64(place(messagesAt, 3)))
	if got, err := e.Claimed(chunkAt); err != nil || got.Tag != 10 {
		t.Errorf("%+v, %v", got, err)
	}
	m.PutUint64(chunkAt+8, uint64(messagesAt))
	if _, err := e.Claimed(chunkAt + 8); !errors.Is(err, transport.ErrNoMessage) {
		t.Error(err)
	}
	for name, of := range map[string]set{"by the card": {"base.msg_offload": 1, "base.state": 1}, "by the card of a changing endpoint": {"base.state": 2},
		"by the card again": {"base.msg_offload": 1, "base.state": cxiBySoftware}} {
		m.put("cxip_rxc_hpc", cxiReceivesAt, of)
		_, q = m.mustOpen()
		isNoted := strings.Contains(q.Offload, "a network card matches messages too") && strings.Contains(q.Offload, "FI_CXI_RX_MATCH_MODE=software")
		if len(q.Unexpected) != 2 || !errors.Is(q.UnexpectedErr, errInCard) || isNoted != (of["base.msg_offload"] != 0) {
			t.Errorf("%s: %+v, %v, %q", name, q.Unexpected, q.UnexpectedErr, q.Offload)
		}
		m.put("cxip_rxc_hpc", cxiReceivesAt, set{"base.msg_offload": 0})
	}
}

// Sends are those of tagged messages that a program waits for.
func TestCXISends(t *testing.T) {
	m := makeCXI(t)
	sent := set{"type": cxiSent, "req_ctx": uint64(cxiSendsAt), "context": 0x99, "send.txc": uint64(cxiSendsAt), "send.tagged": 1, "send.tag": 7, "send.len": 12, "send.dest_addr": 3, "send.buf": 0x5555}
	but := func(path string, v uint64) set {
		out := set{path: v}
		for path, v := range sent {
			if _, ok := out[path]; !ok {
				out[path] = v
			}
		}
		return out
	}
	m.request("cxip_txc", cxiSendsAt, "tx_evtq.req_list", "", 0, but("context", 0), but("send.tagged", 0), sent, but("type", cxiReceived), but("req_ctx", 0))
	_, q := m.mustOpen()
	want := []transport.Send{{Request: transport.Request{Addr: place(entriesAt, 2), UserData: 0x99, Length: 12, Buffer: 0x5555}, Tag: 7, TagKept: true, Peer: mqs.Known[uint64](3)}}
	if !reflect.DeepEqual(q.Sends, want) {
		t.Errorf("%+v\nwant %+v", q.Sends, want)
	}
}

// What does not agree with itself is not believed: TestProofs has the most of it.
func TestCXIProofs(t *testing.T) {
	for name, c := range map[string]struct {
		of   string
		at   inferior.Addr
		bad  set
		says string
	}{
		"another provider": {"util_domain", domainAt, set{"prov": uint64(providerAt + 0x800)}, "is of the provider udp"},
		"a receive of two": {"cxip_req", entriesAt, set{"recv.match_id": cxiID(2, 7)}, "is not among the endpoint's addresses"},
	} {
		m := makeCXI(t)
		m.put("fi_provider", providerAt+0x800, set{"name": uint64(providerAt + 0x900)})
		m.Put(providerAt+0x900, []byte("udp\x00"))
		m.address(cxiPlace(1, 7), cxiPlace(2, 7), cxiPlace(2, 7))
		m.request("cxip_rxc_hpc", cxiReceivesAt, "base.rx_evtq.req_list", "sw_recv_queue", 0, cxiRequested(set{"recv.match_id": cxiID(1, 7)}))
		if _, q := m.mustOpen(); len(q.Posted) != 1 {
			t.Fatalf("%s: %+v", name, q)
		}
		m.put(c.of, c.at, c.bad)
		if _, err := m.open(); !m.refuses(err, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := makeCXI(t)
	m.put("cxip_rxc_hpc", cxiReceivesAt, set{"base.state": cxiDisabled, "sw_recv_queue.next": 0, "replay_queue.next": 0})
	if _, q := m.mustOpen(); len(q.Posted) != 0 || q.UnexpectedErr != nil {
		t.Errorf("%+v", q)
	}
}
