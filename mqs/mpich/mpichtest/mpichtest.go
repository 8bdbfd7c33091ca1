// Package mpichtest reads processes of MPICH for the tests of the packages that its decoder is made of.
package mpichtest

import (
	"context"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Sources read processes of MPICH alone.
var Sources = read.Sources{Decoders: []read.Decoder{mpich.Decoder{}}}

// Open opens a process.
func Open(of inferior.Inferior) (read.Source, error) {
	return read.Open(inferior.NewReader(context.Background(), of), []read.Decoder{mpich.Decoder{}})
}

// Collect reads everything of a process, also what the library has made for itself.
func Collect(t testing.TB, of inferior.Inferior) *mqs.Process {
	t.Helper()
	return collect(t, of, read.Filter{Internal: true})
}

// Shown reads what is shown of a process.
func Shown(t testing.TB, of inferior.Inferior) *mqs.Process {
	t.Helper()
	return collect(t, of, read.Filter{})
}

func collect(t testing.TB, of inferior.Inferior, f read.Filter) *mqs.Process {
	t.Helper()
	p, err := read.Read(context.Background(), of, []read.Decoder{mpich.Decoder{}}, f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Queues are those of the communicator that has a name.
func Queues(t testing.TB, p *mqs.Process, name string) *mqs.Queues {
	t.Helper()
	for _, c := range p.Communicators {
		if c.Name == mqs.Known(name) {
			return c
		}
	}
	t.Fatalf("no communicator %s", name)
	return nil
}

// Symbol is where a symbol of a process is.
func Symbol(t testing.TB, of inferior.Inferior, name string) inferior.Addr {
	t.Helper()
	found, err := of.FindSymbols(context.Background(), []string{name})
	if err != nil || found[0] == nil {
		t.Fatalf("no symbol %s (%v)", name, err)
	}
	return found[0].Addr
}

// Offset is how many bytes behind the beginning of a C type one of its members stands, by the debug
// information of a process.
func Offset(t testing.TB, of inferior.Inferior, name, path string) inferior.Addr {
	t.Helper()
	found, err := of.FindTypes(context.Background(), []layout.TypeQuery{{Name: name, Fields: []string{path}}})
	if err != nil || found[0] == nil {
		t.Fatalf("no type %s (%v)", name, err)
	}
	f, ok := found[0].Fields[path]
	if !ok {
		t.Fatalf("no %s.%s", name, path)
	}
	return inferior.Addr(f.Offset)
}

// Size is how many bytes a C type has.
func Size(t testing.TB, of inferior.Inferior, name string) inferior.Addr {
	t.Helper()
	found, err := of.FindTypes(context.Background(), []layout.TypeQuery{{Name: name}})
	if err != nil || found[0] == nil {
		t.Fatalf("no type %s (%v)", name, err)
	}
	return inferior.Addr(found[0].Size)
}

// Pointer reads a pointer in the memory of a process.
func Pointer(t testing.TB, of inferior.Inferior, at inferior.Addr) inferior.Addr {
	t.Helper()
	p, err := inferior.NewReader(context.Background(), of).Pointers(at, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p[0]
}
