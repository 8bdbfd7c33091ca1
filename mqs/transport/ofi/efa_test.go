package ofi

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Where what is beneath an endpoint of efa's stands, with its own way to the queue, and the operations.
const (
	belowAt      inferior.Addr = 0x30_0000
	takerAt      inferior.Addr = 0x31_0000
	operationsAt inferior.Addr = 0x32_0000
	opPoolAt     inferior.Addr = 0x33_0000
	packetsAt    inferior.Addr = 0x34_0000
)

// makeEFA makes a process with an endpoint of the provider efa, which has nothing.
func makeEFA(t *testing.T) *madeup {
	t.Helper()
	m := makeShared(t)
	m.Put(providerAt+0x100, []byte("efa\x00"))
	size, _ := m.l.Size("efa_rdm_ope")
	all, _ := m.l.Size("ofi_bufpool")
	m.Put(opPoolAt, make([]byte, all))
	m.put("ofi_bufpool", opPoolAt, set{"attr.size": uint64(size)})
	m.put("efa_rdm_ep", endpointAt, set{"peer_srx_ep": uint64(sharedAt), "ope_pool": uint64(opPoolAt), "shm_ep": 0})
	m.ring(m.at("efa_rdm_ep", endpointAt, "txe_list"), nil)
	return m
}

// beneath puts an endpoint of a provider beneath that of efa's.
func (m *madeup) beneath(name string) {
	m.t.Helper()
	const other, domain = belowAt + 0x8000, belowAt + 0x9000
	m.Put(belowAt, make([]byte, 0xa000))
	m.Put(other+0x100, []byte(name+"\x00"))
	m.put("fi_provider", other, set{"name": uint64(other + 0x100)})
	m.put("util_domain", domain, set{"prov": uint64(other)})
	m.put("util_ep", belowAt, set{"domain": uint64(domain)})
	m.put("efa_rdm_ep", endpointAt, set{"shm_ep": uint64(belowAt)})
	m.put("fid_peer_srx", takerAt, set{"ep_fid.fid.context": uint64(sharedAt)})
}

// operation makes one of the endpoint's.
func (m *madeup) operation(i int, of set) inferior.Addr {
	m.t.Helper()
	at := place(operationsAt, i)
	m.Put(at, make([]byte, stride))
	m.put("efa_rdm_ope", at, set{"ep": uint64(endpointAt), "op": opTagged, "tag": 7, "total_len": 12})
	m.put("efa_rdm_ope", at, of)
	return at
}

// arriveEFA makes an entry of a message of peer 4, its packet of a kind and its operation.
func (m *madeup) arriveEFA(i int, kind byte, of set) inferior.Addr {
	m.t.Helper()
	packet := place(packetsAt, i)
	at := m.entry(i, set{"peer_entry.addr": 4, "peer_entry.srx": uint64(sharedAt), "peer_entry.tag": 7, "peer_entry.peer_context": uint64(packet)})
	operation := m.operation(i, set{"type": efaReceives, "peer_rxe": uint64(at)})
	m.put("efa_rdm_ope", operation, of)
	m.Put(packet, make([]byte, stride))
	m.put("efa_rdm_pke", packet, set{"ep": uint64(endpointAt), "ope": uint64(operation)})
	m.Put(m.at("efa_rdm_pke", packet, "wiredata"), []byte{kind})
	return at
}

// How a message has come says whether its sender waits.
func TestEFAUnexpected(t *testing.T) {
	m := makeEFA(t)
	kinds := []byte{efaEager, efaMedium, efaLongCTS, efaLongRead, efaRuntCTS, efaRuntRead, efaToldEager, efaToldMedium, efaToldLong}
	var entries []inferior.Addr
	var want []transport.Message
	for i, kind := range kinds {
		at := m.arriveEFA(i, kind, nil)
		entries = append(entries, at)
		want = append(want, transport.Message{Addr: at, Tag: 7, Peer: mqs.Known[uint64](4), Length: 12, Rendezvous: i > 1})
	}
	m.put("util_rx_entry", entries[1], set{"peer_entry.flags": remoteData, "peer_entry.cq_data": 5})
	want[1].Beside = mqs.Known[uint64](5)
	m.ring(m.shared("unspec_unexp_tag_queue"), entries)
	if _, q := m.mustOpen(); !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	for name, c := range map[string]struct {
		kind byte
		bad  set
		says string
	}{
		"of no kind": {64, nil, "in a packet of kind 64"},
	} {
		m := makeEFA(t)
		m.ring(m.shared("unspec_unexp_tag_queue"), []inferior.Addr{m.arriveEFA(0, efaEager, nil), m.arriveEFA(1, c.kind, c.bad)})
		if _, q := m.mustOpen(); !saysOf(q.UnexpectedErr, c.says) || len(q.Unexpected) != 1 {
			t.Errorf("%s: %v, %d messages", name, q.UnexpectedErr, len(q.Unexpected))
		}
	}
}

