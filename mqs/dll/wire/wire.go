// Package wire is what the helper and a DLL's host say to each other. The host
// is a process of its own that runs one vendor's DLL; the helper asks it for
// queues, and while it answers it may ask back for what only a debugger knows.
//
// Messages are encoded by encoding/gob on one stream, each with its types. There is only ever one
// request under way, and each ends with a [Reply]; before it the host may send
// any number of [Ask]s, each of which the helper answers.
//
// A DLL can write to the stream too. What the helper receives has no maps: gob makes one
// of any size that a message names, before it reads what is in it. Slices it lets grow
// with what comes.
package wire

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"errors"
	"io"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// ToHost is a message to the host; one member is set.
type ToHost struct {
	Load       *Load
	Open       *Open
	Next       *Next
	Operations *Operations
	Exited     *Exited
	Answer     *Answer
}

// FromHost is a message from the host; one member is set.
type FromHost struct {
	Ask   *Ask
	Reply *Reply
}

// Load asks the host to load its DLL; it must be the first request.
type Load struct {
	Path string
}

// Loaded says what was loaded.
type Loaded struct {
	// Version is mqs_version_string, Compatibility mqs_version_compatibility.
	Version       string
	Compatibility int32
	// Width is mqs_dll_taddr_width in bytes, 0 if the DLL does not tell.
	Width int32
	// Missing entry points.
	Missing []abi.Entry
	// Exports are names that the DLL's file defines for others beside the entry points.
	Exports []string
	// Imports are names that the DLL's file takes from other libraries.
	Imports []string
	// SymbolsError says why Exports and Imports are unknown; empty if they are known.
	SymbolsError string
	// Confinement is what keeps the host from doing harm, in words.
	Confinement string
}

// Open asks for the queues of a process. It ends what was open before.
type Open struct {
	Process inferior.Info
	// Image tells images apart: the program and its libraries.
	Image string
	// Rank is the process's in MPI_COMM_WORLD, or [abi.InvalidProcess].
	Rank int32
}

// Opened says that communicators can be asked for.
type Opened struct {
	// Created are processes that this one has created or connected to, which a
	// DLL of compatibility 3 can tell.
	Created []Location
}

// Location is where a process is.
type Location struct {
	PID         int64
	Image, Host string
}

// Next asks for the next communicator of the process that is open.
type Next struct{}

// Communicator is one communicator.
type Communicator struct {
	// End is true if there is no further one.
	End bool
	// Raw is mqs_communicator as the DLL has written it.
	Raw []byte
	// Group is what mqs_get_comm_group has written, a C int for each rank, with
	// [Unwritten] where it has not; nil if there is none.
	Group []byte
}

// Unwritten stands where a DLL has written nothing.
const Unwritten = -1 << 31

// MaxRank is more than any rank, and MaxGroup is the largest size of a
// communicator whose group is asked for.
const (
	MaxRank  = 1 << 24
	MaxGroup = 1 << 21
)

// Operations asks for operations of the current communicator.
type Operations struct {
	Class abi.OpClass
	// Start is true to begin, false to go on.
	Start bool
}

// Batch is the most operations of a reply.
const Batch = 1024

// OperationList is some operations of a queue.
type OperationList struct {
	// Raw is an mqs_pending_operation after the other, as the DLL has written them.
	Raw []byte
	// More is true if the queue may go on.
	More bool
	// Endless is true if there is more than can be.
	Endless bool
	// NoInformation is true if the DLL knows nothing of the queue.
	NoInformation bool
}

// Dprints begins what a DLL hands to mqs_dprints, on the host's standard error
// beside what it prints by itself.
const Dprints = "mqs_dprints: "

// Exited says that a process has gone.
type Exited struct {
	Inferior, PID int
}

// Reply ends a request. If Error is empty, the member that belongs to the
// request is set; an Exited request has none.
type Reply struct {
	Loaded       *Loaded
	Opened       *Opened
	Communicator *Communicator
	Operations   *OperationList

	// Error says why the request failed. Wordless is true if that is an entry point's result code
	// for which the DLL has no words.
	Error    string
	Wordless bool
	// Notes are sentences for the user: the DLL's messages, and what it could not do.
	Notes []string
	// Missing are the types and members that the DLL has asked for in vain
	// since the last reply.
	Missing []string
	// Unread is how many pieces of memory the DLL has asked for in vain since
	// the last reply.
	Unread int
	// Faults are what the DLL has done wrong since the last reply.
	Faults []Fault
}

// Fault is something that a DLL has done wrong, and how often.
type Fault struct {
	Text  string // what follows the DLL's name in a sentence
	Times int
}

// Answers says whether the reply, which has no error, has what a request asks for.
func (r *Reply) Answers(request ToHost) bool {
	switch {
	case request.Load != nil:
		return r.Loaded != nil
	case request.Open != nil:
		return r.Opened != nil
	case request.Next != nil:
		return r.Communicator != nil
	case request.Operations != nil:
		return r.Operations != nil
	}
	return true
}

// Bytes is how much the reply has of queues.
func (r *Reply) Bytes() int64 {
	n := 0
	if r.Communicator != nil {
		n += len(r.Communicator.Raw) + len(r.Communicator.Group)
	}
	if r.Operations != nil {
		n += len(r.Operations.Raw)
	}
	return int64(n)
}

// Ask asks the helper; one member is set. The process is the one that is open.
type Ask struct {
	Ranges  []inferior.Range
	Symbols []string
	Types   []layout.TypeQuery
}

// Answer answers an [Ask], with an element for each that was asked.
type Answer struct {
	Memory  [][]byte
	Symbols []Symbol
	Types   []Type
	// Error means that the debugger is gone; the request can only fail.
	Error string
}

// Symbol is a symbol that may have been found.
type Symbol struct {
	Found bool
	inferior.Symbol
}

// Type is a type that may have been found.
type Type struct {
	Found bool
	layout.Layout
}

// Conn is one end of the stream, for receiving messages of type In.
type Conn[Out, In any] struct {
	to io.Writer
	in *limited
}

// NewConn returns an end of a stream.
func NewConn[Out, In any](stream io.ReadWriter) *Conn[Out, In] {
	return &Conn[Out, In]{stream, &limited{from: bufio.NewReader(stream)}}
}

// maxMessage is how long a message may be, in bytes. The longest is a group of
// [MaxGroup] members; an answer of memory has at most [inferior.MaxFetch] bytes. In a
// message of nothing but empty elements a byte makes some forty.
const maxMessage = 9 << 20

// limited ends a stream whose message is too long: gob itself would take gigabytes.
type limited struct {
	from *bufio.Reader
	left int
}

func (l *limited) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errors.New("the message is too long")
	}
	n, err := l.from.Read(b[:min(len(b), l.left)])
	l.left -= n
	return n, err
}

// ReadByte has gob take no more from the stream than the message at hand.
func (l *limited) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(l, b[:])
	return b[0], err
}

// Send sends a message.
func (c *Conn[Out, In]) Send(m Out) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(m); err != nil {
		return err
	}
	_, err := c.to.Write(b.Bytes())
	return err
}

// Receive waits for a message. Each comes with its types, for a decoder of its own: one that
// lasts would keep all types that the other end has ever sent, without a bound.
func (c *Conn[Out, In]) Receive() (In, error) {
	var m In
	c.in.left = maxMessage
	err := gob.NewDecoder(c.in).Decode(&m)
	return m, err
}
