package ch4

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// modules are those of ch4's whose network libraries can be read.
var modules = []module{ucxNetmod{}, ofiModule{}}

// checkModules returns an error if a table's layouts are for a library with other modules of ch4. They differ because a request and the
// address of a process contain a union over all modules. A library that is not stripped has a symbol for each of its modules.
func checkModules(lib *mpir.Library) error {
	if _, hasSymbols := lib.Symbols[symGlobal]; !hasSymbols || lib.Layouts.Source != "table" {
		return nil
	}
	found, err := lib.Reader.Symbols(symOFI, symUCX)
	if err != nil {
		return err
	}
	_, hasOFI := found[symOFI]
	_, hasUCX := found[symUCX]
	_, _, notOFI := ofiModule{}.bind(lib)
	_, _, notUCX := ucxNetmod{}.bind(lib)
	if notOFI != nil && notUCX != nil || (hasOFI || hasUCX) && (hasOFI != (notOFI == nil) || hasUCX != (notUCX == nil)) {
		return errors.New("the layouts are of a library with other modules of ch4")
	}
	return nil
}

// A module of ch4's leaves messages to a network library.
type module interface {
	// types are the C types that bind binds.
	types() any
	// bind returns how a process's network library is read, and what the module keeps of its own in MPICH's objects. It
	// fails if the layouts are those of another module.
	bind(lib *mpir.Library) (netmod, objects, error)
	// hidden finds the device's variable in the data of a library whose symbols were stripped, by the tables of
	// addresses that lead to the network library.
	hidden(lib *mpir.Library, g *inferior.Struct[global], m *mpir.Image) []inferior.Addr
}

// A netmod reads a network library that a module leaves messages to.
type netmod interface {
	// name is what people call the network library.
	name() string
	// open opens the network library of a process. It fails with an error that isAbsent knows if it is not there.
	open(r *inferior.Reader) (transport.Transport, error)
	// tags is how the module puts an envelope into a tag.
	tags() *transport.Tags
	// mayRefuse says whether the network library may refuse a send, as [mpir.Device] has it.
	mayRefuse() bool
	// proveMask checks that the module can have given a receive its mask.
	proveMask(mask uint64) error
	// doubt returns why unexpected messages can't be distinguished from the module's own, nil if they can. It is called after proveMask has
	// seen the mask of every receive.
	doubt(messages []transport.Message) error
	// sender and receiver return where MPICH's own requests of a send and of a receive are, 0 if that is not known.
	sender(r *inferior.Reader, s *transport.Send) inferior.Ptr[mpir.Request]
	receiver(q *transport.Receive) inferior.Ptr[mpir.Request]
	// elements reads what is kept of the data of a request in terms of MPI.
	elements(r *inferior.Reader, q *transport.Request) (Elements, bool)
}

// netmodsAlone are those that need nothing of MPICH's own to find the network library.
var netmodsAlone = []netmodAlone{ucxNetmod{}}

// A netmodAlone reads a network library that can be found without MPICH's own objects.
type netmodAlone interface {
	netmod
	isAbsent(err error) bool
	// unpackTypes are the C types that bindUnpack binds.
	unpackTypes() any
	bindUnpack(l *layout.Layouts) (Unpack, error)
}

// objects are what a module keeps of its own in MPICH's objects.
type objects interface {
	// taken returns where the message is that MPI_Mprobe has taken by a request, 0 if it has taken none.
	taken(at inferior.Ptr[mpir.Request]) inferior.Addr
	// unpacked tells where the data of a receive goes to in the end, if it goes into a buffer of the library's first; false
	// if it does not.
	unpacked(at inferior.Ptr[mpir.Request], received *transport.Request) (Elements, bool)
	// peers are what the network library may call the process at a place in a table of addresses.
	peers(table int32, place int64) []transport.Peer
	// matched tells, of a receive that is under way and that the network library does not have among those that wait,
	// whether it had it and has matched it, and what is still known of it then.
	matched(at inferior.Ptr[mpir.Request]) (transport.Receive, bool)
}

// Unpack tells where the data goes to in the end that one of MPICH's requests receives, by what the network library
// has of it.
type Unpack func(r *inferior.Reader, request inferior.Ptr[mpir.Request], received *transport.Request) (Unpacked, error)

// Unpacked is where the data of a request goes to.
type Unpacked struct {
	// To is where it goes to from a buffer of the library's, if IsUnpacked is true: data that is not contiguous may.
	To         Elements
	IsUnpacked bool
	// IsProved is true if MPICH's request leads back to the network library's: then the layout fits it.
	IsProved bool
}

// Elements are a buffer, how many elements it has, and of which datatype: its handle, 0 if that is not known.
type Elements struct {
	Buffer   mqs.Maybe[inferior.Addr]
	Count    int64
	Datatype uint32
	// IsPacked is true if what the network library has is a buffer of the library's, and the program's is not known.
	IsPacked bool
}

