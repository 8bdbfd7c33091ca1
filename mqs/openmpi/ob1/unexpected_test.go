package ob1

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// TestCustomMatch checks that a build whose queues are of another kind says so: its peers have no list of fragments.
func TestCustomMatch(t *testing.T) {
	r := inferior.NewReader(t.Context(), inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0"))
	symbols, err := r.Symbols(ompi.Symbols...)
	if err != nil {
		t.Fatal(err)
	}
	tables := ompitest.Tables(t)
	for _, table := range tables {
		delete(table.Types["mca_pml_ob1_comm_proc_t"].Fields, "unexpected_frags")
	}
	p, q, err := ompi.Fit(r, symbols, tables, []ompi.Component{Component})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range p.Communicators() {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, err := ompitest.Operations(q, ompitest.Comm(t, p, "MPI_COMM_WORLD"), mqs.UnexpectedMessages); err == nil || !strings.Contains(err.Error(), "MCA_PML_OB1_CUSTOM_MATCH") {
		t.Errorf("%d messages, %v", len(got), err)
	}
}

// Fragments that came too early can be linked in any way while memory is being changed.
func TestRingsEnd(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	p, opened := ompitest.MustOpen(t, tg, Component)
	q := opened.(*queues)
	var frags []inferior.Ptr[recvFrag]
	var procs []inferior.Ptr[commProc]
	for _, c := range p.Comms {
		if c.PMLComm == 0 {
			continue
		}
		comm, err := q.Comm.Read(q.R, inferior.Ptr[comm](c.PMLComm))
		if err != nil {
			t.Fatal(err)
		}
		peers, err := inferior.ReadPointers(q.R, comm.Procs, int(comm.NumProcs))
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range peers {
			p, err := q.CommProc.Read(q.R, at)
			if at == 0 || err != nil {
				continue
			}
			if l, err := q.List.Read(q.R, p.UnexpectedFrags.Ptr()); err == nil && l.First != l.Sentinel.Ptr() {
				frags, procs = append(frags, fragOf(l.First)), append(procs, at)
			}
		}
	}
	if len(frags) < 2 {
		t.Fatal("no fragments")
	}
	offset := func(name, path string) inferior.Addr { return ompitest.Offset(t, p, name, path) }
	next, ahead := offset("mca_pml_ob1_recv_frag_t", "super.super.opal_list_next"), offset("mca_pml_ob1_recv_frag_t", "range")
	// Two rings, each the range of the other.
	words := map[inferior.Addr]uint64{procs[0].Addr() + offset("mca_pml_ob1_comm_proc_t", "frags_cant_match"): uint64(frags[0])}
	for i, at := range frags[:2] {
		words[at.Addr()+next] = uint64(at)
		words[at.Addr()+ahead] = uint64(frags[1-i])
	}
	_, opened = ompitest.MustOpen(t, inferiortest.Patch(tg).PutWords(words), Component)
	early, err := opened.(*queues).ring(frags[0])
	if err != nil || len(early) != 2 {
		t.Errorf("%d fragments, %v", len(early), err)
	}

	// A list that can't be read is no empty list.
	words = map[inferior.Addr]uint64{}
	for _, at := range procs {
		words[at.Addr()+offset("mca_pml_ob1_comm_proc_t", "unexpected_frags")+offset("opal_list_t", "opal_list_sentinel.opal_list_next")] = 0x10
	}
	p, broken := ompitest.MustOpen(t, inferiortest.Patch(tg).PutWords(words), Component)
	messages, err := ompitest.Operations(broken, ompitest.Comm(t, p, "MPI_COMM_WORLD"), mqs.UnexpectedMessages)
	if len(messages) != 0 || err == nil || !strings.Contains(err.Error(), "0x10") {
		t.Errorf("broken lists are shown as %d messages, %v", len(messages), err)
	}
}
