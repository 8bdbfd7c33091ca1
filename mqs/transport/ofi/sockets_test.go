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

// Where the parts of an endpoint of sockets' stand.
const (
	attrAt     = domainAt + 0x1000
	receivesAt = domainAt + 0x2000
	sendsAt    = domainAt + 0x3000
	bookAt     = domainAt + 0x4000
	bookHeadAt = domainAt + 0x5000
	tableAt    = domainAt + 0x6000
)

// makeSockets makes a process with an endpoint of the provider sockets, which has nothing, and so many addresses.
func makeSockets(t *testing.T, addresses ...byte) *madeup {
	t.Helper()
	m := makeEndpoint(t, "libfabric 1.17")
	m.put("util_ep", endpointAt, set{"domain": 0})
	m.Put(endpointAt, make([]byte, 0x1000))
	m.Put(attrAt, make([]byte, 0x5000))
	m.put("sock_ep", endpointAt, set{"ep.fid.fclass": uint64(ClassEndpoint), "attr": uint64(attrAt)})
	m.put("sock_ep_attr", attrAt, set{"fclass": uint64(ClassEndpoint), "domain": 0x77, "rx_ctx": uint64(receivesAt), "tx_ctx": uint64(sendsAt), "av": uint64(bookAt)})
	m.put("sock_rx_ctx", receivesAt, set{"ctx.fid.fclass": uint64(ClassReceives), "ep_attr": uint64(attrAt), "domain": 0x77})
	m.put("sock_tx_ctx", sendsAt, set{"ep_attr": uint64(attrAt), "domain": 0x77})
	m.put("sock_av", bookAt, set{"mask": ^uint64(0), "table_hdr": uint64(bookHeadAt), "table": uint64(tableAt)})
	m.put("sock_av_table_hdr", bookHeadAt, set{"size": 64, "stored": uint64(len(addresses))})
	width, _ := m.l.Size("sock_av_addr")
	for i, a := range addresses {
		at := tableAt + inferior.Addr(i*width)
		m.Put(at, make([]byte, width))
		m.Put(at, []byte{a})
		m.put("sock_av_addr", at, set{"valid": 1})
	}
	m.entries("rx_entry_list")
	m.entries("rx_buffered_list")
	m.ring(m.at("sock_rx_ctx", receivesAt, "pe_entry_list"), nil)
	m.onTheirWay()
	return m
}

// entries puts entries into a list of the receives, those of one list behind those of another.
func (m *madeup) entries(list string, entries ...set) {
	m.t.Helper()
	from := entriesAt
	if list == "rx_buffered_list" {
		from = messagesAt
	}
	var links []inferior.Addr
	for i, of := range entries {
		m.Put(place(from, i), make([]byte, stride))
		m.put("sock_rx_entry", place(from, i), set{"is_tagged": 1})
		m.put("sock_rx_entry", place(from, i), of)
		links = append(links, m.at("sock_rx_entry", place(from, i), "entry"))
	}
	m.ring(m.at("sock_rx_ctx", receivesAt, list), links)
}

// onTheirWay has messages be sent.
func (m *madeup) onTheirWay(sent ...set) {
	m.t.Helper()
	var links []inferior.Addr
	for i, of := range sent {
		at := buffersAt + inferior.Addr(i*0x1000)
		m.Put(at, make([]byte, 0x1000))
		m.put("sock_pe_entry", at, set{"type": sockIsSend, "pe.tx.tx_op.op": sockTagged, "pe.tx.tx_ctx": uint64(sendsAt), "context": 0x99, "total_len": 24 + 8 + 12})
		m.put("sock_pe_entry", at, of)
		links = append(links, m.at("sock_pe_entry", at, "ctx_entry"))
	}
	m.ring(m.at("sock_tx_ctx", sendsAt, "pe_entry_list"), links)
}

