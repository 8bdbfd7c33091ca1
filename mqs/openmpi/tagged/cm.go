package tagged

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// cmName is Open MPI's for the component.
const cmName = "cm"

// cmComponent is pml cm, which leaves matching to an mtl. Its types have tables of their own.
var cmComponent = ompi.Component{Name: cmName, Types: &struct{}{}, Open: openCM}

// symMTL is the mtl that is in use. Like the modules of mtls it is in .dynsym of stripped libraries too.
const symMTL = "ompi_mtl" // mca_mtl_base_module_t *

// mtls are those that are read, each by its module, which begins with a mca_mtl_base_module_t.
var mtls = map[string]struct {
	types any
	open  func(u *pmlCM, l *layout.Layouts, module inferior.Addr) (mtl, error)
}{
	"ompi_mtl_ofi":  {&ofiTypes{}, openMTLOFI},
	"ompi_mtl_psm2": {&psm2Types{}, openMTLPSM2},
}

// mtl is what an mtl adds to pml cm. Opened, it has proved what it says of itself.
type mtl interface {
	transport() string
	tags() transport.Tags
	peer(endpoint inferior.Addr) transport.Peer
	// matcher finds where the mtl receives, and puts the pml's own requests to what is there.
	matcher() (transport.Transport, transport.Matcher, error)
	// ask adds what the mtl has noted of what a receive asks for that is started once.
	ask(k *ownRequest, r *cmAt) error
	// lengthOf is the length of a send's data in bytes, -1 if not known.
	lengthOf(at inferior.Ptr[mtlRequest]) int64
}

// pmlCM is pml cm with an mtl of one process.
type pmlCM struct {
	*ompi.Process
	cmTypes
	mtl
	requests *cmRequests // nil before they were read
}

func openCM(p *ompi.Process) (ompi.Queues, error) {
	if p.PML != cmName {
		return nil, nil
	}
	u, err := newCM(p)
	if err != nil {
		return &queues{Process: p, readErr: fmt.Errorf("its messages are inside an mtl, which can't be read: %w", err)}, nil
	}
	return newQueues(p, u), nil
}

// newCM finds the mtl and the layouts that fit it.
func newCM(p *ompi.Process) (*pmlCM, error) {
	symbols, err := p.R.Symbols(append(slices.Sorted(maps.Keys(mtls)), symMTL)...)
	if err != nil {
		return nil, err
	}
	used, err := p.R.Pointers(symbols[symMTL].Addr, 1)
	for name, of := range mtls {
		module, isThere := symbols[name]
		if err != nil || !isThere || used[0] != module.Addr {
			continue
		}
		u, err := inferior.Fit(p.R, inferior.Queries(&cmTypes{}, of.types), cmTables(), nil, func(l *layout.Layouts) (*pmlCM, error) {
			u := &pmlCM{Process: p}
			err := inferior.Bind(&u.cmTypes, l)
			if err != nil {
				return nil, err
			}
			if u.mtl, err = of.open(u, l, module.Addr); err != nil {
				return nil, err
			}
			return u, u.proveLists()
		})
		var noFit *inferior.NoFitError
		if errors.As(err, &noFit) {
			return nil, fmt.Errorf("none of the layouts of pml cm that mpi-queues knows (%s) fits: install the library's debug symbols, "+
				"or `set debuginfod enabled on`\n%w", noFit.Known, noFit.Why)
		}
		return u, err
	}
	return nil, errors.New("of the mtls of pml cm, mpi-queues reads mtl ofi and mtl psm2 only")
}

// proveLists checks the lists of requests, all of which are of the heavy class.
func (u *pmlCM) proveLists() error {
	return errors.Join(ompi.ProveFreeList(u.Process, u.list(ompi.SymSendRequests), &u.HeavySend),
		ompi.ProveFreeList(u.Process, u.list(ompi.SymRecvRequests), &u.Receive))
}

// list is a list of requests.
func (u *pmlCM) list(symbol string) inferior.Ptr[ompi.FreeList] {
	return inferior.Ptr[ompi.FreeList](u.Symbols[symbol].Addr)
}

// handle: a transport has what the mtl has given it, of which the mtl knows the request.
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
