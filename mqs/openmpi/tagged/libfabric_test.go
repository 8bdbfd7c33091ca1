package tagged

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// A sketch of a second transport, as far as it shows that the seam carries more than UCX: the posted receives
// of libfabric's provider rxm, beneath Open MPI's pml cm with mtl ofi. The sender's rank travels beside the tag.

// symOFI is the only module of mtl ofi.
const symOFI = "ompi_mtl_ofi" // mca_mtl_ofi_module_t

// syncSendAck is MTL_OFI_SYNC_SEND_ACK_DATA, a bit of the protocol.
const syncSendAck = 1 << 33

// ofiTags are mtl ofi's where the sender's rank travels in the completion's data
// (ompi/mca/mtl/ofi/mtl_ofi_types.h, 4.1): context, two bits of its protocol, tag with its sign, which receives
// of any tag look at. An answer to a synchronous send is received as any message is.
var ofiTags = transport.Tags{
	Context:    transport.Bits{Shift: 34, Width: 30},
	Tag:        transport.Bits{Width: 32, Signed: true},
	AnyTag:     1<<31 - 1,
	IsInternal: func(e transport.Envelope) bool { return e.Tag < 0 || e.Raw&syncSendAck != 0 },
}

type ofiTypes struct {
	Module   inferior.Struct[ofiModule]   `c:"mca_mtl_ofi_module_t"`
	Context  inferior.Struct[ofiContext]  `c:"mca_mtl_ofi_context_t"`
	Endpoint inferior.Struct[ofiEndpoint] `c:"mca_mtl_ofi_endpoint_t"`
	EP       inferior.Struct[rxmEP]       `c:"rxm_ep"`
	Queue    inferior.Struct[rxmQueue]    `c:"rxm_recv_queue"`
	Entry    inferior.Struct[rxmEntry]    `c:"rxm_recv_entry"`
}

type ofiModule struct {
	Context inferior.Ptr[ofiContext] `c:"ofi_ctxt"`
	CQData  bool                     `c:"fi_cq_data"`
	TagMask uint64                   `c:"mpi_tag_mask"`
}

type ofiContext struct {
	Receiving inferior.Ptr[rxmEP] `c:"rx_ep"` // struct fid_ep *, which an rxm_ep begins with
}

type ofiEndpoint struct {
	Module inferior.Ptr[ofiModule] `c:"mtl_ofi_module"`
	Peer   uint64                  `c:"peer_fiaddr"`
}

type rxmEP struct {
	Tagged inferior.Embedded[rxmQueue] `c:"trecv_queue"`
}

type rxmQueue struct {
	EP    inferior.Ptr[rxmEP]         `c:"rxm_ep"`
	Type  uint32                      `c:"type"`
	Ring  inferior.Embedded[rxmEntry] `c:"recv_list"` // the ring's head, which no entry is
	First inferior.Ptr[rxmEntry]      `c:"recv_list.next"`
}

type rxmEntry struct {
	Next    inferior.Ptr[rxmEntry] `c:"entry.next"` // first in an entry
	Parts   uint8                  `c:"rxm_iov.count"`
	Base    inferior.Addr          `c:"rxm_iov.iov.iov_base"`
	Peer    uint64                 `c:"addr"`
	Context inferior.Addr          `c:"context"`
	Tag     uint64                 `c:"tag"`
	Ignore  uint64                 `c:"ignore"`
	Length  uint64                 `c:"total_len"`
}

// rxmTagged is RXM_RECV_QUEUE_TAGGED (prov/rxm/src/rxm.h, 1.17), and anyPeer FI_ADDR_UNSPEC (rdma/fabric.h).
const (
	rxmTagged = 2
	anyPeer   = ^uint64(0)
)

// pmlCM is pml cm with mtl ofi.
type pmlCM struct {
	*ompi.Process
	ofiTypes
	at inferior.Ptr[ofiModule]
}