// UnpackTypes are the C types that tell where the data of requests of any network library goes to: pointers to
// structs as [inferior.Bind] binds.
func UnpackTypes() []any {
	var out []any
	for _, m := range netmodsAlone {
		out = append(out, m.unpackTypes())
	}
	return out
}

// Network is all that a process's MPICH has in its network library.
type Network struct {
	// Transport is the network library, and Tags how envelopes stand in its tags.
	Transport transport.Transport
	Tags      *transport.Tags
	// Sends, Receives and Unexpected are those of all matchers: there is one for each virtual interface. The
	// receives that have matched, and complete ones, come first, then those in the order of matching.
	Sends      []transport.Send
	Receives   []transport.Receive
	Unexpected []transport.Message
	// SendsErr is why there may be more sends, and UnexpectedErr why there may be more messages.
	SendsErr, UnexpectedErr error
	// Dropped counts the sends of which it can't be told whether they are MPICH's.
	Dropped int
	// Offload is the note that a network card may match messages too, empty if none may.
	Offload string
	// Progress is what [mqs.Process] has.
	Progress mqs.Maybe[uint64]

	r      *inferior.Reader
	netmod netmod
	alone  netmodAlone // nil if it was found by MPICH's own objects
}

// NetworkError is why a process's network library can't be read.
type NetworkError struct {
	// Library is what people call it.
	Library string
	// IsAbsent is true if it is not in the process.
	IsAbsent bool
	Err      error
}

func (e *NetworkError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *NetworkError) Unwrap() error { return e.Err }

// OpenNetwork reads the network library of a process. It fails with a [*NetworkError].
func OpenNetwork(r *inferior.Reader) (*Network, error) {
	var first *NetworkError
	for _, m := range netmodsAlone {
		n, err := openNetwork(r, m)
		if err == nil {
			n.alone = m
			return n, nil
		}
		if err := (&NetworkError{m.name(), m.isAbsent(err), err}); first == nil || first.IsAbsent && !err.IsAbsent {
			first = err
		}
	}
	return nil, first
}

func openNetwork(r *inferior.Reader, m netmod) (*Network, error) {
	t, err := m.open(r)
	if err != nil {
		return nil, err
	}
	n := &Network{Transport: t, Progress: transport.Progress(t.Matchers()), r: r, netmod: m}
	for _, matcher := range t.Matchers() {
		q := matcher.Queues()
		n.Sends = append(n.Sends, q.Sends...)
		n.Receives = slices.Concat(n.Receives, q.Matched, q.Posted)
		n.Unexpected = append(n.Unexpected, q.Unexpected...)
		n.Dropped += q.Dropped
		n.Offload = cmp.Or(n.Offload, q.Offload)
		n.SendsErr = cmp.Or(n.SendsErr, q.SendsErr)
		n.UnexpectedErr = cmp.Or(n.UnexpectedErr, q.UnexpectedErr)
	}
	for i := range n.Receives {
		if q := &n.Receives[i]; q.State != transport.Complete {
			if err := m.proveMask(q.Mask); err != nil {
				return nil, err
			}
		}
	}
	n.Tags = m.tags()
	n.UnexpectedErr = cmp.Or(n.UnexpectedErr, m.doubt(n.Unexpected))
	return n, nil
}

// Sender is MPICH's own request of a send, 0 if that is not known.
func (n *Network) Sender(s *transport.Send) inferior.Ptr[mpir.Request] {
	return n.netmod.sender(n.r, s)
}

// Receiver is MPICH's own request of a receive.
func (n *Network) Receiver(q *transport.Receive) inferior.Ptr[mpir.Request] {
	return n.netmod.receiver(q)
}

// Elements reads what MPICH keeps of the data of a request; false if it keeps nothing in terms of MPI.
func (n *Network) Elements(q *transport.Request) (Elements, bool) {
	return n.netmod.elements(n.r, q)
}

// UnpackTypes are the C types that [Network.BindUnpack] wants, of what [OpenNetwork] has opened.
func (n *Network) UnpackTypes() any { return n.alone.unpackTypes() }

// BindUnpack returns what tells by the layouts of MPICH's own requests where their data goes to.
func (n *Network) BindUnpack(l *layout.Layouts) (Unpack, error) { return n.alone.bindUnpack(l) }

// messageAt reads a message that has been taken out of its queue, as whichever matcher has had it.
func (n *Network) messageAt(a inferior.Addr) (transport.Message, error) {
	err := fmt.Errorf("%s has no matcher", n.Transport.Name())
	for _, m := range n.Transport.Matchers() {
		var message transport.Message
		if message, err = m.MessageAt(a); err == nil {
			return message, nil
		}
	}
	return transport.Message{}, err
}
