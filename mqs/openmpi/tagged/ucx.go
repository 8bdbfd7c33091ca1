package tagged

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ucx"
)

// ucxName is Open MPI's for the component.
const ucxName = "ucx"

// ucxComponent is pml ucx, which leaves matching to UCX.
var ucxComponent = ompi.Component{Name: ucxName, Types: &ucxTypes{}, Open: openUCX}

// symUCX is the module. Like the functions of ucxMakers it is in .dynsym of stripped libraries too.
const symUCX = "ompi_pml_ucx" // mca_pml_ucx_module_t

// ucxMakers are what makes requests with which function for their completion (ompi/mca/pml/ucx/pml_ucx_request.c,
// 4.1 to 6.0).
var ucxMakers = map[string]maker{
	"mca_pml_ucx_bsend_completion":      madeForBuffer,
	"mca_pml_ucx_bsend_nbx_completion":  madeForBuffer,
	"mca_pml_ucx_psend_completion":      madeByStartOfSend,
	"mca_pml_ucx_precv_completion":      madeByStartOfReceive,
	"mca_pml_ucx_send_completion":       madeForProgram,
	"mca_pml_ucx_send_nbx_completion":   madeForProgram,
	"mca_pml_ucx_send_completion_empty": madeForCall,
}

// ucxTags is how pml ucx puts an MPI message's envelope into a tag of UCX
// (ompi/mca/pml/ucx/pml_ucx_request.h, 4.1 to 6.0). The tag stands in the upper 24 bits with its sign, which
// receives of any tag look at, below it the source's rank in the communicator and the communicator's index
// in the process that receives.
var ucxTags = transport.Tags{
	Context:    transport.Bits{Width: 20},
	Rank:       transport.Bits{Shift: 20, Width: 20},
	Tag:        transport.Bits{Shift: 40, Width: 24, Signed: true},
	AnyTag:     0x7fffff << 40,
	IsInternal: func(e transport.Envelope) bool { return e.Tag < 0 },
}

// ucxTypes are the C types of pml ucx, a library of its own up to 4.1.
type ucxTypes struct {
	Module     inferior.Struct[ucxModule]     `c:"mca_pml_ucx_module_t,optional"`
	Persistent inferior.Struct[ucxPersistent] `c:"mca_pml_ucx_persistent_request_t,optional"`
	Convertor  inferior.Struct[ucxConvertor]  `c:"mca_pml_ucx_convertor_t,optional"`
}

// ucxModule is the only object of its kind, ompi_pml_ucx.
type ucxModule struct {
	Persistent inferior.Embedded[ompi.FreeList] `c:"persistent_reqs"`
}

// ucxConvertor is what pml ucx keeps of a message whose data is not contiguous. It is given back as soon as
// the data has left.
type ucxConvertor struct {
	Datatype inferior.Ptr[ompi.Datatype] `c:"datatype"`
	Buffer   inferior.Addr               `c:"opal_conv.pBaseBuf"`
	Count    uint64                      `c:"opal_conv.count"`
}

// ucxPersistent is a persistent request of pml ucx.
type ucxPersistent struct {
	Source    int32                           `c:"ompi.req_status.MPI_SOURCE"`
	StatusTag int32                           `c:"ompi.req_status.MPI_TAG"`
	Cancelled bool                            `c:"ompi.req_status._cancelled"`
	Received  uint64                          `c:"ompi.req_status._ucount"`
	Complete  uint64                          `c:"ompi.req_complete"`
	Comm      inferior.Ptr[ompi.Communicator] `c:"ompi.req_mpi_object.comm"`
	State     int32                           `c:"ompi.req_state"`
	Started   inferior.Ptr[ompi.Request]      `c:"tmp_req"`
	Flags     uint32                          `c:"flags"`
	Buffer    inferior.Addr                   `c:"buffer"`
	Count     uint64                          `c:"count"`
	Datatype  inferior.Ptr[ompi.Datatype]     `c:"ompi_datatype"`
	Tag       uint64                          `c:"tag"`
	Mode      int32                           `c:"send.mode"`
	Endpoint  inferior.Addr                   `c:"send.ep"` // UCX's
	Mask      uint64                          `c:"recv.tag_mask"`
}

// ucxPersistentSend is a flag of a persistent request (ompi/mca/pml/ucx/pml_ucx_request.h).
const ucxPersistentSend = 1 << 0

// pmlUCX is pml ucx of one process.
type pmlUCX struct {
	*ompi.Process
	ucxTypes
	makers map[inferior.Addr]maker // by the functions for completion, empty before these were looked up
}

