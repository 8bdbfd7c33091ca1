package ofi

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	mq "github.com/mpi-queues/mpi-queues/mqs/transport/psm"
)

var update = flag.Bool("update", false, "write what is shown of changed endpoints into testdata/proofs")

// filled are endpoints of the providers, most of them with two receives, two unexpected messages and two sends.
var filled = map[string]func(m *madeup){
	"rxm": func(m *madeup) {
		m.fillRXM()
		m.connect(set{"remote_index": 5}, set{"remote_index": 6})
	},
	"rxm-1.13": (*madeup).fillRXM,
	"rxm-2.1": func(m *madeup) {
		m.come()
		m.fillShared()
		m.pool(2, m.onItsWay(), nil, nil, m.onItsWay())
	},
	"tcp": func(m *madeup) {
		m.save(of("hdr", xnetTagged, 7, set{"tag": 7}), of("hdr", xnetTagged, 8, set{"tag": 8}))
		m.transfers(m.at("xnet_srx", srxAt, "tag_queue.head"), 10, set{"src_addr": AnyPeer, "tag_seq_no": 1}, set{"src_addr": AnyPeer, "iov_cnt": 1, "tag_seq_no": 2})
		m.transfers(0, 20, of("hdr", xnetTagged, 7, set{"context": 0x99}))
		m.wire(of("cur_rx.hdr", xnetTagged, 9, set{"peer": uint64(peersAt), "cur_tx.entry": uint64(place(entriesAt, 20))}))
		m.transfers(m.at("xnet_ep", socketsAt, "tx_queue.head"), 30, of("hdr", xnetTagged, 8, set{"context": 0x99}))
		m.ring(m.domain("unexp_tag_list"), []inferior.Addr{m.at("xnet_ep", socketsAt, "unexp_entry")})
	},
	"sockets": func(m *madeup) {
		const coming = buffersAt + 0x10000
		m.entries("rx_entry_list", set{"tag": 7, "rx_op.dest_iov_len": 1}, set{"tag": 8, "is_busy": 1}, set{"tag": 9})
		m.entries("rx_buffered_list", set{"is_buffered": 1, "is_complete": 1, "tag": 8}, set{"is_buffered": 1, "is_complete": 1, "tag": 8})
		m.onTheirWay(set{"tag": 7}, set{"tag": 8})
		m.Put(coming, make([]byte, 0x1000))
		m.ring(m.at("sock_rx_ctx", receivesAt, "pe_entry_list"), []inferior.Addr{m.at("sock_pe_entry", coming, "ctx_entry")})
	},
	"shm": func(m *madeup) {
		m.ring(m.shared("unspec_unexp_tag_queue"), []inferior.Addr{m.keep(0, nil), m.keep(1, nil)})
		m.fillShared()
		m.send(nil, set{}, nil, set{})
	},
	"shm-1.17": func(m *madeup) {
		m.ring(m.own("trecv_queue.list"), []inferior.Addr{m.take(0, set{"peer_entry.count": 1}), m.take(1, nil)})
		m.ring(m.own("unexp_tagged_queue.list"), []inferior.Addr{m.keepOwn(2, nil), m.keepOwn(3, nil)})
		m.send(nil, set{}, nil, set{})
	},
	"shm-2.6": func(m *madeup) {
		m.ring(m.shared("unspec_unexp_tag_queue"), []inferior.Addr{m.keepPending(0, nil), m.keepPending(1, nil)})
		m.fillShared()
		m.waits(nil, set{}, nil, set{})
	},
	"sm2": func(m *madeup) {
		m.ring(m.shared("unspec_unexp_tag_queue"), []inferior.Addr{m.keepSM2(0, nil), m.keepSM2(1, nil)})
		m.fillShared()
		m.places(endpointAt, nil, set{}, nil, set{})
	},
	"efa": func(m *madeup) {
		m.beneath("shm")
		m.put("smr_ep", belowAt, set{"srx": uint64(takerAt)})
		below := m.keep(1, set{"ep": uint64(belowAt)})
		m.put("util_rx_entry", below, set{"peer_entry.addr": 4, "peer_entry.srx": uint64(takerAt)})
		m.ring(m.shared("unspec_unexp_tag_queue"), []inferior.Addr{m.arriveEFA(0, efaEager, nil), below, m.arriveEFA(2, efaEager, nil)})
		m.fillShared()
		var links []inferior.Addr
		for i := range 2 {
			links = append(links, m.at("efa_rdm_ope", m.operation(5+i, set{"type": efaSends, "cq_entry.op_context": 0x99}), "ep_entry"))
		}
		m.ring(m.at("efa_rdm_ep", endpointAt, "txe_list"), links)
	},
	"lnx": func(m *madeup) {
		m.ring(m.lnx("lps_trecv.lqp_recvq"), []inferior.Addr{m.postLNX(0, nil), m.postLNX(1, nil)})
		m.ring(m.lnx("lps_trecv.lqp_unexq"), []inferior.Addr{m.arriveLNX(2, 0, nil), m.arriveLNX(3, 0, nil)})
	},
	"lnx-2.5": func(m *madeup) {
		m.ring(m.lnx("lps_trecv.lqp_recvq"), []inferior.Addr{m.postLNX(0, nil), m.postLNX(1, nil)})
	},
	"cxi": func(m *madeup) {
		const ev = "put_ev.tgt_long."
		m.address(cxiPlace(1, 7), cxiPlace(2, 7))
		m.request("cxip_rxc_hpc", cxiReceivesAt, "base.rx_evtq.req_list", "sw_recv_queue", 0, cxiRequested(set{"recv.match_id": cxiID(1, 7)}), cxiRequested(nil))
		m.cxiArrive(set{ev + "match_bits": cxiTagged}, set{ev + "match_bits": cxiTagged})
		var links []inferior.Addr
		for i := 8; i < 10; i++ {
			m.Put(place(entriesAt, i), make([]byte, stride))
			m.put("cxip_req", place(entriesAt, i), set{"type": cxiSent, "req_ctx": uint64(cxiSendsAt), "context": 0x99, "send.txc": uint64(cxiSendsAt), "send.tagged": 1})
			links = append(links, m.at("cxip_req", place(entriesAt, i), "evtq_entry"))
		}
		m.ring(m.at("cxip_txc", cxiSendsAt, "tx_evtq.req_list"), links)
	},
	"opx": func(m *madeup) {
		m.opxPost(nil, nil)
		m.opxArrive(m.at("fi_opx_ep_rx", opxReceivesAt, "queue"), 0, set{"hdr.bth.opcode": opxEager | opxTagged}, set{"hdr.bth.opcode": opxShort | opxTagged})
		m.opxArrive(m.at("fi_opx_match_ue_hash", opxHashedAt, "ue"), 3, set{"hdr.bth.opcode": opxEager | opxTagged})
	},
	"psm3": func(m *madeup) {
		all := m.psmPool(psmReceivesAt, psmObjectsAt, psmWanted(set{"req_data.peer": psmPeer0}), psmWanted(nil), set{"type": mq.IsReceive}, set{"type": mq.IsReceive})
		m.psmList(m.at("psm2_mq", psmMQAt, "expected_q"), m.psmKinds()-1, all[:2]...)
		m.psmList(m.at("psm2_mq", psmMQAt, "unexpected_q"), m.psmKinds()-1, all[2:]...)
		m.put("psm2_mq", psmMQAt, set{"expected_list_len": 2, "unexpected_list_len": 2})
		m.psmPool(psmSendsAt, psmSentAt, set{"type": mq.IsSend, "state": 5, "req_data.context": 0x99}, nil, set{"type": mq.IsSend, "state": 5, "req_data.context": 0x99})
	},
}

