package ompi

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Component is a component of Open MPI's that may carry a process's messages: a pml, or what lies beneath
// one.
type Component struct {
	// Name is Open MPI's for it: "ob1".
	Name string
	// Types are the C types that it reads: a pointer to a struct of [inferior.Struct] fields, none of them bound.
	Types any
	// Open returns the queues of a process, nil if the component is not the one that carries its messages.
	// It fails if it is, and the layouts that the process is read by are not those of its objects.
	Open func(p *Process) (Queues, error)
}

// Queues are the messages of one process, as the component that carries them has them.
type Queues interface {
	// Info fills in what is known of the process as a whole, as [Process.Info] does.
	Info(to *mqs.Process)
	// Notes are sentences for the user on what reading has brought up.
	Notes() []string
	// Freed are the unique ids of communicators that the program has freed while messages or requests were
	// under way on them, in order. Nothing else is known of them. [Process.Comms] has been read.
	Freed() []inferior.Addr
	// Operations yields one queue of a communicator, as the Operations of read.Source do.
	Operations(c *mqs.Communicator, class mqs.OpClass, yield func(mqs.PendingOperation, error) bool)
	// Traffic counts the messages of a communicator by peer, nil if that is not known.
	Traffic(c *mqs.Communicator) []mqs.Traffic

	// RequestAt is the operation that a request of a class stands for, as in the queues but that one that
	// is not started stands for one too, and its communicator; false if the component knows no such requests.
	// The request stands for something.
	RequestAt(at inferior.Addr, class string) (mqs.PendingOperation, inferior.Ptr[Communicator], bool)
	// MessageAt is the message that MPI_Mprobe has taken from a communicator and that an MPI_Message points to,
	// as in the queues; false if that can't be told.
	MessageAt(at inferior.Addr, comm *Comm) (mqs.PendingOperation, bool)
	// Incomplete are the requests that are in use and not complete.
	Incomplete() []Waitable
	// Probes are the requests that stand for a blocking probe.
	Probes(c *callstack.Call) []Waitable
	// Probed is what MPI_Iprobe or MPI_Improbe asks for; false if that is not known.
	Probed(c *callstack.Call) (Probed, bool)
	// Own are the requests of its own that a blocking send or receive waits for, as far as that is
	// proved, and whether they are all, complete ones included. Of the requests that are not complete it
	// holds the addresses of held. It is alone if no other thread's call may have made a send for itself.
	Own(c *callstack.Call, held []Waitable, isAlone bool) (own []Waitable, all bool)
}

// Waitable is a request that a call may wait for.
type Waitable struct {
	// Addr is what the program has for it.
	Addr inferior.Addr
	// Class is [mqs.PendingSends] or [mqs.PendingReceives], of a probe too.
	Class mqs.OpClass
	Comm  inferior.Ptr[Communicator]
	// Tag is [AnyTag] for any.
	Tag int32
	// Complete is [RequestCompleted] once the operation is; before, it is 0 or the address of what a waiting
	// thread sleeps on: its mark.
	Complete uint64
	// Own is true if a blocking call has made it for itself, as far as that is known.
	Own bool
}
