package ofi

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// keptAt is where what is kept of messages is, stackAt where those on their way are.
const (
	keptAt  = messagesAt
	stackAt = buffersAt
)

// makeSMR makes a process with an endpoint of the provider shm, which has nothing.
func makeSMR(t *testing.T) *madeup {
	t.Helper()
	m := makeShared(t)
	m.Put(providerAt+0x100, []byte("shm\x00"))
	m.put("smr_ep", endpointAt, set{"srx": uint64(sharedAt), "tx_fs": 0})
	return m
}

// keep makes an entry of a message of nobody's, and what the provider keeps of it.
func (m *madeup) keep(i int, of set) inferior.Addr {
	m.t.Helper()
	kept := place(keptAt, i)
	at := m.entry(i, set{"peer_entry.addr": AnyPeer, "peer_entry.srx": uint64(sharedAt), "peer_entry.tag": 7, "peer_entry.peer_context": uint64(kept)})
	m.Put(kept, make([]byte, stride))
	m.put("smr_cmd_ctx", kept, set{"ep": uint64(endpointAt), "rx_entry": uint64(at), "cmd.msg.hdr.op": opTagged, "cmd.msg.hdr.tag": 7, "cmd.msg.hdr.size": 12})
	m.put("smr_cmd_ctx", kept, of)
	return at
}

// Messages are what is kept of them: the data of some is with their senders.
func TestSMRUnexpected(t *testing.T) {
	m := makeSMR(t)
	var links []inferior.Addr
	for i, source := range []uint64{0, 1, smrVector, smrVector + 1, smrSegments, smrSegments + 1} {
		links = append(links, m.keep(i, set{"cmd.msg.hdr.op_src": source}))
	}
	m.put("util_rx_entry", links[1], set{"peer_entry.addr": 3, "peer_entry.flags": remoteData, "peer_entry.cq_data": 5})
	m.ring(m.shared("unspec_unexp_tag_queue"), links)
	e, q := m.mustOpen()
	var want []transport.Message
	for i, rendezvous := range []bool{false, false, true, true, false, true} {
		want = append(want, transport.Message{Addr: links[i], Tag: 7, Peer: transport.Peer{Value: AnyPeer}, Length: 12, Rendezvous: rendezvous})
	}
	want[1].Peer, want[1].Beside = mqs.Known[uint64](3), mqs.Known[uint64](5)
	if !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	m.PutUint64(peersAt, uint64(links[2]))
	if got, err := e.Claimed(peersAt); err != nil || got != want[2] {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := e.Claimed(nowhere); err == nil {
		t.Error("a message is claimed where nothing can be read")
	}
	for says, bad := range map[string]set{"is another endpoint's": {"ep": 1}, "another endpoint's": {"rx_entry": 1}, "has the tags 0x8 and 0x7": {"cmd.msg.hdr.tag": 8}, "has the tags": {"cmd.msg.hdr.op": 0}} {
		m := makeSMR(t)
		m.ring(m.shared("unspec_unexp_tag_queue"), []inferior.Addr{m.keep(0, nil), m.keep(1, bad)})
		if _, q := m.mustOpen(); q.UnexpectedErr == nil || !strings.Contains(q.UnexpectedErr.Error(), says) || len(q.Unexpected) != 1 {
			t.Errorf("%v, %d messages", q.UnexpectedErr, len(q.Unexpected))
		}
	}
}

// send puts messages on their way into places, of which nil are free, the last one first.
func (m *madeup) send(messages ...set) {
	m.t.Helper()
	m.sendAt(endpointAt, messages...)
}

// sendAt does so for an endpoint.
func (m *madeup) sendAt(ep inferior.Addr, messages ...set) {
	m.t.Helper()
	size, _ := m.l.Size("smr_tx_fs_entry")
	m.put("smr_ep", ep, set{"tx_fs": uint64(stackAt)})
	m.put("smr_tx_fs", stackAt, set{"size": uint64(len(messages))})
	free := uint64(0)
	for i, of := range messages {
		at := m.at("smr_tx_fs", stackAt, "entry") + inferior.Addr(i*size)
		m.Put(at, make([]byte, size))
		if of == nil {
			link := m.at("smr_tx_fs_entry", at, "buf") - 8
			m.PutUint64(link, free)
			free = uint64(link)
			continue
		}
		m.put("smr_tx_fs_entry", at, set{"buf.context": 0x99, "buf.cmd.msg.hdr.op": opTagged, "buf.cmd.msg.hdr.size": 12})
		m.put("smr_tx_fs_entry", at, of)
	}
	m.put("smr_tx_fs", stackAt, set{"next": free})
}

// Sends are in the places that are not free.
func TestSMRSends(t *testing.T) {
	m := makeSMR(t)
	m.send(nil, set{"buf.cmd.msg.hdr.tag": 7}, nil, set{"buf.context": 0}, set{"buf.cmd.msg.hdr.op": 0})
	_, q := m.mustOpen()
	size, _ := m.l.Size("smr_tx_fs_entry")
	at := m.at("smr_tx_fs", stackAt, "entry") + inferior.Addr(size)
	want := []transport.Send{{Request: transport.Request{Addr: at, UserData: 0x99, Length: 12}, Tag: 7, TagKept: true}}
	if !reflect.DeepEqual(q.Sends, want) {
		t.Errorf("%+v\nwant %+v", q.Sends, want)
	}
}

// What does not agree with itself is not believed.
func TestSMRProofs(t *testing.T) {
	for name, c := range map[string]struct {
		of   string
		at   inferior.Addr
		bad  set
		says string
	}{
		"a queue nowhere":     {"smr_ep", endpointAt, set{"srx": uint64(nowhere)}, "cannot read"},
		"another queue":       {"util_srx_ctx", sharedAt, set{"peer_srx.ep_fid.fid.context": 1}, "says that it is at"},
		"sends nowhere":       {"smr_ep", endpointAt, set{"tx_fs": uint64(nowhere)}, "the messages on their way: "},
		"far too many places": {"smr_tx_fs", stackAt, set{"size": maxSlots + 1}, "there are 65537 places"},
		"more than there are": {"smr_tx_fs", stackAt, set{"size": maxSlots}, "cannot read"},
		"a place that is not": {"smr_tx_fs", stackAt, set{"next": uint64(stackAt)}, "is not one of those"},
	} {
		m := makeSMR(t)
		m.send(nil, set{})
		m.put(c.of, c.at, c.bad)
		if _, err := m.open(); !m.refuses(err, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
