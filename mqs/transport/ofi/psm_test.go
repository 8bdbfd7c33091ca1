package ofi

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	mq "github.com/mpi-queues/mpi-queues/mqs/transport/psm"
)

// Where the parts of an endpoint of the provider psm3 are. Requests stand in two pools, of chunks of four.
const (
	psmContextAt  = sharedAt
	psmMQAt       = sharedAt + 0x1000
	psmBookAt     = peersAt
	psmHeadAt     = peersAt + 0x800
	psmPeersAt    = peersAt + 0xc00
	psmReceivesAt = poolAt
	psmSendsAt    = poolAt + 0x400
	psmChunksAt   = regionsAt
	psmObjectsAt  = entriesAt
	psmSentAt     = buffersAt
	psmInChunk    = 4
	psmPeer0      = 0x7700
)

// makePSM makes a process with an endpoint of the provider psm3, which has nothing.
func makePSM(t *testing.T) *madeup {
	t.Helper()
	m := makeEndpoint(t, "libfabric 2.1 with psm3")
	m.Put(endpointAt, make([]byte, stride))
	m.Put(providerAt+0x100, []byte("psm3\x00"))
	m.Put(psmContextAt, make([]byte, 0x8000))
	m.Put(psmBookAt, make([]byte, 0x1000))
	m.Put(poolAt, make([]byte, 0x2000))
	m.put("psmx3_fid_ep", endpointAt, set{"ep.fid.fclass": uint64(ClassEndpoint), "domain": uint64(domainAt), "rx": uint64(psmContextAt), "av": uint64(psmBookAt)})
	m.put("psmx3_trx_ctxt", psmContextAt, set{"domain": uint64(domainAt), "psm2_ep": 0x1111, "psm2_mq": uint64(psmMQAt), "id": 1})
	m.put("psm2_mq", psmMQAt, set{"ep": 0x1111, "rreq_pool": uint64(psmReceivesAt), "sreq_pool": uint64(psmSendsAt)})
	m.put("psmx3_fid_av", psmBookAt, set{"domain": uint64(domainAt), "type": psmBookTable, "max_trx_ctxt": 2, "hdr": uint64(psmHeadAt)})
	m.put("psmx3_av_hdr", psmHeadAt, set{"last": 4})
	size, _ := m.l.Size("psmx3_av_conn")
	m.put("psmx3_av_conn", m.at("psmx3_fid_av", psmBookAt, "conn_info")+inferior.Addr(size), set{"trx_ctxt": uint64(psmContextAt), "epaddrs": uint64(psmPeersAt)})
	for i, at := range []uint64{psmPeer0, 0, psmPeer0 + 1, psmPeer0} {
		m.PutUint64(psmPeersAt+inferior.Addr(8*i), at)
	}
	m.psmPool(psmReceivesAt, psmObjectsAt)
	m.psmPool(psmSendsAt, psmSentAt)
	return m
}

// psmPool makes a pool of requests, of which those that are not nil are in use, and returns where these are.
func (m *madeup) psmPool(at, objects inferior.Addr, requests ...set) (used []inferior.Addr) {
	m.t.Helper()
	header, _ := m.l.Size("mpool_element")
	chunks := (len(requests) + psmInChunk - 1) / psmInChunk
	table := psmChunksAt + (at-poolAt)*2
	count := uint64(0)
	for i := range chunks * psmInChunk {
		if i%psmInChunk == 0 {
			m.PutUint64(table+inferior.Addr(8*(i/psmInChunk)), uint64(objects)+uint64(i*stride))
		}
		element := place(objects, i) + 0x20
		m.Put(element, make([]byte, stride))
		m.put("mpool_element", element, set{"me_index": uint64(i), "me_mpool": 0})
		if i >= len(requests) || requests[i] == nil {
			continue
		}
		count++
		m.put("mpool_element", element, set{"me_mpool": uint64(at)})
		m.put("psm2_mq_req", element+inferior.Addr(header), set{"mq": uint64(psmMQAt)})
		m.put("psm2_mq_req", element+inferior.Addr(header), requests[i])
		used = append(used, element+inferior.Addr(header))
	}
	m.put("mpool", at, set{"mp_elm_offset": 0x20, "mp_num_obj": uint64(chunks * psmInChunk), "mp_num_obj_inuse": count, "mp_elm_size": stride,
		"mp_num_obj_per_chunk": psmInChunk, "mp_elm_vector": uint64(table)})
	return used
}