// empty are the same endpoints before they are filled.
var empty = map[string]func(*testing.T) *madeup{
	"rxm": makeUp, "rxm-2.1": makeShared, "tcp": makeXNet, "shm": makeSMR, "shm-1.17": makeSMROwn, "shm-2.6": makeSMRPending, "sm2": makeSM2, "efa": makeEFA,
	"cxi": makeCXI, "opx": makeOPX, "psm3": makePSM,
	"rxm-1.13": func(t *testing.T) *madeup { return makeMapped(t, nil, set{"handle.remote_key": 5<<32 | 1}, set{}) },
	"sockets":  func(t *testing.T) *madeup { return makeSockets(t, 1, 2, 1) },
	"lnx":      func(t *testing.T) *madeup { return makeLNX(t, "libfabric 2.1", "shm") },
	"lnx-2.5":  func(t *testing.T) *madeup { return makeLNX(t, "libfabric 2.5", "udp", "udp") },
}

func (m *madeup) onItsWay() set {
	return set{"app_context": 0x99, "pkt.ctrl_hdr.conn_id": 5, "pkt.hdr.size": 12}
}

// fillRXM fills an endpoint of rxm's that has a queue of its own.
func (m *madeup) fillRXM() {
	m.post(set{"tag": 7, "rxm_iov.count": 1}, set{"tag": 8, "addr": AnyPeer})
	m.arrive(tagged(7, set{"unexp_msg.addr": 3}), tagged(8, set{"unexp_msg.addr": AnyPeer, "conn": uint64(place(connsAt, 1))}))
	m.pool(2, m.onItsWay(), nil, nil, m.onItsWay())
}