// Receives that wait are posted; an address of a peer's is as good as another one.
func TestSocketsPosted(t *testing.T) {
	m := makeSockets(t, 1, 2, 1)
	m.entries("rx_entry_list",
		set{"tag": 7, "ignore": 0xff, "addr": 2, "context": 0x123, "total_len": 12, "rx_op.dest_iov_len": 1, "rx_ctx": uint64(receivesAt)},
		set{"tag": 8, "is_busy": 1},
		set{"tag": 9, "is_tagged": 0},
		set{"tag": 10, "addr": AnyPeer, "total_len": 1 << 63, "rx_op.dest_iov_len": 2},
		set{"tag": 11, "addr": 5},
	)
	m.put("fi_rma_iov", m.at("sock_rx_entry", entriesAt, "iov"), set{"addr": 0x5555})
	e, q := m.mustOpen()
	want := []transport.Receive{
		{Request: transport.Request{Addr: entriesAt, UserData: 0x123, Length: 12, Buffer: 0x5555}, Tag: 7, Mask: ^uint64(0xff), Peer: mqs.Known[uint64](0)},
		{Request: transport.Request{Addr: place(entriesAt, 3), Length: -1}, Tag: 10, Mask: ^uint64(0), Peer: transport.Peer{Value: AnyPeer}, Sequence: 1},
		{Request: transport.Request{Addr: place(entriesAt, 4)}, Tag: 11, Mask: ^uint64(0), Peer: mqs.Known[uint64](5), Sequence: 2},
	}
	if !reflect.DeepEqual(q.Posted, want) {
		t.Errorf("%+v\nwant %+v", q.Posted, want)
	}
	for of, want := range map[transport.Peer]transport.Peer{
		mqs.Known[uint64](2): mqs.Known[uint64](0), mqs.Known[uint64](1): mqs.Known[uint64](1), {Value: 2}: {Value: 2},
	} {
		if got := e.Same(of); got != want {
			t.Errorf("%+v is %+v, want %+v", of, got, want)
		}
	}
}

// Messages stand with their data, but for those that a context has claimed.
func TestSocketsUnexpected(t *testing.T) {
	m := makeSockets(t, 1, 2)
	m.entries("rx_buffered_list",
		set{"is_buffered": 1, "tag": 7, "addr": 1, "total_len": 12},
		set{"is_buffered": 1, "tag": 8, "addr": AnyPeer, "total_len": 5, "is_busy": 1, "flags": remoteData, "data": 3},
		set{"is_buffered": 1, "tag": 9, "addr": 1, "is_claimed": 1, "context": 0x456},
		set{"is_buffered": 1, "is_tagged": 0},
	)
	e, q := m.mustOpen()
	size, _ := m.l.Size("sock_rx_entry")
	data := func(i int) inferior.Addr { return place(messagesAt, i) + inferior.Addr(size) }
	want := []transport.Message{
		{Addr: messagesAt, Tag: 7, Peer: mqs.Known[uint64](1), Length: 12, Data: data(0)},
		{Addr: place(messagesAt, 1), Tag: 8, Peer: transport.Peer{Value: AnyPeer}, Beside: mqs.Known[uint64](3), Length: 5, Data: data(1)},
	}
	if !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	if got, err := e.Claimed(0x456); err != nil || got.Tag != 9 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := e.Claimed(0x457); !errors.Is(err, transport.ErrNoMessage) {
		t.Error(err)
	}
	if got, err := e.MessageAt(messagesAt); err != nil || got != want[0] {
		t.Errorf("%+v, %v", got, err)
	}
	for at, says := range map[inferior.Addr]string{nowhere: "cannot read", place(messagesAt, 3): "there is no message"} {
		if _, err := e.MessageAt(at); err == nil || !strings.Contains(err.Error(), says) {
			t.Error(err)
		}
	}
}

// A message that is being copied into its receive has matched: the first whole one that a busy receive takes, unless a
// connection fills that receive.
func TestSocketsCopies(t *testing.T) {
	const coming = buffersAt + 0x10000
	for name, c := range map[string]struct {
		receive, message, of set
		left                 int
	}{
		"copied":                    {left: 1},
		"of any peer":               {receive: set{"addr": AnyPeer}, left: 1},
		"with any tag":              {receive: set{"tag": 0, "ignore": 0xff}, left: 1},
		"by another address":        {receive: set{"addr": 2}, left: 1},
		"a connection fills it":     {of: set{"pe.rx.rx_entry": uint64(entriesAt)}, left: 2},
		"a connection has filled":   {of: set{"pe.rx.rx_entry": uint64(entriesAt), "is_complete": 1}, left: 1},
		"one fills another":         {of: set{"pe.rx.rx_entry": uint64(place(messagesAt, 9))}, left: 1},
		"not busy":                  {receive: set{"is_busy": 0}, left: 2},
		"another tag":               {receive: set{"tag": 8}, left: 2},
		"another peer":              {receive: set{"addr": 1}, left: 2},
		"one whole":                 {message: set{"is_complete": 0}, left: 1},
		"the first of another peer": {receive: set{"addr": 0}, message: set{"addr": 1}, left: 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := makeSockets(t, 1, 2, 1)
			m.entries("rx_entry_list", set{"tag": 7, "is_busy": 1})
			m.put("sock_rx_entry", entriesAt, c.receive)
			m.entries("rx_buffered_list", set{"is_buffered": 1, "is_complete": 1, "tag": 7}, set{"is_buffered": 1, "is_complete": 1, "tag": 7})
			m.put("sock_rx_entry", messagesAt, c.message)
			m.Put(coming, make([]byte, 0x1000))
			m.put("sock_pe_entry", coming, c.of)
			m.ring(m.at("sock_rx_ctx", receivesAt, "pe_entry_list"), []inferior.Addr{m.at("sock_pe_entry", coming, "ctx_entry")})
			_, q := m.mustOpen()
			if q.UnexpectedErr != nil || len(q.Unexpected) != c.left {
				t.Errorf("%+v, %v, want %d", q.Unexpected, q.UnexpectedErr, c.left)
			}
			if last := len(q.Unexpected) - 1; name == "copied" && q.Unexpected[last].Addr != place(messagesAt, 1) {
				t.Errorf("the first one is left: %+v", q.Unexpected)
			}
		})
	}
}

