package mpir

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Places in the process of [withBuffers].
const (
	ofProcess, ofSession, ofCommunicator = 0x1000, 0x1100, 0x1200
	aSession, firstSend, lastSend        = 0x2000, 0x8000, 0x8100
)

// withBuffers is a process of 4.2 or newer, in which the process's buffer is at 0x8000, its session's at 0x9000 and its
// communicator's at 0xa000, of 256 bytes each. The first has two sends.
func withBuffers(isAutomatic uint64) *Library {
	p := inferiortest.New()
	p.Types["MPIR_Process_t"] = &layout.Layout{Size: 48, Fields: map[string]layout.Field{"mpich_state": field(0, 4, layout.KindSigned), "rank": field(4, 4, layout.KindSigned),
		"size": field(8, 4, layout.KindSigned), "comm_world": field(16, 8, layout.KindPointer), "bsendbuffer": field(24, 8, layout.KindPointer)}}
	p.Types["MPII_BsendBuffer"] = &layout.Layout{Size: 32, Fields: map[string]layout.Field{"is_automatic": field(0, 4, layout.KindSigned),
		"u.user.buffer": field(8, 8, layout.KindPointer), "u.user.buffer_size": field(16, 8, layout.KindUnsigned), "u.user.active": field(24, 8, layout.KindPointer)}}
	p.Types["MPII_Bsend_data_t"] = &layout.Layout{Size: 16, Fields: map[string]layout.Field{"next": field(0, 8, layout.KindPointer), "request": field(8, 8, layout.KindPointer)}}
	p.Types["MPIR_Session"] = &layout.Layout{Size: 16, Fields: map[string]layout.Field{"handle": field(0, 4, layout.KindUnsigned), "bsendbuffer": field(8, 8, layout.KindPointer)}}
	p.PutUint64(ofProcess, 0, 0x8000, 0x100, firstSend)
	p.PutUint64(ofSession, 0, 0x9000, 0x100, 0)
	p.PutUint64(ofCommunicator, isAutomatic, 0xa000, 0x100, 0)
	p.PutUint64(aSession, 0, ofSession)
	p.PutUint64(firstSend, lastSend, 0x5000)
	p.PutUint64(lastSend, 0, 0x5100)
	l := over(p)
	l.Process.Attached = ofProcess
	return l
}

// From 4.2 on a buffered send is in the list of the buffer of its communicator, its session or its process, or its data is
// in that.
func TestIsBufferedAnywhere(t *testing.T) {
	l := withBuffers(0)
	whole := &Communicator{Comm: Comm{Attached: ofCommunicator, Session: aSession}}
	at := func(a inferior.Addr) Arguments { return Arguments{Buffer: mqs.Known(a)} }
	for name, c := range map[string]struct {
		r    inferior.Ptr[Request]
		a    Arguments
		on   *Communicator
		want bool
	}{
		"in the list":                 {0x5000, Arguments{}, whole, true},
		"last in the list":            {0x5100, Arguments{}, &Communicator{}, true},
		"in the process's":            {0, at(0x80ff), &Communicator{}, true},
		"behind it":                   {0, at(0x8100), whole, false},
		"in the session's":            {0, at(0x9000), whole, true},
		"in another session's":        {0, at(0x9000), &Communicator{}, false},
		"in the communicator's":       {0, at(0xa000), whole, true},
		"in no list, its data hidden": {0x5200, Arguments{}, whole, false},
		"of another type":             {0x5000, Arguments{Datatype: mqs.Known[uint32](0x4c000405)}, whole, false},
		"of the library's bytes":      {0x5000, Arguments{Datatype: mqs.Known[uint32](0x4c80010d)}, whole, true},
	} {
		if got := l.isBuffered(&Operation{At: c.r}, c.a, c.on); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !l.TellsBuffered(whole) || withBuffers(1).TellsBuffered(whole) || !withBuffers(1).TellsBuffered(&Communicator{}) {
		t.Error("a buffer that the library makes itself tells nothing, and only that")
	}
	if a := (Arguments{Datatype: mqs.Known[uint32](packed)}); !withBuffers(1).mayBeBuffered(a, whole) || l.mayBeBuffered(a, whole) || withBuffers(1).mayBeBuffered(Arguments{}, whole) {
		t.Error("what may be in a buffer that the library makes itself is bytes")
	}
	l.Process.Attached = 0x9000_0000
	if l.TellsBuffered(whole) {
		t.Error("a buffer that can't be read tells something")
	}
}

// From 5.0 on requests have the library's own types, with the numbers of the program's.
func TestProgramsDatatype(t *testing.T) {
	for handle, want := range map[uint32]struct {
		program    uint32
		own, bytes bool
	}{
		0x4c000405: {0x4c000405, false, false},
		0x4c810405: {0x4c000405, true, false},
		0x4c80010d: {0x4c00010d, true, true},
		0x4c00010d: {0x4c00010d, false, false}, // the program's own MPI_BYTE
		0x4c00010f: {0x4c00010f, false, true},
		0x4c800100: {0x4c000100, true, true},
		0x4c800400: {0x4c000400, true, false},
		0x8c800001: {0x8c800001, false, false}, // a derived one
	} {
		if got, own := programsDatatype(handle); got != want.program || own != want.own || isBytes(handle) != want.bytes {
			t.Errorf("%#x: %#x, %t, %t", handle, got, own, isBytes(handle))
		}
	}
}