// fillShared posts receives in a queue of the kind that providers share, behind the entries of messages.
func (m *madeup) fillShared() {
	m.list(m.shared("tag_queue.head"), m.entry(8, set{"peer_entry.addr": AnyPeer, "seq_no": 1}), m.entry(9, set{"peer_entry.addr": AnyPeer, "peer_entry.count": 1, "seq_no": 2}))
}

// read reads the endpoint by the layouts of its own release alone.
func (m *madeup) read(of inferior.Inferior) (transport.Queues, error) {
	e, err := openEndpoint(inferior.NewReader(context.Background(), of), m.l, endpointAt)
	if err != nil {
		return transport.Queues{}, err
	}
	return e.queues, nil
}

// watched is a process that notes which objects are read, by the names of their types.
type watched struct {
	inferior.Inferior
	objects map[string][]object
}

// object is where an object is, and its members that are read.
type object struct {
	at      inferior.Addr
	members map[string]layout.Field
}

func (w *watched) SawMemory(inferior.Addr, []byte) {}

func (w *watched) SawObject(name string, at inferior.Addr, members map[string]layout.Field) {
	if !slices.ContainsFunc(w.objects[name], func(o object) bool { return o.at == at }) {
		w.objects[name] = append(w.objects[name], object{at, members})
	}
}

// change is another value of a member.
type change struct {
	name  string
	value uint64
}

// changesOf are the changes of a member that are tried.
func changesOf(f layout.Field, was uint64) (out []change) {
	all := ^uint64(0) >> (64 - 8*f.Size)
	tried := []change{{"zero", 0}, {"next", (was + 1) & all}, {"most", all}}
	if f.Kind == layout.KindPointer {
		tried = []change{{"null", 0}, {"nowhere", 0x10}}
	}
	for _, c := range tried {
		if c.value != was && !slices.ContainsFunc(out, func(other change) bool { return other.value == c.value }) {
			out = append(out, c)
		}
	}
	return out
}

