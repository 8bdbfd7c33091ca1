package tagged

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	"github.com/mpi-queues/mpi-queues/mqs/transport/psm"
)

// mtlPSM2 is mtl psm2 of one process, which leaves matching to libpsm2.
type mtlPSM2 struct {
	*pmlCM
	psm2Types
	module psm2Module
}

func openMTLPSM2(u *pmlCM, l *layout.Layouts, module inferior.Addr) (mtl, error) {
	m := &mtlPSM2{pmlCM: u}
	err := inferior.Bind(&m.psm2Types, l)
	if err == nil {
		m.module, err = m.Module.Read(u.R, inferior.Ptr[psm2Module](module))
	}
	if err == nil && (m.module.PSM == 0 || m.module.MQ == 0) {
		err = errors.New("the module has no endpoint")
	}
	return m, err
}

func (u *mtlPSM2) transport() string { return psm.Name }

// psm2Tags is how mtl psm2 puts envelopes into the three words of a tag (PSM2_MAKE_MQTAG, ompi/mca/mtl/psm2/mtl_psm2_types.h,
// 4.1 to 6.0): the tag with its sign, which receives of any tag look at, the sender's rank and the context. The rank is
// taken as what stands beside a tag of the two others.
var psm2Tags = transport.Tags{
	Context:      transport.Bits{Shift: 32, Width: 32},
	Tag:          transport.Bits{Width: 32, Signed: true},
	AnyTag:       0x7fffffff,
	IsRankBeside: true,
	IsInternal:   func(e transport.Envelope) bool { return e.Tag < 0 },
}

func (u *mtlPSM2) tags() transport.Tags { return psm2Tags }

// ask: the mtl notes nothing of what a receive asks for.
func (u *mtlPSM2) ask(k *ownRequest, r *cmAt) error {
	k.tag, k.mask, k.askLost = u.tagOf(r.Comm, 0), ^psm2Tags.AnyTag, true
	return nil
}

func (u *mtlPSM2) lengthOf(at inferior.Ptr[mtlRequest]) int64 {
	r, err := u.PSM2.Read(u.R, inferior.Ptr[psm2Request](at))
	if err != nil {
		return -1
	}
	return int64(r.Length)
}

// peer: mtl psm2 keeps PSM2's address in an object of its own, which has a class.
func (u *mtlPSM2) peer(endpoint inferior.Addr) transport.Peer {
	at := inferior.Ptr[psm2Endpoint](endpoint)
	if ompi.ProveClass(u.Process, &u.Endpoint, at) != nil {
		return transport.Peer{}
	}
	e, err := u.Endpoint.Read(u.R, at)
	return transport.Peer{Value: uint64(e.Peer), Known: err == nil}
}

// psm2 is libpsm2 of one process during one stop. It is a [transport.Transport].
type psm2 struct {
	layouts *layout.Layouts
	matcher *psm2Matcher
}

func (p *psm2) Name() string { return psm.Name }

func (p *psm2) LayoutName() string { return p.layouts.Name }

func (p *psm2) Matchers() []transport.Matcher { return []transport.Matcher{p.matcher} }

// matcher finds the queues that the mtl receives by, and puts the pml's own requests to what they have.
func (u *mtlPSM2) matcher() (transport.Transport, transport.Matcher, error) {
	if err := u.readRequests(); err != nil {
		return nil, nil, err
	}
	p, err := psm.Fit(u.R, u.module.MQ, func(mq *psm.MQ, l *layout.Layouts) (*psm2, error) {
		if mq.PSM() != u.module.PSM {
			return nil, fmt.Errorf("the queues at %s are of the endpoint %s, and the mtl's is %s", u.module.MQ, mq.PSM(), u.module.PSM)
		}
		m := &psm2Matcher{mq: mq, of: u}
		return &psm2{l, m}, m.join()
	})
	if err != nil {
		return nil, nil, err
	}
	return p, p.matcher, nil
}
