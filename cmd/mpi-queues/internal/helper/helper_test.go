package helper

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
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