// TestProofs changes each member that is read of the first and of the last object of each type of a filled endpoint, one at a time.
// The files in testdata/proofs record what is shown
// after each change, and so which changes go unnoticed; -update writes them.
func TestProofs(t *testing.T) {
	for name, fill := range filled {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := empty[name](t)
			fill(m)
			seen := &watched{m, map[string][]object{}}
			was, err := m.read(seen)
			if err != nil || len(was.Posted) != 2 {
				t.Fatalf("%+v, %v", was, err)
			}
			found := findings{tried: map[string]int{}, by: map[string]map[string][]string{}}
			done := map[inferior.Addr]bool{}
			r := inferior.NewReader(t.Context(), m)
			for _, c := range slices.Sorted(maps.Keys(seen.objects)) {
				all := seen.objects[c]
				for i, o := range []object{all[0], all[len(all)-1]} {
					for _, path := range slices.Sorted(maps.Keys(o.members)) {
						f := o.members[path]
						at := o.at + inferior.Addr(f.Offset)
						if done[at] || f.Kind == layout.KindStruct || f.Kind == layout.KindArray || f.Size != 1 && f.Size != 2 && f.Size != 4 && f.Size != 8 {
							continue
						}
						done[at] = true
						before, err := r.Uint(at, f.Size)
						if err != nil {
							t.Fatal(err)
						}
						for _, other := range changesOf(f, before) {
							now, err := m.read(inferiortest.Patch(m).PutBytes(at, m.Order().AppendUint64(nil, other.value)[:f.Size]))
							found.add(c+": "+path+[]string{"", "[last]"}[i], other.name, outcome(name, &was, &now, err))
						}
					}
				}
			}
			file, got := filepath.Join("testdata", "proofs", name+".txt"), found.text()
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s differs (%v): -update writes it. Got\n%s", file, err, got)
			}
		})
	}
}

// number is what differs between sentences on the same thing.
var number = regexp.MustCompile(`-?\b(0x[0-9a-f]+|[0-9]+)\b`)

// outcome says what has become of an endpoint's queues.
func outcome(provider string, was, now *transport.Queues, err error) string {
	if err != nil {
		text := err.Error()
		if _, own, isOne := strings.Cut(text, "of the provider "+provider+": "); isOne {
			text = own // of providers that are tried one after the other
		}
		text, _, _ = strings.Cut(text, "\n")
		return "refused: " + number.ReplaceAllString(text, "#")
	}
	var out []string
	for _, q := range []struct {
		name          string
		was, now      any
		wasErr, isErr error
		left          int
	}{
		{"receives", was.Posted, now.Posted, nil, nil, 0},
		{"sends", was.Sends, now.Sends, was.SendsErr, now.SendsErr, len(now.Sends)},
		{"messages", was.Unexpected, now.Unexpected, was.UnexpectedErr, now.UnexpectedErr, len(now.Unexpected)},
		{"note on network cards", was.Offload, now.Offload, nil, nil, 0},
	} {
		why := fmt.Sprint(q.isErr)
		switch {
		case why != fmt.Sprint(q.wasErr):
			out = append(out, fmt.Sprintf("%d %s, then: %s", q.left, q.name, number.ReplaceAllString(why, "#")))
		case !reflect.DeepEqual(q.was, q.now):
			out = append(out, "other "+q.name)
		}
	}
	if len(out) == 0 {
		return "the same"
	}
	return strings.Join(out, ", ")
}

// findings are outcomes, and by which changes of which members each came about.
type findings struct {
	by    map[string]map[string][]string
	tried map[string]int // changes of a member
}

func (f *findings) add(member, what, outcome string) {
	if f.by[outcome] == nil {
		f.by[outcome] = map[string][]string{}
	}
	f.by[outcome][member] = append(f.by[outcome][member], what)
	f.tried[member]++
}

// text has the members of each outcome, type by type, with the changes of those that have other outcomes too.
func (f *findings) text() []byte {
	var b bytes.Buffer
	for _, outcome := range slices.Sorted(maps.Keys(f.by)) {
		b.WriteString(outcome)
		last := ""
		for _, member := range slices.Sorted(maps.Keys(f.by[outcome])) {
			c, path, _ := strings.Cut(member, ": ")
			if changes := f.by[outcome][member]; len(changes) < f.tried[member] {
				path += " (" + strings.Join(changes, ", ") + ")"
			}
			if c == last {
				b.WriteString(", " + path)
			} else {
				b.WriteString("\n  " + c + ": " + path)
			}
			last = c
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}
