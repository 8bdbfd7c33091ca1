package helper

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/dll/locate"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// What `info mpi' says of a process is a fact to a line, whatever its things are called.
func TestDescriptionIsPrintable(t *testing.T) {
	const name = "a\x1b]0;P\x07\u202e\nDLL:      b"
	for lines, p := range map[int]*mqs.Process{
		5: {Image: name, MPI: name, MPIVersion: name, Library: name, Source: name, DLL: name, DLLVersion: name},
		// A reason can have several lines.
		4: {Image: name, Unavailable: "one\x1b[2J\nanother"},
	} {
		var b strings.Builder
		describe(&b, p)
		if text := b.String(); text != printable.Text(text) || strings.Count(text, "\n") != lines {
			t.Errorf("%q", text)
		}
	}
}

// `info mpi' names the DLLs for handles that an MPI library has for other debuggers.
func TestHandleDLLs(t *testing.T) {
	p := inferiortest.New()
	p.Identity = inferior.Info{PointerSize: 8}
	var b strings.Builder
	if err := handleDLLs(&b, inferior.NewReader(t.Context(), p)); err != nil || b.Len() != 0 {
		t.Errorf("%q, %v", b.String(), err)
	}
	p.Symbols[locate.HandleLocations[0]] = &inferior.Symbol{Addr: 0x1000}
	p.Put(0x1000, p.Pointer(0x2000))
	p.Put(0x2000, append(p.Pointer(0x3000), p.Pointer(0)...))
	p.Put(0x3000, []byte("/opt/dbg.so\x00"))
	const want = "Handle DLL: /opt/dbg.so, which mpidbg_dll_locations names and mpi-queues does not need\n"
	if err := handleDLLs(&b, inferior.NewReader(t.Context(), p)); err != nil || b.String() != want {
		t.Errorf("%q, %v", b.String(), err)
	}
}
