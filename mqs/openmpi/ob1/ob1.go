// Package ob1 decodes the messages of pml ob1 of Open MPI, from 4.0 to 6.0, which matches them itself.
package ob1

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// name is Open MPI's for the component.
const name = "ob1"

// Component is pml ob1.
var Component = ompi.Component{Name: name, Types: &types{}, Open: open}

// queues are the messages of a process that ob1 carries. They are its [ompi.Queues].
type queues struct {
	*ompi.Process
	types
	requests *requests
	walks    int // of lists, so far
	kinds    callstack.Kinds
}

// open proves ob1's objects if there are any.
func open(p *ompi.Process) (ompi.Queues, error) {
	comms, err := p.CommunicatorArray()
	if err != nil {
		return nil, err
	}
	q := &queues{Process: p}
	at, err := q.firstComm(comms)
	switch {
	case err != nil:
		return nil, err
	case at != 0:
		return q, q.prove(at)
	case p.PML != name:
		return nil, nil
	}
	// With sessions there may be no communicator yet, but nor is there anything else.
	for i := range comms {
		if !ompi.IsNull(comms, i) {
			return nil, fmt.Errorf("pml %s is selected, but communicator %d has no %s", name, i, commClass)
		}
	}
	return q, inferior.Bind(&q.types, p.Layouts)
}

// commClass is the class of what ob1 keeps of a communicator.
const commClass = "mca_pml_ob1_comm_t"

// firstComm is what ob1 keeps of the first communicator that a pml keeps something of, 0 if that is another
// pml. What ob1 made says more than the name of the selected component: others, such as
// monitoring, put themselves in front of it.
func (q *queues) firstComm(comms []inferior.Ptr[ompi.Communicator]) (inferior.Ptr[comm], error) {
	for _, at := range comms {
		if at == 0 {
			continue
		}
		c, err := q.Communicator.Read(q.R, at)
		if err != nil {
			return 0, err
		}
		if c.PMLComm == 0 {
			continue // MPI_COMM_NULL
		}
		if class, err := q.ClassName(inferior.Ptr[ompi.Object](c.PMLComm)); err != nil || class != commClass {
			break
		}
		return inferior.Ptr[comm](c.PMLComm), nil
	}
	return 0, nil
}

// prove checks the layouts of ob1's objects against what it keeps of a communicator and of its requests.
func (q *queues) prove(at inferior.Ptr[comm]) error {
	if err := inferior.Bind(&q.types, q.Layouts); err != nil {
		return err
	}
	if err := ompi.ProveClass(q.Process, &q.Comm, at); err != nil {
		return err
	}
	c, err := q.Comm.Read(q.R, at)
	if err != nil {
		return err
	}
	if c.WildReceives != 0 {
		if err := q.ProveList(c.WildReceives.Ptr()); err != nil {
			return err
		}
	}
	if err := ompi.ProveFreeList(q.Process, q.sendList(), &q.SendRequest); err != nil {
		return err
	}
	return ompi.ProveFreeList(q.Process, q.recvList(), &q.RecvRequest)
}

// sendList is the list that all requests of sends are from, and recvList that of receives.
func (q *queues) sendList() inferior.Ptr[ompi.FreeList] {
	return inferior.Ptr[ompi.FreeList](q.Symbols[ompi.SymSendRequests].Addr)
}

func (q *queues) recvList() inferior.Ptr[ompi.FreeList] {
	return inferior.Ptr[ompi.FreeList](q.Symbols[ompi.SymRecvRequests].Addr)
}

// Info says what ob1 has been unable to send. Messages it counts by peer, see [queues.Traffic].
func (q *queues) Info(to *mqs.Process) { to.UnsentPackets = q.unsentPackets() }

// Notes are none but the process's own.
func (q *queues) Notes() []string { return nil }

// Freed are none: a communicator stays as long as it has requests.
func (q *queues) Freed() []inferior.Addr { return nil }
