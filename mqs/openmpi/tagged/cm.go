package tagged

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ofi"
)

// cmName is Open MPI's for the component.
const cmName = "cm"

// cmComponent is pml cm, which leaves matching to an mtl: of those mtl ofi is read, which leaves it to libfabric.
// Its types have tables of their own.
var cmComponent = ompi.Component{Name: cmName, Types: &struct{}{}, Open: openCM}

// Symbols of the mtl that is in use, both of them in .dynsym of stripped libraries too.
const (
	symMTL = "ompi_mtl"     // mca_mtl_base_module_t *
	symOFI = "ompi_mtl_ofi" // mca_mtl_ofi_module_t, which begins with one
)

// pmlCM is pml cm with mtl ofi of one process.
type pmlCM struct {
	*ompi.Process
	cmTypes
	at       inferior.Ptr[ofiModule]
	module   ofiModule
	requests *cmRequests   // nil before they were read
	ofi      *ofi.Endpoint // as well
}

func openCM(p *ompi.Process) (ompi.Queues, error) {
	if p.PML != cmName {
		return nil, nil
	}
	u, err := newCM(p)
	if err != nil {
		u = &pmlCM{Process: p}
	}
	q := newQueues(p, u)
	if err != nil {
		q.readErr = fmt.Errorf("its messages are inside an mtl, which can't be read: %w", err)
	}
	return q, nil
}

// newCM finds the mtl and the layouts that fit it: the module's masks of tags agree with each other.
func newCM(p *ompi.Process) (*pmlCM, error) {
	symbols, err := p.R.Symbols(symMTL, symOFI)
	if err != nil {
		return nil, err
	}
	module, isThere := symbols[symOFI]
	used, isKnown := symbols[symMTL]
	if !isThere || !isKnown {
		return nil, errors.New("of the mtls of pml cm, mpi-queues reads mtl ofi only")
	}
	if to, err := p.R.Pointers(used.Addr, 1); err != nil || to[0] != module.Addr {
		return nil, errors.New("of the mtls of pml cm, mpi-queues reads mtl ofi only")
	}
	u, err := inferior.Fit(p.R, inferior.Queries(&cmTypes{}), cmTables(), func(l *layout.Layouts) (*pmlCM, error) {
		u := &pmlCM{Process: p, at: inferior.Ptr[ofiModule](module.Addr)}
		if err := inferior.Bind(&u.cmTypes, l); err != nil {
			return nil, err
		}
		var err error
		if u.module, err = u.Module.Read(p.R, u.at); err != nil {
			return nil, err
		}
		return u, errors.Join(u.proveModule(), u.proveLists())
	})
	var noFit *inferior.NoFitError
	if errors.As(err, &noFit) {
		return nil, fmt.Errorf("none of the layouts of pml cm that mpi-queues knows (%s) fits: install the library's debug symbols, "+
			"or `set debuginfod enabled on`\n%w", noFit.Known, noFit.Why)
	}
	return u, err
}

// protocolBits is MTL_OFI_PROTO_BIT_COUNT, which stand above the tag (ompi/mca/mtl/ofi/mtl_ofi_types.h, 4.1 to 6.0).
const protocolBits = 2

// proveModule checks what the module says of tags.
func (u *pmlCM) proveModule() error {
	m, width := u.module, u.tagBits()
	tags := transport.Bits{Width: width}
	if width < 16 || width > 32 || m.TagMask != tags.Mask() || m.SyncSend != 1<<width || m.SyncAnswer != 2<<width {
		return fmt.Errorf("the module's tags have the mask %#x, and its protocol %#x and %#x", m.TagMask, m.SyncSend, m.SyncAnswer)
	}
	if !m.HasData && (m.RankBits < 1 || m.RankBits > 30) {
		return fmt.Errorf("the module's ranks have %d bits", m.RankBits)
	}
	return nil
}

// tagBits is the number of bits of the program's tag, which stands lowest.
func (u *pmlCM) tagBits() uint { return uint(bits.Len64(u.module.TagMask)) }

