package tagged

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ofi"
)

// mtlOFI is mtl ofi of one process, which leaves matching to libfabric.
type mtlOFI struct {
	*pmlCM
	ofiTypes
	at     inferior.Ptr[ofiModule]
	module ofiModule
	ofi    *ofi.Endpoint // nil before it was opened
}

func openMTLOFI(u *pmlCM, l *layout.Layouts, module inferior.Addr) (mtl, error) {
	m := &mtlOFI{pmlCM: u, at: inferior.Ptr[ofiModule](module)}
	err := inferior.Bind(&m.ofiTypes, l)
	if err == nil {
		m.module, err = m.Module.Read(u.R, m.at)
	}
	if err != nil {
		return nil, err
	}
	return m, m.proveModule()
}

// protocolBits is MTL_OFI_PROTO_BIT_COUNT, which stand above the tag (ompi/mca/mtl/ofi/mtl_ofi_types.h, 4.1 to 6.0).
const protocolBits = 2

// proveModule checks what the module says of tags.
func (u *mtlOFI) proveModule() error {
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
func (u *mtlOFI) tagBits() uint { return uint(bits.Len64(u.module.TagMask)) }

func (u *mtlOFI) transport() string { return ofi.Name }

// tags is how mtl ofi puts envelopes into tags (ompi/mca/mtl/ofi/mtl_ofi_types.h, 4.1 to 6.0): from above the
// context, the sender's rank if that does not travel beside the tag, two bits of its protocol and the tag with its
// sign, which receives of any tag look at. An answer to a synchronous send is received as any message is.
func (u *mtlOFI) tags() transport.Tags {
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

// ask: the mtl notes no mask, so that any tag looks like tag 0, and nothing at all of a message that was probed for. What a
// former user of its place has left there has begun.
func (u *mtlOFI) ask(k *ownRequest, r *cmAt) error {
	m, err := u.OFI.Read(u.R, inferior.Ptr[ofiRequest](r.mtl))
	k.tag, k.peer = m.Match, transport.Peer{Value: m.Peer, Known: m.Peer != u.module.AnyPeer}
	k.tagLost = u.tags().Tag.Of(m.Match) == 0
	k.askLost = m.Started || m.Data != r.Convertor.Ptr() || m.Comm != r.Comm
	return err
}

func (u *mtlOFI) lengthOf(at inferior.Ptr[mtlRequest]) int64 {
	m, err := u.OFI.Read(u.R, inferior.Ptr[ofiRequest](at))
	if err != nil {
		return -1
	}
	return int64(m.Length)
}

// peer: mtl ofi keeps libfabric's address in an object of its own, which knows the module.
func (u *mtlOFI) peer(endpoint inferior.Addr) transport.Peer {
	e, err := u.Endpoint.Read(u.R, inferior.Ptr[ofiEndpoint](endpoint))
	p := transport.Peer{Value: e.Peer, Known: err == nil && e.Module == u.at}
	if u.ofi != nil {
		return u.ofi.Same(p)
	}
	return p
}

// matcher finds the endpoint that the mtl receives by, and puts the pml's own requests to what that has.
func (u *mtlOFI) matcher() (transport.Transport, transport.Matcher, error) {
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
	m := &ofiMatcher{Endpoint: u.ofi, of: u}
	return all, m, m.join()
}