// psmList puts requests into a list.
func (m *madeup) psmList(list inferior.Addr, kind int, requests ...inferior.Addr) {
	m.t.Helper()
	all := append(append([]inferior.Addr{0}, requests...), 0)
	for i, at := range requests {
		for path, v := range map[string]inferior.Addr{"prev": all[i], "next": all[i+2], "q": list} {
			m.PutUint64(m.at("psm2_mq_req", at, path)+inferior.Addr(8*kind), uint64(v))
		}
	}
	m.put("mqq", list, set{"first": uint64(all[min(1, len(requests))]), "last": uint64(all[len(requests)])})
}

// psmKinds is how many kinds of lists a request can stand in.
func (m *madeup) psmKinds() int {
	f, _ := m.l.Field("psm2_mq_req", "next")
	return f.Size / 8
}

// psmTable is a list of a table.
func (m *madeup) psmTable(kind, bucket int) inferior.Addr {
	f, _ := m.l.Field("psm2_mq", "expected_htab")
	size, _ := m.l.Size("mqq")
	return m.at("psm2_mq", psmMQAt, "expected_htab") + inferior.Addr(kind*(f.Size/(m.psmKinds()-1))+bucket*size)
}

// psmWanted is a receive of a tag in 64 bits, and psmWanted60 one of a tag in 60.
func psmWanted(more set) set {
	return with(set{"type": mq.IsReceive, "state": mq.Posted, "req_data.tagsel.tag0": 0xffffff00, "req_data.tagsel.tag1": 0xffffffff, "req_data.tagsel.tag2": 0xc0000000}, more)
}

func psmWanted60(more set) set {
	return psmWanted(with(set{"req_data.tagsel.tag1": 0xcfffffff, "req_data.tagsel.tag2": 0}, more))
}

// with are members of which some are others.
func with(members, more set) set {
	out := set{}
	for _, of := range []set{members, more} {
		for path, v := range of {
			out[path] = v
		}
	}
	return out
}

// Receives stand in the list of all or in a table, and are shown in the order of posting.
func TestPSMPosted(t *testing.T) {
	m := makePSM(t)
	all := m.psmPool(psmReceivesAt, psmObjectsAt,
		psmWanted(set{"timestamp": 5, "req_data.tag.tag0": 7, "req_data.tag.tag1": 0xffffffff, "req_data.context": 0x123, "req_data.buf": 0x5555, "req_data.buf_len": 12, "req_data.peer": psmPeer0}),
		nil, psmWanted(set{"timestamp": 3, "req_data.tag.tag2": 0x80000000}), psmWanted(set{"timestamp": 2, "req_data.tag.tag0": 9}),
		psmWanted(set{"timestamp": 9, "req_data.tag.tag0": 8, "req_data.peer": psmPeer0 + 1}))
	last := m.psmKinds() - 1
	m.psmList(m.at("psm2_mq", psmMQAt, "expected_q"), last, all[0], all[1])
	m.psmList(m.psmTable(1, 7), 1, all[2])
	m.psmList(m.psmTable(last-1, 3), last-1, all[3])
	m.put("psm2_mq", psmMQAt, set{"expected_list_len": 2, "expected_hash_len": 2})
	e, q := m.mustOpen()
	mask := uint64(0xffffffff_ffffff00)
	want := []transport.Receive{
		{Request: transport.Request{Addr: all[2]}, Tag: 9, Mask: mask, Sequence: 2},
		{Request: transport.Request{Addr: all[0], UserData: 0x123, Length: 12, Buffer: 0x5555}, Tag: 0xffffffff_00000007, Mask: mask, Peer: mqs.Known[uint64](0), Sequence: 5},
		{Request: transport.Request{Addr: all[3]}, Tag: 8, Mask: mask, Peer: mqs.Known[uint64](2), Sequence: 9},
	}
	if !reflect.DeepEqual(q.Posted, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Posted, want, q.UnexpectedErr)
	}
	for peer, want := range map[transport.Peer]transport.Peer{mqs.Known[uint64](3): mqs.Known[uint64](0), mqs.Known[uint64](2): mqs.Known[uint64](2), mqs.Known[uint64](9): mqs.Known[uint64](9), {}: {}} {
		if got := e.Same(peer); got != want {
			t.Errorf("%+v is %+v", peer, got)
		}
	}
	m.put("psmx3_fid_av", psmBookAt, set{"type": psmBookMap})
	if _, q := m.mustOpen(); q.Posted[1].Peer != mqs.Known[uint64](psmPeer0) || q.Posted[0].Peer.Known {
		t.Errorf("%+v", q.Posted)
	}
	for i, at := range all {
		m.put("psm2_mq_req", at, psmWanted60(set{"req_data.tag.tag1": 0x0fffffff | uint64(i/3)<<30}))
	}
	if _, q := m.mustOpen(); len(q.Posted) != 3 || q.Posted[2].Tag != 0x0fffffff_00000007 || q.Posted[2].Mask != mask {
		t.Errorf("%+v", q.Posted)
	}
}