func openCM(p *ompi.Process) (ompi.Queues, error) {
	if p.PML != "cm" {
		return nil, nil
	}
	tables, err := layout.ReadTables(os.DirFS("testdata"), "layouts")
	if err != nil {
		return nil, err
	}
	u := &pmlCM{Process: p}
	if err := inferior.Bind(&u.ofiTypes, tables[0].Layouts(inferior.Queries(&u.ofiTypes))); err != nil {
		return nil, err
	}
	at, err := p.R.Symbol(symOFI)
	if err != nil || at == nil {
		return nil, fmt.Errorf("no %s: %w", symOFI, err)
	}
	u.at = inferior.Ptr[ofiModule](at.Addr)
	return newQueues(p, u), nil
}

func (u *pmlCM) transport() string { return "libfabric" }

func (u *pmlCM) tags() transport.Tags { return ofiTags }

func (u *pmlCM) handle(r *transport.Request) inferior.Ptr[ompi.Request] {
	return inferior.Ptr[ompi.Request](r.UserData)
}

func (u *pmlCM) maker(inferior.Addr) maker { return madeOtherwise }

func (u *pmlCM) persistents() ([]persistent, error) { return nil, nil }

func (u *pmlCM) scattered(inferior.Addr) (data, bool) { return data{}, false }

func (u *pmlCM) persistentAt(inferior.Addr, string) (persistent, bool) { return persistent{}, false }

// peer: mtl ofi keeps libfabric's address in an object of its own, which knows the module.
func (u *pmlCM) peer(endpoint inferior.Addr) transport.Peer {
	e, err := u.Endpoint.Read(u.R, inferior.Ptr[ofiEndpoint](endpoint))
	return transport.Peer{Value: e.Peer, Known: err == nil && e.Module == u.at}
}

func (u *pmlCM) matcher() (transport.Transport, transport.Matcher, error) {
	m, err := u.Module.Read(u.R, u.at)
	if err != nil {
		return nil, nil, err
	}
	if !m.CQData || m.TagMask != ofiTags.Tag.Mask() {
		return nil, nil, errors.New("its tags are others")
	}
	c, err := u.Context.Read(u.R, m.Context)
	if err != nil {
		return nil, nil, err
	}
	ep := &rxm{at: c.Receiving}
	return ep, ep, ep.read(u)
}

// rxm is an endpoint of rxm. It is all that there is of the transport.
type rxm struct {
	at     inferior.Ptr[rxmEP]
	queues transport.Queues
}

func (e *rxm) read(u *pmlCM) error {
	offset, _ := inferior.OffsetOf(&u.EP, func(t *rxmEP) *inferior.Embedded[rxmQueue] { return &t.Tagged })
	q, err := u.Queue.Read(u.R, inferior.Ptr[rxmQueue](e.at.Addr()+offset))
	if err != nil {
		return err
	}
	if q.EP != e.at || q.Type != rxmTagged {
		return errors.New("the layout of libfabric does not fit")
	}
	var last rxmEntry
	next := func(at inferior.Ptr[rxmEntry]) (inferior.Ptr[rxmEntry], error) {
		var err error
		last, err = u.Entry.Read(u.R, at)
		return last.Next, err
	}
	for at, err := range inferior.Walk(q.First, q.Ring.Ptr(), 1<<20, next) {
		if err != nil {
			return err
		}
		r := transport.Receive{Tag: last.Tag, Mask: ^last.Ignore, Peer: transport.Peer{Value: last.Peer, Known: last.Peer != anyPeer}}
		r.Addr, r.UserData, r.Length = at.Addr(), last.Context, int64(last.Length)
		if last.Parts == 1 {
			r.Buffer = last.Base
		}
		e.queues.Posted = append(e.queues.Posted, r)
	}
	return nil
}

