package symbolless

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/ch4"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// types are the C types of MPICH's own objects that the network library's requests
// lead to. From 4.1 requests know their communicator.
type types struct {
	Comm    inferior.Struct[comm]    `c:"MPIR_Comm"`
	Request inferior.Struct[request] `c:"MPIR_Request"`
}

type comm struct {
	Handle      uint32        `c:"handle"`
	RefCount    int32         `c:"ref_count.v|ref_count"`
	Context     uint32        `c:"context_id"`
	RecvContext uint32        `c:"recvcontext_id"`
	Rank        int32         `c:"rank"`
	LocalSize   int32         `c:"local_size"`
	Kind        uint32        `c:"comm_kind"`
	Name        inferior.Text `c:"name"`

	at inferior.Ptr[comm]
}

type request struct {
	Handle   uint32             `c:"handle"`
	RefCount int32              `c:"ref_count.v|ref_count"`
	Kind     uint32             `c:"kind"`
	Comm     inferior.Ptr[comm] `c:"comm"`
}

// Types are the C types of MPICH's own objects that any network library's requests lead to: pointers to structs as
// [inferior.Bind] binds.
func Types() []any { return append([]any{&types{}}, ch4.UnpackTypes()...) }

// objects reads MPICH's own objects.
type objects struct {
	r      *inferior.Reader
	c      types
	unpack ch4.Unpack
	// isProved is true if a request has led back to the network library's, so that its layout is known to be right.
	isProved bool
}

// errNothingToProve means that no request is there that could prove a layout.
var errNothingToProve = errors.New("no request is pending")

// findObjects finds the layout by which all requests of the network library lead to MPICH's own and to their
// communicators. It is nil if none fits: then less is known.
func findObjects(r *inferior.Reader, n *ch4.Network, tables []*layout.Table) *objects {
	out, err := inferior.Fit(r, inferior.Queries(&types{}, n.UnpackTypes()), tables, nil, func(l *layout.Layouts) (*objects, error) {
		o := &objects{r: r}
		var err error
		o.unpack, err = n.BindUnpack(l)
		if err := errors.Join(inferior.Bind(&o.c, l), err); err != nil {
			return nil, err
		}
		return o, o.prove(n)
	})
	if err != nil {
		return nil
	}
	return out
}

// prove holds what tags say against what communicators say.
func (o *objects) prove(n *ch4.Network) error {
	proofs, asked := 0, 0
	isProved := func(at inferior.Ptr[mpir.Request], q *transport.Request) {
		to, err := o.unpack(o.r, at, q)
		o.isProved = o.isProved || err == nil && to.IsProved
		proofs++
		if q.State == transport.Posted {
			asked++
		}
	}
	for i := range n.Sends {
		q := &n.Sends[i]
		if q.State == transport.Complete || q.TagLost {
			continue
		}
		e := n.Tags.Envelope(q.Tag)
		c, err := o.commOf(n.Sender(q), mpir.KindSend)
		if err != nil {
			return err
		}
		if uint64(c.Context) != e.Context&^mpir.ContextCollective || c.Rank != e.Source.Value {
			return fmt.Errorf("a send on context %#x from rank %d is on communicator %#x with rank %d", e.Context, e.Source.Value, c.Context, c.Rank)
		}
		isProved(n.Sender(q), &q.Request)
	}
	for i := range n.Receives {
		q := &n.Receives[i]
		if q.State == transport.Complete {
			continue
		}
		e := n.Tags.Envelope(q.Tag)
		c, err := o.commOf(n.Receiver(q), mpir.KindRecv)
		if err != nil {
			return err
		}
		if uint64(c.RecvContext) != e.Context&^mpir.ContextCollective {
			return fmt.Errorf("a receive on context %#x is on communicator %#x", e.Context, c.RecvContext)
		}
		isProved(n.Receiver(q), &q.Request)
	}
	switch {
	case proofs == 0:
		return errNothingToProve
	case asked > 0 && !o.isProved:
		// One that has matched need not lead back: that of MPI_Imrecv does not, from 5.0 on.
		return errors.New("no request of MPICH's leads back to the network library's")
	}
	return nil
}

// commOf reads the communicator of a request of MPICH's, which is of a kind.
func (o *objects) commOf(at inferior.Ptr[mpir.Request], kind uint32) (comm, error) {
	q, err := o.c.Request.Read(o.r, inferior.Ptr[request](at))
	if err != nil {
		return comm{}, err
	}
	if !mpir.IsHandle(q.Handle, mpir.ObjectRequest) || q.Kind != kind || q.RefCount <= 0 {
		return comm{}, fmt.Errorf("at %s is no request of kind %d in use", at, kind)
	}
	c, err := o.c.Comm.Read(o.r, q.Comm)
	if err != nil {
		return comm{}, err
	}
	if !mpir.IsHandle(c.Handle, mpir.ObjectComm) {
		return comm{}, fmt.Errorf("a communicator has the handle 0x%x", c.Handle)
	}
	if c.RefCount <= 0 || c.LocalSize <= 0 || c.LocalSize > mpir.MaxMembers || c.Rank < 0 || c.Rank >= c.LocalSize || c.Kind > mpir.CommInter {
		return comm{}, fmt.Errorf("the communicator at %s has rank %d of %d", q.Comm, c.Rank, c.LocalSize)
	}
	c.at = q.Comm
	return c, nil
}
