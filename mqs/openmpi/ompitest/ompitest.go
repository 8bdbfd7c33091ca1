// Package ompitest opens processes of Open MPI for the tests of the packages that its decoder is made of.
package ompitest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// Tables are the layouts of stock builds that the decoder has.
func Tables(t testing.TB) []*layout.Table {
	t.Helper()
	root := filepath.Dir(filepath.Dir(inferiortest.Folder(t)))
	tables, err := layout.ReadTables(os.DirFS(filepath.Join(root, "mqs", "openmpi")), "tables")
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// Open opens a process of which one of the components carries the messages, none of whose queues has been read.
func Open(t testing.TB, of inferior.Inferior, components ...ompi.Component) (*ompi.Process, ompi.Queues, error) {
	t.Helper()
	r := inferior.NewReader(context.Background(), of)
	symbols, err := r.Symbols(ompi.Symbols...)
	if err != nil {
		t.Fatal(err)
	}
	return ompi.Fit(r, symbols, Tables(t), components)
}

// MustOpen is [Open], of a process that has been read up to its communicators.
func MustOpen(t testing.TB, of inferior.Inferior, components ...ompi.Component) (*ompi.Process, ompi.Queues) {
	t.Helper()
	p, q, err := Open(t, of, components...)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range p.Communicators() {
		if err != nil {
			t.Fatal(err)
		}
	}
	return p, q
}

// Comm is the communicator of a name.
func Comm(t testing.TB, p *ompi.Process, name string) *ompi.Comm {
	t.Helper()
	for _, c := range p.Comms {
		if c.Model.Name.Value == name {
			return c
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

// Operations is one queue of a communicator, as far as it can be read.
func Operations(q ompi.Queues, c *ompi.Comm, class mqs.OpClass) (out []mqs.PendingOperation, err error) {
	q.Operations(c.Model, class, func(op mqs.PendingOperation, failed error) bool {
		if err = failed; err == nil {
			out = append(out, op)
		}
		return true
	})
	return out, err
}

// Pending are the requests of operations of a kind on MPI_COMM_WORLD that are not complete, in their order.
func Pending(t testing.TB, p *ompi.Process, q ompi.Queues, class mqs.OpClass, kind string) (out []inferior.Addr) {
	t.Helper()
	operations, err := Operations(q, Comm(t, p, "MPI_COMM_WORLD"), class)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range operations {
		if op.Kind == kind && op.Status == mqs.Pending {
			out = append(out, op.Request.Value)
		}
	}
	return out
}

// Wait is what the thread of number 1 waits for.
func Wait(p *ompi.Process, q ompi.Queues) mqs.Thread {
	threads := []mqs.Thread{{Number: 1}}
	p.SetWaits(q, threads)
	return threads[0]
}

// Offset is where a member of a type stands in it, in bytes.
func Offset(t testing.TB, p *ompi.Process, name, member string) inferior.Addr {
	t.Helper()
	f, ok := p.Layouts.Field(name, member)
	if !ok {
		t.Fatalf("no %s.%s", name, member)
	}
	return inferior.Addr(f.Offset)
}

// Put gives a member of 4 bytes of an object another value.
func Put(t testing.TB, p *ompi.Process, to *inferiortest.Patched, object inferior.Addr, name, member string, value int32) {
	t.Helper()
	if f, ok := p.Layouts.Field(name, member); !ok || f.Size != 4 {
		t.Fatalf("%s.%s is %+v", name, member, f)
	}
	to.PutUint32(object+Offset(t, p, name, member), uint32(value))
}