// psmArrive has messages come that no receive matches.
func (m *madeup) psmArrive(receive set, messages ...set) []inferior.Addr {
	m.t.Helper()
	var all []set
	for _, of := range messages {
		all = append(all, with(set{"type": mq.IsReceive}, of))
	}
	if receive != nil {
		all = append(all, receive)
	}
	used := m.psmPool(psmReceivesAt, psmObjectsAt, all...)
	last := m.psmKinds() - 1
	m.psmList(m.at("psm2_mq", psmMQAt, "unexpected_q"), last, used[:len(messages)]...)
	m.psmList(m.at("psm2_mq", psmMQAt, "expected_q"), last, used[len(messages):]...)
	m.put("psm2_mq", psmMQAt, set{"expected_list_len": uint64(len(used) - len(messages)), "unexpected_list_len": uint64(len(messages))})
	return used
}

// Messages are in the list of all. Where their flags stand, a receive tells, or what they have themselves.
func TestPSMUnexpected(t *testing.T) {
	m := makePSM(t)
	all := m.psmArrive(psmWanted(nil),
		set{"req_data.tag.tag0": 7, "req_data.tag.tag1": 0x10000000, "req_data.tag.tag2": 0x10000005, "req_data.send_msglen": 12, "req_data.buf": 0x5555, "req_data.peer": psmPeer0 + 1},
		set{"state": mq.Unexpected, "req_data.tag.tag0": 8, "req_data.tag.tag2": 0x20000000, "req_data.send_msglen": 12, "req_data.buf": 0x5555},
		set{"state": mq.Rendezvous, "req_data.tag.tag0": 9, "req_data.buf": 0x5555, "req_data.peer": psmPeer0 + 9},
		set{"req_data.tag.tag2": 0x80000000},
	)
	e, q := m.mustOpen()
	want := []transport.Message{
		{Addr: all[0], Tag: 0x10000000_00000007, Peer: mqs.Known[uint64](2), Length: 12, Data: 0x5555, Beside: mqs.Known[uint64](5)},
		{Addr: all[1], Tag: 8, Length: -1},
		{Addr: all[2], Tag: 9, Rendezvous: true},
	}
	if !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	if got, err := e.MessageAt(all[0]); err != nil || got != want[0] {
		t.Errorf("%+v, %v", got, err)
	}
	for name, at := range map[string]inferior.Addr{"no tagged one": all[3], "a receive": all[4], "none": nowhere} {
		if _, err := e.MessageAt(at); !errors.Is(err, transport.ErrNoMessage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for says, isFine := range map[[2]uint64]bool{{4, 0}: true, {5, 4}: true, {5, 3}: false, {3, 4}: false} {
		m.put("psm2_mq", psmMQAt, set{"unexpected_list_len": says[0], "unexpected_hash_len": says[1]})
		if _, q := m.mustOpen(); (q.UnexpectedErr == nil) != isFine {
			t.Errorf("in the list %d, in tables %d: %v", says[0], says[1], q.UnexpectedErr)
		}
	}
	m = makePSM(t)
	all = m.psmArrive(psmWanted60(nil), set{"req_data.tag.tag0": 7, "req_data.tag.tag1": 0x10000001, "req_data.tag.tag2": 0xf0000000})
	_, q = m.mustOpen()
	want = []transport.Message{{Addr: all[0], Tag: 0x1_00000007, Beside: mqs.Known[uint64](0xf0000000)}}
	if !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	m = makePSM(t)
	all = m.psmArrive(nil, set{"req_data.tag.tag0": 7}, set{"req_data.tag.tag1": 0x10000000, "req_data.tag.tag2": 0x10000005},
		set{"req_data.tag.tag1": 0x10000000, "req_data.tag.tag2": 5}, set{"req_data.tag.tag1": 0x80000000, "req_data.tag.tag2": 5}, set{"req_data.tag.tag1": 0x10000000}, set{})
	_, q = m.mustOpen()
	want = []transport.Message{{Addr: all[0], Tag: 7}, {Addr: all[1], Tag: 0x10000000_00000000, Beside: mqs.Known[uint64](5)}, {Addr: all[2], Beside: mqs.Known[uint64](5)}}
	if !reflect.DeepEqual(q.Unexpected, want) || !errors.Is(q.UnexpectedErr, errPSMTags) {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
}

// A message that a context has claimed is in use, and in no list, whatever its request's former user has left there.
func TestPSMClaimed(t *testing.T) {
	m := makePSM(t)
	all := m.psmArrive(nil, set{"req_data.tag.tag0": 7}, set{"req_data.tag.tag0": 8, "req_data.context": 1}, set{}, set{"state": mq.Matched})
	last := m.psmKinds() - 1
	m.psmList(m.at("psm2_mq", psmMQAt, "unexpected_q"), last, all[0])
	m.psmList(m.at("psm2_mq", psmMQAt, "completed_q"), last, all[2])
	for _, at := range []inferior.Addr{all[1], all[3]} {
		m.PutUint64(m.at("psm2_mq_req", at, "q")+inferior.Addr(8*last), 0)
	}
	m.put("psm2_mq", psmMQAt, set{"unexpected_list_len": 1})
	e, q := m.mustOpen()
	if len(q.Unexpected) != 1 || q.UnexpectedErr != nil {
		t.Fatalf("%+v", q)
	}
	all = append(all, nowhere)
	for i, at := range all {
		m.PutUint64(chunkAt+inferior.Addr(8*i), uint64(at))
	}
	for i := range all {
		got, err := e.Claimed(chunkAt + inferior.Addr(8*i))
		if isClaimed := i == 1; (err == nil) != isClaimed || isClaimed && got.Tag != 8 || !isClaimed && !errors.Is(err, transport.ErrNoMessage) {
			t.Errorf("%d: %+v, %v", i, got, err)
		}
	}
	if _, err := e.Claimed(nowhere); err == nil {
		t.Error("a message is claimed where nothing can be read")
	}
}

// Sends are those that are in use and not complete.
func TestPSMSends(t *testing.T) {
	m := makePSM(t)
	sent := set{"type": mq.IsSend, "state": 5, "req_data.context": 0x99, "req_data.tag.tag0": 7, "req_data.send_msglen": 12, "req_data.buf": 0x5555, "req_data.peer": psmPeer0}
	all := m.psmPool(psmSendsAt, psmSentAt, with(sent, set{"state": mq.Complete}), nil, sent, with(sent, set{"req_data.context": 0}), with(sent, set{"req_data.tag.tag2": 0x80000000}),
		with(sent, set{"req_data.tag.tag1": 0x10000000}))
	_, q := m.mustOpen()
	want := []transport.Send{
		{Request: transport.Request{Addr: all[1], UserData: 0x99, Length: 12, Buffer: 0x5555}, Tag: 7, TagKept: true, Peer: mqs.Known[uint64](0)},
		{Request: transport.Request{Addr: all[4], UserData: 0x99, Length: 12, Buffer: 0x5555}, Tag: 0x10000000_00000007, TagKept: true, Peer: mqs.Known[uint64](0)},
	}
	if !reflect.DeepEqual(q.Sends, want) {
		t.Errorf("%+v\nwant %+v", q.Sends, want)
	}
	m.put("psm2_mq_req", all[3], set{"state": mq.Complete, "req_data.tag.tag2": 0}) // which had told where flags stand
	want[1].TagKept, want[1].TagLost = false, true
	if _, q := m.mustOpen(); !reflect.DeepEqual(q.Sends, want) {
		t.Errorf("%+v\nwant %+v", q.Sends, want)
	}
}

// The provider psm2 has the same, of libpsm2's types.
func TestPSM2(t *testing.T) {
	m := makePSM(t)
	m.Put(providerAt+0x100, []byte("psm2\x00"))
	if _, err := m.open(); !m.refuses(err, "is of the provider psm2") {
		t.Error(err)
	}
	for _, q := range inferior.Queries(allTypes()...) {
		if name := strings.Replace(q.Name, "psmx2", "psmx3", 1); m.l.Find(name) != nil && !strings.HasPrefix(q.Name, "psmx3") {
			m.Types[q.Name] = m.l.Find(name)
		}
	}
	if o, err := m.open(); err != nil || o.LayoutName() != "" {
		t.Error(err)
	}
}

// Later releases note with an element's number that it is in use.
func TestPSMUsed(t *testing.T) {
	m := makePSM(t)
	all := m.psmPool(psmReceivesAt, psmObjectsAt, psmWanted(nil))
	m.psmList(m.at("psm2_mq", psmMQAt, "expected_q"), m.psmKinds()-1, all...)
	m.put("psm2_mq", psmMQAt, set{"expected_list_len": 1})
	m.put("mpool_element", psmObjectsAt+0x20, set{"me_index": 1 << 31})
	if _, q := m.mustOpen(); len(q.Posted) != 1 {
		t.Errorf("%+v", q.Posted)
	}
}

// What does not agree with itself is not believed; of the messages, that costs those behind it.
func TestPSMProofs(t *testing.T) {
	for name, c := range map[string]struct {
		of   string
		at   inferior.Addr
		bad  set
		says string
	}{
		"addresses nowhere":  {"psmx3_av_hdr", psmHeadAt, set{"last": maxPSMAddresses}, "cannot read"},
		"too large a pool":   {"mpool", psmReceivesAt, set{"mp_num_obj": 1<<22 + 4}, "has 4194308 requests"},
		"in use, but free":   {"mpool_element", place(psmObjectsAt, 2) + 0x20, set{"me_index": 1<<31 | 2}, "is not number 2"},
		"two kinds of masks": {"psm2_mq_req", 1, psmWanted60(nil), "compares other bits"},
	} {
		m := makePSM(t)
		all := m.psmPool(psmReceivesAt, psmObjectsAt, psmWanted(nil), psmWanted(nil))
		list := m.at("psm2_mq", psmMQAt, "expected_q")
		m.psmList(list, m.psmKinds()-1, all...)
		m.put("psm2_mq", psmMQAt, set{"expected_list_len": 2})
		if _, q := m.mustOpen(); len(q.Posted) != 2 {
			t.Fatalf("%s: %+v", name, q)
		}
		if c.of == "psm2_mq_req" {
			c.at = all[c.at]
		}
		m.put(c.of, c.at, c.bad)
		if _, err := m.open(); !m.refuses(err, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for says, bad := range map[string]func(m *madeup, all []inferior.Addr){
		"there are 2, and they say 3": func(m *madeup, _ []inferior.Addr) { m.put("psm2_mq", psmMQAt, set{"unexpected_list_len": 3}) },
		"has state 2":                 func(m *madeup, all []inferior.Addr) { m.put("psm2_mq_req", all[1], set{"state": 2}) },
		"or in another list": func(m *madeup, all []inferior.Addr) {
			m.PutUint64(m.at("psm2_mq_req", all[0], "next")+inferior.Addr(8*(m.psmKinds()-1)), uint64(all[2]))
		},
		"does not follow": func(m *madeup, all []inferior.Addr) {
			m.PutUint64(m.at("psm2_mq_req", all[1], "q")+inferior.Addr(8*(m.psmKinds()-1)), 1)
		},
	} {
		m := makePSM(t)
		bad(m, m.psmArrive(psmWanted(nil), set{}, set{}))
		if _, q := m.mustOpen(); q.UnexpectedErr == nil || !strings.Contains(q.UnexpectedErr.Error(), says) || len(q.Posted) != 1 {
			t.Errorf("%s: %v", says, q.UnexpectedErr)
		}
	}
	m := makePSM(t)
	m.psmPool(psmSendsAt, psmSentAt, set{"type": mq.IsReceive})
	if _, err := m.open(); !m.refuses(err, "the send at") {
		t.Error(err)
	}
}
