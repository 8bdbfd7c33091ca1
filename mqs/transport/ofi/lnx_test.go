package ofi

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Where what lnx has of the endpoints beneath stands.
const (
	lnxFabricAt inferior.Addr = 0x1000_0000
	lnxProvAt   inferior.Addr = 0x1001_0000
	lnxArmsAt   inferior.Addr = 0x1002_0000
)

// makeLNX makes a process of a release with an endpoint of the provider lnx, which has nothing, over endpoints of providers.
func makeLNX(t *testing.T, release string, beneath ...string) *madeup {
	t.Helper()
	m := makeEndpoint(t, release)
	m.Put(providerAt+0x100, []byte("lnx\x00"))
	m.Put(m.lnxEP(), []byte{0})
	m.put("lnx_ep", m.lnxEP(), set{"le_ep.domain": uint64(domainAt), "le_domain": uint64(domainAt)})
	m.ring(m.lnx("lps_trecv.lqp_recvq"), nil)
	m.ring(m.lnx("lps_trecv.lqp_unexq"), nil)
	if size, isArray := m.l.Size("lnx_core_ep"); isArray {
		m.put("lnx_ep", m.lnxEP(), set{"le_core_eps": uint64(lnxArmsAt)})
		m.put("lnx_domain", domainAt, set{"ld_num_doms": uint64(len(beneath))})
		for i, name := range beneath {
			m.put("lnx_core_ep", lnxArmsAt+inferior.Addr(i*size), set{"cep_ep": uint64(m.core(i, name)), "cep_parent": uint64(m.lnxEP())})
		}
		return m
	}
	m.put("lnx_domain", domainAt, set{"ld_fabric": uint64(lnxFabricAt), "ld_srx_supported": 1})
	m.Put(lnxFabricAt, make([]byte, 0x1000))
	m.Put(lnxProvAt, make([]byte, 0x1000))
	m.ring(m.at("lnx_fabric", lnxFabricAt, "local_prov_table"), []inferior.Addr{m.at("local_prov", lnxProvAt, "lpv_entry")})
	var links []inferior.Addr
	for i, name := range beneath {
		at := lnxArmsAt + inferior.Addr(i*0x1000)
		m.Put(at, make([]byte, 0x1000))
		m.put("local_prov_ep", at, set{"lpe_ep": uint64(m.core(i, name))})
		links = append(links, m.at("local_prov_ep", at, "entry"))
	}
	m.ring(m.at("local_prov", lnxProvAt, "lpv_prov_eps"), links)
	return m
}

// core makes an endpoint beneath, of a provider.
func (m *madeup) core(i int, name string) inferior.Addr {
	m.t.Helper()
	at := belowAt + inferior.Addr(i*0x1_0000)
	other, domain := at+0x8000, at+0x9000
	m.Put(at, make([]byte, 0xa000))
	m.Put(other+0x100, []byte(name+"\x00"))
	m.put("fi_provider", other, set{"name": uint64(other + 0x100)})
	m.put("util_domain", domain, set{"prov": uint64(other)})
	m.put("util_ep", at, set{"domain": uint64(domain)})
	if name == "shm" {
		m.sendAt(at, set{"buf.cmd.msg.hdr.tag": 9}, nil)
	}
	return at
}

// lnx is where one of the queues is.
func (m *madeup) lnx(queue string) inferior.Addr {
	m.t.Helper()
	return m.at("lnx_ep", m.lnxEP(), "le_srq."+queue+".lq_queue")
}

// lnxEP is where the endpoint begins, of which a program has a part.
func (m *madeup) lnxEP() inferior.Addr {
	return endpointAt - (m.at("lnx_ep", endpointAt, "le_ep") - endpointAt)
}

// takeLNX makes an entry.
func (m *madeup) takeLNX(i int, of set) inferior.Addr {
	m.t.Helper()
	at := place(entriesAt, i)
	m.Put(at, make([]byte, stride))
	m.put("lnx_rx_entry", at, of)
	return at
}

// postLNX makes a receive with a part.
func (m *madeup) postLNX(i int, of set) inferior.Addr {
	m.t.Helper()
	at := m.takeLNX(i, set{"rx_global": 1, "rx_entry.iov": uint64(m.at("lnx_rx_entry", place(entriesAt, i), "rx_iov")), "rx_entry.count": 1})
	m.put("iovec", m.at("lnx_rx_entry", at, "rx_iov"), set{"iov_base": 0x5555, "iov_len": 12})
	m.put("lnx_rx_entry", at, of)
	return at
}

// arriveLNX makes an entry of a message that endpoint i beneath has taken, and what shm keeps of it.
func (m *madeup) arriveLNX(i, core int, of set) inferior.Addr {
	m.t.Helper()
	kept := place(keptAt, i)
	at := m.takeLNX(i, set{"rx_entry.addr": 4, "rx_entry.tag": 7, "rx_entry.peer_context": uint64(kept),
		"rx_entry.owner_context": uint64(m.at("lnx_ep", endpointAt, "le_srq")), "rx_cep": uint64(lnxArmsAt) + uint64(core*0x1000)})
	m.put("lnx_rx_entry", at, of)
	m.Put(kept, make([]byte, stride))
	m.put("smr_cmd_ctx", kept, set{"ep": uint64(belowAt) + uint64(core*0x1_0000), "rx_entry": uint64(at), "cmd.msg.hdr.op": opTagged, "cmd.msg.hdr.tag": 7, "cmd.msg.hdr.size": 12})
	return at
}

