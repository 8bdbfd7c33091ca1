package openmpi

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// start opens a process.
func start(t *testing.T, tg inferior.Inferior) (*source, error) {
	t.Helper()
	s, err := read.Open(inferior.NewReader(context.Background(), tg), []read.Decoder{Decoder{}})
	if err != nil {
		return nil, err
	}
	return s.(*source), nil
}

// A table is believed on the release that it describes, and on those that it does not exclude.
func TestTablesProveThemselves(t *testing.T) {
	for _, release := range []string{"4.1.4", "5.0.7", "6.0.0rc2"} {
		tg := inferiortest.Recorded(t, "openmpi-"+release+"/queues-rank-0")
		s, err := start(t, tg)
		if err != nil {
			t.Fatal(err)
		}
		if s.process.Layouts.Name != "Open MPI "+release {
			t.Errorf("%s was read with the table of %s", release, s.process.Layouts.Name)
		}
		own := tables()[slices.IndexFunc(tables(), func(t *layout.Table) bool { return t.Release == s.process.Layouts.Name })]
		for table := range layout.Variants(tables()) {
			// One table alone has to be refused for what the process says, not for what it lacks.
			_, _, err := ompi.Fit(s.process.R, s.process.Symbols, []*layout.Table{table.Alone()}, components)
			if (err == nil) == (table.Architecture != "" || excludes(table, own)) {
				t.Errorf("the table of %s on %s: %v", table, release, err)
			}
		}
	}
}

// Where no layout fits, the sentence names the library, the nearest layout and why that does not fit, and says what to do.
func TestNoLayoutFits(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	s, err := start(t, tg)
	if err != nil {
		t.Fatal(err)
	}
	// A library whose class of communicators has another size.
	comms, err := s.process.CommunicatorArray()
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.process.Object.Read(s.process.R, inferior.Ptr[ompi.Object](comms[0]))
	if err != nil {
		t.Fatal(err)
	}
	f, ok := s.process.Layouts.Field("opal_class_t", "cls_sizeof")
	if !ok {
		t.Fatal("no cls_sizeof")
	}
	_, err = start(t, inferiortest.Patch(tg).PutUint64(o.Class.Addr()+inferior.Addr(f.Offset), 9999))
	if err == nil {
		t.Fatal("a layout was believed")
	}
	const want = "libmpi.so.40 is Open MPI 4.1.4, and no known layout of its types fits; the nearest is " +
		"the layout of Open MPI 4.1.4: a ompi_communicator_t has 9999 bytes, not 352: install the library's debug symbols"
	if !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "5.0.7") {
		t.Errorf("%q does not say %q", err, want)
	}
	var noFit *inferior.NoFitError
	if !errors.As(err, &noFit) || !strings.Contains(noFit.Why.Error(), "Open MPI 5.0.7") {
		t.Errorf("why no other layout fits is not kept: %v", noFit)
	}
}

// TestOtherPML checks that the queues of a pml that no component reads are unavailable, and that its name is said.
func TestOtherPML(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	s, err := start(t, tg)
	if err != nil {
		t.Fatal(err)
	}
	s.queues, s.process.PML = nil, "yalla"
	for _, err := range s.Operations(&mqs.Communicator{}, mqs.PendingSends) {
		if err == nil || !strings.Contains(err.Error(), "its messages are in pml yalla, which") {
			t.Error(err)
		}
	}
}

func TestNotOpenMPI(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	_, err := start(t, inferiortest.Patch(tg).RemoveSymbols(ompi.SymCommunicators))
	if err == nil || !strings.Contains(err.Error(), "does not use an MPI library") {
		t.Errorf("no communicators: %v", err)
	}
	_, err = start(t, inferiortest.Patch(tg).RemoveSymbols(ompi.SymRecvRequests))
	if err == nil || !strings.Contains(err.Error(), ompi.SymRecvRequests) {
		t.Errorf("no receive requests: %v", err)
	}
}
