// Package tagged decodes the messages of Open MPI's pmls, and mtls, that leave matching by tags to a
// transport (package transport). What they have in common stands once; each has one file with what is its
// own: see [pml].
package tagged

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Components are the pmls that are read.
var Components = []ompi.Component{ucxComponent, cmComponent}

// pml is what a pml, or an mtl beneath one, adds to the transport that it leaves matching to.
type pml interface {
	// transport is what people call that: "UCX".
	transport() string
	// matcher finds the transport of the process, and where in it the pml's messages match.
	matcher() (transport.Transport, transport.Matcher, error)
	// tags is how it puts envelopes into tags, but for [transport.Tags.RankOf].
	tags() transport.Tags
	// handle is the request that the program has, as far as it has one, of a request of the transport.
	handle(r *transport.Request) inferior.Ptr[ompi.Request]
	// maker says what has made a request, which may be told by the function that is called on its completion.
	maker(r *transport.Request) maker
	// ownRequests are those of the pml's own that are in use: of the persistent ones, those that have been started and
	// not been collected. What could be read is returned with the error.
	ownRequests() ([]ownRequest, error)
	// persistentAt is the persistent request of a class at an address, started or not; false if the class is not
	// that of such requests.
	persistentAt(at inferior.Addr, class string) (ownRequest, bool)
	// scattered reads what it keeps of data that is not contiguous ([transport.Request.Generic]), false if
	// that can't be read.
	scattered(generic inferior.Addr) (data, bool)
	// peer is what the transport calls the process that one of its endpoints (ompi_proc_t's) leads to.
	peer(endpoint inferior.Addr) transport.Peer
}

// maker is what has made a request of a transport.
type maker int

const (
	madeOtherwise     maker = iota // a part of a message that the transport has made for itself, or a former user's
	madeForProgram                 // a non-blocking send, whose request the program has
	madeForCall                    // a blocking send
	madeForBuffer                  // a buffered send, which is over for the program
	madeByStartOfSend              // a persistent request
	madeByStartOfReceive
)

// data is where data is: count elements of a datatype.
type data struct {
	buffer   inferior.Addr
	count    uint64
	datatype inferior.Ptr[ompi.Datatype]
	// lacksCount is true if only the datatype is known.
	lacksCount bool
}

// queues are the messages of a process that a pml has left to a transport. They are its [ompi.Queues].
type queues struct {
	*ompi.Process
	pml     pml
	tags    transport.Tags
	read    *contents // nil before they were asked for
	readErr error
	peers   *peers
}

// newQueues returns the queues of a pml, none of which has been read.
func newQueues(p *ompi.Process, of pml) *queues {
	q := &queues{Process: p, pml: of, tags: of.tags()}
	q.tags.RankOf = func(c *mqs.Communicator, peer transport.Peer) mqs.Maybe[int32] {
		return q.rankOf(p.Comms[c.UniqueID], peer)
	}
	return q
}

// contents are all messages and requests of a matcher, by the unique id of their
// communicator.
type contents struct {
	transport  transport.Transport
	matcher    transport.Matcher
	sends      map[inferior.Addr][]send
	receives   map[inferior.Addr][]receive
	unexpected map[inferior.Addr][]unexpected
	lost       int                    // sends of which the communicator is not known
	freed      map[inferior.Addr]bool // communicators that are no more, but have messages or requests
}

// contents reads all that there is, once. The communicators must have been read.
func (q *queues) contents() (*contents, error) {
	if q.read == nil && q.readErr == nil {
		q.read, q.readErr = q.readContents()
		if q.readErr != nil {
			q.readErr = fmt.Errorf("its messages are inside %s, which can't be read: %w", q.pml.transport(), q.readErr)
		}
	}
	return q.read, q.readErr
}

func (q *queues) readContents() (*contents, error) {
	all := &contents{sends: map[inferior.Addr][]send{}, receives: map[inferior.Addr][]receive{}, unexpected: map[inferior.Addr][]unexpected{}, freed: map[inferior.Addr]bool{}}
	var err error
	if all.transport, all.matcher, err = q.pml.matcher(); err != nil {
		return nil, err
	}
	calls, err := q.Calls()
	if err != nil {
		q.Notef("sends that a call keeps on its stack can't be found: %v", err)
	}
	own, err := q.pml.ownRequests()
	if err != nil {
		q.Notef("persistent requests may be shown as others: %v", err)
	}
	of := &owners{pml: q.pml, calls: calls, own: byRequest(own)}
	q.assignReceives(all, of)
	q.assignSends(all, of)
	q.assignComplete(all, own)
	q.assignMessages(all)
	return all, nil
}

// byContext is the id of the communicator that this process calls by an index. A program
// may have freed it: the transport goes on with what is under way on it.
func (q *queues) byContext(all *contents, context uint64) inferior.Addr {
	id := inferior.Addr(context)
	if q.Comms[id] == nil {
		all.freed[id] = true
	}
	return id
}

// Info fills in the transport, and how far the process has come, as far as its queues have been read.
func (q *queues) Info(to *mqs.Process) {
	if q.pml != nil {
		to.Transport += " over " + q.pml.transport()
	}
	if q.read != nil {
		to.Progress = transport.Progress([]transport.Matcher{q.read.matcher})
	}
}

// Notes says what the transport does not keep.
func (q *queues) Notes() []string {
	if q.read == nil {
		return nil
	}
	var out []string
	if slices.ContainsFunc(slices.Collect(maps.Values(q.read.sends)), func(list []send) bool { return len(list) > 1 }) {
		out = append(out, fmt.Sprintf("%s keeps no order of sends: they stand in that of their requests in memory", q.pml.transport()))
	}
	if note := q.read.matcher.Queues().Offload; note != "" {
		out = append(out, note)
	}
	return out
}

// Freed are the communicators that the program has freed while messages or
// requests were under way on them.
func (q *queues) Freed() []inferior.Addr {
	all, err := q.contents()
	if err != nil {
		return nil // said where it matters
	}
	return slices.Sorted(maps.Keys(all.freed))
}

// Operations yields one queue of a communicator.
func (q *queues) Operations(c *mqs.Communicator, class mqs.OpClass, yield func(mqs.PendingOperation, error) bool) {
	all, err := q.contents()
	if err != nil {
		yield(mqs.PendingOperation{}, err)
		return
	}
	switch class {
	case mqs.PendingSends:
		for i := range all.sends[c.UniqueID] {
			if !yield(q.describeSend(c, &all.sends[c.UniqueID][i]), nil) {
				return
			}
		}
		if err := all.matcher.Queues().SendsErr; err != nil {
			yield(mqs.PendingOperation{}, err)
		}
	case mqs.PendingReceives:
		for i := range all.receives[c.UniqueID] {
			if !yield(q.describeReceive(c, &all.receives[c.UniqueID][i]), nil) {
				return
			}
		}
	case mqs.UnexpectedMessages:
		for i := range all.unexpected[c.UniqueID] {
			m := &all.unexpected[c.UniqueID][i]
			if !yield(q.tags.Message(c, &m.Message, m.isTaken), nil) {
				return
			}
		}
		if err := all.matcher.Queues().UnexpectedErr; err != nil {
			yield(mqs.PendingOperation{}, err)
		}
	}
}

// Traffic is not counted.
func (q *queues) Traffic(*mqs.Communicator) []mqs.Traffic { return nil }

// Probes have no requests.
func (q *queues) Probes(*callstack.Call) []ompi.Waitable { return nil }

// Probed is not known: a probe leaves nothing behind.
func (q *queues) Probed(*callstack.Call) (ompi.Probed, bool) { return ompi.Probed{}, false }