func (e *rxm) Name() string                  { return "libfabric" }
func (e *rxm) LayoutName() string            { return "libfabric 1.17" }
func (e *rxm) Matchers() []transport.Matcher { return []transport.Matcher{e} }
func (e *rxm) Addr() inferior.Addr           { return e.at.Addr() }
func (e *rxm) Queues() *transport.Queues     { return &e.queues }
func (e *rxm) SendAt(inferior.Addr) (transport.Send, bool, bool) {
	return transport.Send{}, false, false
}
func (e *rxm) ReceiveAt(inferior.Addr) (transport.Receive, bool) { return transport.Receive{}, false }
func (e *rxm) MessageAt(inferior.Addr) (transport.Message, error) {
	return transport.Message{}, errors.New("none is read")
}

// openSketch opens a process by the sketch.
func openSketch(t *testing.T, of inferior.Inferior) (*ompi.Process, ompi.Queues) {
	t.Helper()
	r := inferior.NewReader(t.Context(), of)
	symbols, err := r.Symbols(ompi.Symbols...)
	if err != nil {
		t.Fatal(err)
	}
	files := os.DirFS("..")
	p, q, err := ompi.Fit(r, symbols, layout.MustReadTables(files, "tables"), []ompi.Component{{Name: "cm", Types: &struct{}{}, Open: openCM}})
	if err != nil || q == nil {
		t.Fatal(q, err)
	}
	return p, q
}

// sketched are the pending receives that the sketch shows, by the names of their communicators.
func sketched(t *testing.T, of inferior.Inferior) map[string][]mqs.PendingOperation {
	t.Helper()
	p, q := openSketch(t, of)
	out := map[string][]mqs.PendingOperation{}
	for c, err := range p.Communicators() {
		if err != nil {
			t.Fatal(err)
		}
		q.Operations(&c, mqs.PendingReceives, func(op mqs.PendingOperation, err error) bool {
			if err != nil {
				t.Fatal(err)
			}
			if !op.Internal {
				out[c.Name.Value] = append(out[c.Name.Value], op)
			}
			return true
		})
	}
	if freed := q.Freed(); len(freed) > 0 {
		t.Errorf("receives on unknown communicators %v", freed)
	}
	return out
}

// The receives that a rank has posted through pml cm (tests/programs/queues.c under libfabric 1.17, provider
// tcp;ofi_rxm) are on their communicators, in order, as the program says.
func TestLibfabricReadsThroughTheSeam(t *testing.T) {
	r, err := recording.Open("testdata/libfabric-rank-0.mpiq")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/libfabric-rank-0.json")
	if err != nil {
		t.Fatal(err)
	}
	var account struct {
		Communicators []struct {
			Name     string
			Receives []struct {
				Rank   *int32         `json:"desired_local_rank"`
				Tag    *int32         `json:"desired_tag"`
				Wild   bool           `json:"tag_wild"`
				Bytes  int64          `json:"desired_length"`
				Buffer *inferior.Addr `json:"buffer"`
				Type   string         `json:"datatype"`
			} `json:"pending_receives"`
		}
	}
	if err := json.Unmarshal(text, &account); err != nil {
		t.Fatal(err)
	}
	shown := sketched(t, r.Processes[0])
	total := 0
	for _, c := range account.Communicators {
		got := shown[c.Name]
		if len(got) != len(c.Receives) {
			t.Errorf("%s: %d receives, not %d", c.Name, len(got), len(c.Receives))
			continue
		}
		for i, want := range c.Receives {
			total++
			op := got[i]
			if op.DesiredLocalRank.Value != *want.Rank || op.TagWild.Value != want.Wild || !want.Wild && op.DesiredTag != mqs.Known(*want.Tag) {
				t.Errorf("%s: receive %d: %+v, not %+v", c.Name, i, op, want)
			}
			// What is not contiguous is received into a buffer of the mtl first.
			if strings.HasPrefix(want.Type, "MPI_") && op.Buffer.Value != 0 && (op.Buffer.Value != *want.Buffer || op.DesiredLength.Value != want.Bytes) {
				t.Errorf("%s: receive %d: %s %d, not %s %d", c.Name, i, op.Buffer.Value, op.DesiredLength.Value, *want.Buffer, want.Bytes)
			}
		}
	}
	if total != 66 {
		t.Errorf("%d receives", total)
	}
}