func openUCX(p *ompi.Process) (ompi.Queues, error) {
	if p.PML != ucxName {
		return nil, nil
	}
	u := &pmlUCX{Process: p, makers: map[inferior.Addr]maker{}}
	if err := inferior.Bind(&u.ucxTypes, p.Layouts); err != nil {
		return nil, err
	}
	return newQueues(p, u), nil
}

func (u *pmlUCX) transport() string { return ucx.Name }

func (u *pmlUCX) tags() transport.Tags { return ucxTags }

// handle: pml ucx has UCX keep the program's request behind its own.
func (u *pmlUCX) handle(r *transport.Request) inferior.Ptr[ompi.Request] {
	return inferior.Ptr[ompi.Request](r.User)
}

func (u *pmlUCX) maker(r *transport.Request) maker { return u.makers[r.Done] }

// peer: pml ucx keeps UCX's endpoint itself.
func (u *pmlUCX) peer(endpoint inferior.Addr) transport.Peer {
	return transport.Peer{Value: uint64(endpoint), Known: true}
}

// matcher finds the worker of the pml: others belong to one-sided communication
// or to collectives. ompi_pml_ucx points at it, at a place that releases differ in.
func (u *pmlUCX) matcher() (transport.Transport, transport.Matcher, error) {
	symbols, err := u.R.Symbols(slices.Concat(ucx.Symbols, slices.Sorted(maps.Keys(ucxMakers)), []string{symUCX, symMessages})...)
	if err != nil {
		return nil, nil, err
	}
	for name, made := range ucxMakers {
		if s, ok := symbols[name]; ok {
			u.makers[s.Addr] = made
		}
	}
	all, err := ucx.Open(u.R, symbols, u.Request.Size())
	if err != nil {
		return nil, nil, err
	}
	module, ok := symbols[symUCX]
	if !ok {
		return nil, nil, fmt.Errorf("there is no symbol %s", symUCX)
	}
	const words = 64 // the functions of the pml, and what comes before the worker
	pointers, err := u.R.Pointers(module.Addr, words)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range pointers {
		for _, m := range all.Matchers() {
			if m.Addr() == a {
				return all, m, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("none of UCX's %d workers is that of %s", len(all.Matchers()), symUCX)
}

// ownRequests are the persistent ones, in the module's list of all that have been made.
func (u *pmlUCX) ownRequests() ([]ownRequest, error) {
	module, err := u.R.Symbol(symUCX)
	if err != nil || module == nil || !u.Module.Bound() || !u.Persistent.Bound() {
		return nil, err
	}
	list, err := u.persistents(module.Addr)
	if err != nil {
		return nil, err
	}
	var out []ownRequest
	err = ompi.EachElement(u.Process, list, "the persistent requests of pml ucx", func(at inferior.Ptr[ucxPersistent]) error {
		p, err := u.Persistent.Read(u.R, at)
		if isComplete := p.Complete == ompi.RequestCompleted; err != nil || p.State != ompi.RequestActive || !isComplete && p.Started == 0 {
			return err
		}
		out = append(out, p.keep(at))
		return nil
	})
	slices.SortFunc(out, func(a, b ownRequest) int { return cmp.Compare(a.at, b.at) })
	return out, err
}

// keep is what a persistent request says of itself. One that is complete has no request under way.
func (p *ucxPersistent) keep(at inferior.Ptr[ucxPersistent]) ownRequest {
	out := ownRequest{
		at: inferior.Ptr[ompi.Request](at), request: p.Started, isSend: p.Flags&ucxPersistentSend != 0, mode: p.Mode, comm: p.Comm,
		tag: p.Tag, mask: p.Mask, peer: transport.Peer{Value: uint64(p.Endpoint), Known: p.Endpoint != 0},
		data: data{buffer: p.Buffer, count: p.Count, datatype: p.Datatype}, complete: p.Complete,
		message: status{source: p.Source, tag: p.StatusTag, length: p.Received, isCancelled: p.Cancelled},
	}
	if p.Complete == ompi.RequestCompleted {
		out.request = 0
	}
	return out
}

func (u *pmlUCX) persistentAt(at inferior.Addr, class string) (ownRequest, bool) {
	if !u.Persistent.Bound() || class != u.Persistent.Name() {
		return ownRequest{}, false
	}
	p, err := u.Persistent.Read(u.R, inferior.Ptr[ucxPersistent](at))
	return p.keep(inferior.Ptr[ucxPersistent](at)), err == nil
}

func (u *pmlUCX) scattered(generic inferior.Addr) (data, bool) {
	at := inferior.Ptr[ucxConvertor](generic)
	if !u.Convertor.Bound() || ompi.ProveClass(u.Process, &u.Convertor, at) != nil {
		return data{}, false
	}
	c, err := u.Convertor.Read(u.R, at)
	return data{buffer: c.Buffer, count: c.Count, datatype: c.Datatype}, err == nil
}