// What is on its way says where it goes to, until all of it has left.
func TestSocketsSends(t *testing.T) {
	m := makeSockets(t, 1, 1)
	m.onTheirWay(
		set{"tag": 7, "addr": 1},
		set{"tag": 8, "addr": AnyPeer, "flags": remoteData},
		set{"pe.tx.send_done": 1, "addr": 0, "total_len": 1},
		set{"context": 0}, set{"is_complete": 1}, set{"pe.tx.tx_op.op": 0},
	)
	_, q := m.mustOpen()
	request := func(i int, length int64) transport.Request {
		return transport.Request{Addr: buffersAt + inferior.Addr(i*0x1000), UserData: 0x99, Length: length}
	}
	want := []transport.Send{
		{Request: request(0, 12), Tag: 7, TagKept: true, Peer: mqs.Known[uint64](0)},
		{Request: request(1, 4), Tag: 8, TagKept: true, Peer: transport.Peer{Value: AnyPeer}},
		{Request: request(2, -1), TagLost: true, Peer: mqs.Known[uint64](0)},
	}
	if !reflect.DeepEqual(q.Sends, want) {
		t.Errorf("%+v\nwant %+v", q.Sends, want)
	}
}

// An endpoint with several contexts has queues for each, which a program has by their receives.
func TestSocketsContexts(t *testing.T) {
	const receivesArrayAt, sendsArrayAt, index = attrAt + 0x800, attrAt + 0x900, 2
	for _, c := range []struct {
		says, of string
		at       inferior.Addr
		bad      set
	}{
		{says: "", of: "sock_rx_ctx", at: endpointAt},
		{"is not the one with its index", "sock_rx_ctx", endpointAt, set{"rx_id": 1}},
		{"do not lead to each other", "sock_ep_attr", attrAt, set{"fclass": uint64(ClassEndpoint)}},
		{"do not lead to each other", "sock_tx_ctx", sendsAt, set{"ep_attr": 1}},
		{"cannot read", "sock_ep_attr", attrAt, set{"rx_array": uint64(nowhere)}},
		{"cannot read", "sock_ep_attr", attrAt, set{"tx_array": uint64(nowhere)}},
		{"cannot read", "sock_rx_ctx", endpointAt, set{"ep_attr": uint64(nowhere)}},
	} {
		m := makeSockets(t, 1, 2)
		m.put("sock_ep_attr", attrAt, set{"fclass": uint64(ClassSeveral), "rx_ctx": 0, "tx_ctx": 0, "rx_array": uint64(receivesArrayAt), "tx_array": uint64(sendsArrayAt)})
		m.Put(receivesArrayAt+8*index, m.Pointer(endpointAt))
		m.Put(sendsArrayAt+8*index, m.Pointer(sendsAt))
		m.put("sock_rx_ctx", endpointAt, set{"ctx.fid.fclass": uint64(ClassReceives), "rx_id": index, "ep_attr": uint64(attrAt), "domain": 0x77})
		for _, list := range []string{"rx_entry_list", "rx_buffered_list", "pe_entry_list"} {
			m.ring(m.at("sock_rx_ctx", endpointAt, list), nil)
		}
		m.onTheirWay(set{"tag": 7, "addr": 1})
		m.put(c.of, c.at, c.bad)
		e, err := m.open()
		switch {
		case c.says != "":
			if !m.refuses(err, c.says) {
				t.Errorf("%s: %v", c.of, err)
			}
		case err != nil || len(e.endpoint.Queues().Sends) != 1:
			t.Errorf("%+v, %v", e, err)
		}
	}
}