// Receives stand in one ring, whoever they are from.
func TestLNXPosted(t *testing.T) {
	m := makeLNX(t, "libfabric 2.1")
	first := m.postLNX(0, set{"rx_entry.addr": 3, "rx_entry.tag": 7, "rx_ignore": 0xff, "rx_entry.context": 0x123})
	second := m.postLNX(1, set{"rx_entry.addr": AnyPeer, "rx_entry.count": 2})
	m.ring(m.lnx("lps_trecv.lqp_recvq"), []inferior.Addr{first, second})
	_, q := m.mustOpen()
	want := []transport.Receive{
		{Request: transport.Request{Addr: first, UserData: 0x123, Length: 12, Buffer: 0x5555}, Tag: 7, Mask: ^uint64(0xff), Peer: mqs.Known[uint64](3)},
		{Request: transport.Request{Addr: second, Length: -1}, Mask: ^uint64(0), Peer: transport.Peer{Value: AnyPeer}, Sequence: 1},
	}
	if !reflect.DeepEqual(q.Posted, want) {
		t.Errorf("%+v\nwant %+v", q.Posted, want)
	}
	for name, bad := range map[string]set{"of one beneath": {"rx_global": 0}, "parts elsewhere": {"rx_entry.iov": 1}} {
		m.postLNX(1, bad)
		m.ring(m.lnx("lps_trecv.lqp_recvq"), []inferior.Addr{first, second})
		if _, err := m.open(); !m.refuses(err, "or is of an endpoint beneath") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Messages are what is kept of them beneath, where that is read. What those beneath call a peer is not what lnx does.
func TestLNXUnexpected(t *testing.T) {
	m := makeLNX(t, "libfabric 2.1", "shm", "cxi")
	entries := []inferior.Addr{m.arriveLNX(0, 0, nil), m.arriveLNX(1, 1, nil), m.arriveLNX(2, 0, nil)}
	m.put("smr_cmd_ctx", place(keptAt, 2), set{"cmd.msg.hdr.op_src": smrVector, "cmd.msg.hdr.op_flags": smrHasData, "cmd.msg.hdr.data": 5})
	m.ring(m.lnx("lps_trecv.lqp_unexq"), entries)
	e, q := m.mustOpen()
	want := []transport.Message{
		{Addr: entries[0], Tag: 7, Length: 12},
		{Addr: entries[2], Tag: 7, Length: 12, Rendezvous: true, Beside: mqs.Known[uint64](5)},
	}
	if !reflect.DeepEqual(q.Unexpected, want) || !saysOf(q.UnexpectedErr, "the provider cxi is not read there") {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	m.PutUint64(peersAt, uint64(entries[2]))
	if got, err := e.Claimed(peersAt); err != nil || got != want[1] || e.Same(mqs.Known[uint64](3)) != mqs.Known[uint64](3) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := e.Claimed(nowhere); err == nil {
		t.Error("a message is claimed where nothing can be read")
	}
	if _, err := e.MessageAt(nowhere); err == nil {
		t.Error("there is a message where nothing can be read")
	}
	m = makeLNX(t, "libfabric 2.1", "shm")
	m.ring(m.lnx("lps_trecv.lqp_unexq"), []inferior.Addr{m.arriveLNX(0, 0, nil), m.arriveLNX(1, 0, set{"rx_entry.peer_context": uint64(place(keptAt, 0))})})
	if _, q := m.mustOpen(); !saysOf(q.UnexpectedErr, "is another endpoint's") || len(q.Unexpected) != 1 {
		t.Errorf("what is kept is another message's: %v, %d messages", q.UnexpectedErr, len(q.Unexpected))
	}
}

// Messages on their way are with the endpoints beneath.
func TestLNXSends(t *testing.T) {
	m := makeLNX(t, "libfabric 2.1", "udp", "shm")
	_, q := m.mustOpen()
	if len(q.Sends) != 1 || q.Sends[0].Tag != 9 || q.Sends[0].UserData != 0x99 || q.Sends[0].Peer.Known || !saysOf(q.SendsErr, "the provider udp is not read there") {
		t.Errorf("%+v, %v", q.Sends, q.SendsErr)
	}
	m.put("smr_ep", belowAt+0x1_0000, set{"tx_fs": uint64(nowhere)})
	if _, err := m.open(); !m.refuses(err, "the messages on their way: ") {
		t.Error(err)
	}
}

// There may be no more endpoints beneath than a bound, and where they are must be known.
func TestLNXCores(t *testing.T) {
	names := make([]string, maxCores+1)
	for i := range names {
		names[i] = "udp"
	}
	if _, err := makeLNX(t, "libfabric 2.1", names...).open(); !makeLNX(t, "libfabric 2.1").refuses(err, "there are more than 64") {
		t.Error(err)
	}
	if _, err := makeLNX(t, "libfabric 2.1", names[1:]...).open(); err != nil {
		t.Error(err)
	}
	e, _ := makeLNX(t, "libfabric 2.1").mustOpen()
	x := e.in.(*lnx)
	x.Provider = inferior.Struct[lnxProvider]{}
	if err := x.readCores(); !saysOf(err, "no layout of them is known") {
		t.Error(err)
	}
}