// Operations that send are in a ring, and know whom they send to.
func TestEFASends(t *testing.T) {
	m := makeEFA(t)
	var links, at []inferior.Addr
	for i, of := range []set{{"addr": 4}, {"addr": 5, "state": efaSending}, {"op": 0}, {"cq_entry.op_context": 0}} {
		at = append(at, m.operation(i, set{"type": efaSends, "cq_entry.op_context": 0x99}))
		m.put("efa_rdm_ope", at[i], of)
		links = append(links, m.at("efa_rdm_ope", at[i], "ep_entry"))
	}
	m.ring(m.at("efa_rdm_ep", endpointAt, "txe_list"), links)
	_, q := m.mustOpen()
	want := []transport.Send{
		{Request: transport.Request{Addr: at[0], UserData: 0x99, Length: 12}, Tag: 7, TagKept: true, Peer: mqs.Known[uint64](4)},
		{Request: transport.Request{Addr: at[1], UserData: 0x99, Length: 12, State: transport.Matched}, Tag: 7, TagKept: true, Peer: mqs.Known[uint64](5)},
	}
	if !reflect.DeepEqual(q.Sends, want) {
		t.Errorf("%+v\nwant %+v", q.Sends, want)
	}
}

// What peers of the same machine send comes through another endpoint, which is read if its provider is.
func TestEFABeneath(t *testing.T) {
	for _, name := range []string{"sm2", "shm", "udp"} {
		m := makeEFA(t)
		m.beneath(name)
		entries := []inferior.Addr{m.arriveEFA(0, efaEager, nil)}
		var sends int
		switch name {
		case "sm2":
			m.putSM2(belowAt, uint64(takerAt))
			entries = append(entries, m.keepSM2(1, set{"ep": uint64(belowAt), "xfer_entry.hdr.proto": sm2CMA}))
			m.places(belowAt, set{})
			sends = 1
		default:
			m.put("smr_ep", belowAt, set{"srx": uint64(takerAt)})
			entries = append(entries, m.keep(1, set{"ep": uint64(belowAt), "cmd.msg.hdr.op_src": smrVector}))
			m.put("util_rx_entry", entries[1], set{"peer_entry.addr": 4})
		}
		m.put("util_rx_entry", entries[1], set{"peer_entry.srx": uint64(takerAt)})
		entries = append(entries, m.arriveEFA(2, efaEager, nil))
		m.ring(m.shared("unspec_unexp_tag_queue"), entries)
		_, q := m.mustOpen()
		isRead := name != "udp"
		if len(q.Sends) != sends || isRead != (len(q.Unexpected) == 3) || isRead != (q.UnexpectedErr == nil) || isRead != (q.SendsErr == nil) || q.Unexpected[len(q.Unexpected)-1].Addr != entries[2] {
			t.Errorf("%s: %d sends, %+v, %v", name, len(q.Sends), q.Unexpected, q.UnexpectedErr)
			continue
		}
		want := transport.Message{Addr: entries[1], Tag: 7, Peer: mqs.Known[uint64](4), Length: 12, Rendezvous: true}
		switch {
		case isRead && q.Unexpected[1] != want:
			t.Errorf("%s: %+v, want %+v", name, q.Unexpected[1], want)
		case !isRead && !saysOf(q.UnexpectedErr, "the provider udp is not read there"):
			t.Errorf("%s: %v", name, q.UnexpectedErr)
		}
		m.put("fid_peer_srx", takerAt, set{"ep_fid.fid.context": 1})
		if _, q := m.mustOpen(); !saysOf(q.UnexpectedErr, "is another endpoint's") || len(q.Unexpected) != 1 {
			t.Errorf("%s, by another queue's way: %+v, %v", name, q.Unexpected, q.UnexpectedErr)
		}
	}
	// Without one, nothing comes by another way.
	m := makeEFA(t)
	m.put("fid_peer_srx", takerAt, set{"ep_fid.fid.context": uint64(sharedAt)})
	at := m.arriveEFA(0, efaEager, nil)
	m.put("util_rx_entry", at, set{"peer_entry.srx": uint64(takerAt)})
	m.ring(m.shared("unspec_unexp_tag_queue"), []inferior.Addr{at})
	if _, q := m.mustOpen(); !saysOf(q.UnexpectedErr, errNotBeneath.Error()) || len(q.Unexpected) != 0 {
		t.Errorf("%+v, %v", q.Unexpected, q.UnexpectedErr)
	}
}