// proveLists checks the lists of requests, all of which are of the heavy class.
func (u *pmlCM) proveLists() error {
	return errors.Join(ompi.ProveFreeList(u.Process, u.list(ompi.SymSendRequests), &u.HeavySend),
		ompi.ProveFreeList(u.Process, u.list(ompi.SymRecvRequests), &u.Receive))
}

// list is a list of requests.
func (u *pmlCM) list(symbol string) inferior.Ptr[ompi.FreeList] {
	return inferior.Ptr[ompi.FreeList](u.Symbols[symbol].Addr)
}

func (u *pmlCM) transport() string { return ofi.Name }

// tags is how mtl ofi puts envelopes into tags (ompi/mca/mtl/ofi/mtl_ofi_types.h, 4.1 to 6.0): from above the
// context, the sender's rank if that does not travel beside the tag, two bits of its protocol and the tag with its
// sign, which receives of any tag look at. An answer to a synchronous send is received as any message is.
func (u *pmlCM) tags() transport.Tags {
	m := u.module
	rank := transport.Bits{}
	shift := u.tagBits() + protocolBits
	if !m.HasData {
		rank = transport.Bits{Shift: shift, Width: uint(m.RankBits)}
	}
	return transport.Tags{
		Context: transport.Bits{Shift: shift + rank.Width, Width: 64 - shift - rank.Width},
		Rank:    rank,
		Tag:     transport.Bits{Width: u.tagBits(), Signed: true},
		AnyTag:  m.TagMask >> 1,
		// The communicator's, whatever else the process is called.
		IsRankBeside: m.HasData,
		IsInternal: func(e transport.Envelope) bool {
			return e.Tag < 0 || e.Raw&m.SyncAnswer != 0
		},
	}
}

// handle: libfabric has what the mtl has given it, which is [pmlCM.owned]'s to find the request of.
func (u *pmlCM) handle(r *transport.Request) inferior.Ptr[ompi.Request] {
	return inferior.Ptr[ompi.Request](r.User)
}

// maker: all that is left of a buffered send is its data, once it was collected.
func (u *pmlCM) maker(r *transport.Request) maker {
	switch k := u.requests.by[inferior.Ptr[ompi.Request](r.User)]; {
	case k == nil:
		return madeForCall
	case k.mode == ompi.ModeBuffered && k.isSend && r.Released:
		return madeForBuffer
	}
	return madeForProgram
}

// scattered: the mtl keeps the convertor of a receive.
func (u *pmlCM) scattered(generic inferior.Addr) (data, bool) {
	c, err := u.Convertor.Read(u.R, inferior.Ptr[convertor](generic))
	return data{buffer: c.Buffer, count: c.Count, datatype: c.Datatype}, err == nil
}

// peer: mtl ofi keeps libfabric's address in an object of its own, which knows the module.
func (u *pmlCM) peer(endpoint inferior.Addr) transport.Peer {
	e, err := u.Endpoint.Read(u.R, inferior.Ptr[ofiEndpoint](endpoint))
	p := transport.Peer{Value: e.Peer, Known: err == nil && e.Module == u.at}
	if u.ofi != nil {
		return u.ofi.Same(p)
	}
	return p
}

// matcher finds the endpoint that the mtl receives by, and puts the pml's own requests to what that has.
func (u *pmlCM) matcher() (transport.Transport, transport.Matcher, error) {
	if u.module.Used > 1 || u.module.Scalable != 0 {
		return nil, nil, errors.New("mtl ofi uses several contexts, of which mpi-queues reads one only")
	}
	c, err := u.Context.Read(u.R, u.module.Contexts)
	if err != nil {
		return nil, nil, err
	}
	all, err := ofi.Open(u.R, c.Receiving)
	var other *ofi.ProviderError
	if errors.As(err, &other) {
		return nil, nil, fmt.Errorf("%w (mtl ofi takes that if it is named: --mca mtl_ofi_provider_include '%s')", err, ofi.AnyNetwork)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := u.readRequests(); err != nil {
		return nil, nil, err
	}
	u.ofi = all.Endpoint()
	m := &cmMatcher{Endpoint: u.ofi, of: u}
	return all, m, m.join()
}
