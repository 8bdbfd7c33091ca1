package openmpi

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
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

// Every embedded table has every member that the decoder needs.
func TestTablesAreWhole(t *testing.T) {
	if len(tables()) < 3 {
		t.Errorf("%d tables", len(tables()))
	}
	for _, table := range tables() {
		var ts types
		if err := inferior.Bind(&ts, table.Layouts(inferior.Queries(&ts))); err != nil {
			t.Errorf("%s: %v", table.Release, err)
		}
		if !ts.RecvRequest.Bound() || !ts.CommProc.Bound() || !ts.RecvFrag.Bound() {
			t.Errorf("%s lacks types of ob1", table.Release)
		}
	}
}

// newInVendor are the members that the debugger library of 4.1 does not ask for.
var newInVendor = []string{"c_contextidb", "c_index"}

// Every embedded table answers whatever the vendor's library asks.
func TestTablesAnswerTheVendor(t *testing.T) {
	for _, table := range tables() {
		layouts := table.Layouts(vendorAsks)
		for _, q := range vendorAsks {
			size, ok := layouts.Size(q.Name)
			if !ok || size <= 0 {
				t.Errorf("%s: no %s", table.Release, q.Name)
			}
			for _, field := range q.Fields {
				asked := table.Release != "Open MPI 4.1.4" || !slices.Contains(newInVendor, field)
				if f, ok := layouts.Field(q.Name, field); ok != asked || f.Offset+f.Size > size {
					t.Errorf("%s: %s.%s: %v, %+v in %d bytes", table.Release, q.Name, field, ok, f, size)
				}
			}
		}
	}
}

// A table is believed on the release that it describes and on no other.
func TestTablesProveThemselves(t *testing.T) {
	for _, release := range []string{"4.1.4", "5.0.7", "6.0.0rc2"} {
		tg := inferiortest.Recorded(t, "openmpi-"+release+"/queues-rank-0")
		s, err := start(t, tg)
		if err != nil {
			t.Fatal(err)
		}
		if s.layouts.Name != "Open MPI "+release {
			t.Errorf("%s was read with the table of %s", release, s.layouts.Name)
		}
		for _, table := range tables() {
			other := &source{r: s.r, symbols: s.symbols, classes: map[inferior.Addr]class{}}
			if err := inferior.Bind(&other.types, table.Layouts(inferior.Queries(&types{}))); err != nil {
				t.Fatal(err)
			}
			if err := other.prove(); (err == nil) != (table.Release == s.layouts.Name) {
				t.Errorf("the table of %s on %s: %v", table.Release, release, err)
			}
		}
	}
}

// Where no layout fits, the sentence says what was tried and what to do.
func TestNoLayoutFits(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	s, err := start(t, tg)
	if err != nil {
		t.Fatal(err)
	}
	// A library whose class of communicators has another size.
	_, comms, err := s.communicatorArray()
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Object.ReadAt(s.r, comms[0])
	if err != nil {
		t.Fatal(err)
	}
	f, ok := s.layouts.Field("opal_class_t", "cls_sizeof")
	if !ok {
		t.Fatal("no cls_sizeof")
	}
	_, err = start(t, inferiortest.Patch(tg).PutUint64(o.Class+inferior.Addr(f.Offset), 9999))
	if err == nil {
		t.Fatal("a layout was believed")
	}
	for _, want := range []string{"libmpi.so.40", "Open MPI 4.1.4", "Open MPI 5.0.7", "9999 bytes, not 352", "debuginfod"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestStates(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-5.0.7/queues-rank-0")
	s, err := start(t, tg)
	if err != nil {
		t.Fatal(err)
	}
	state, sessions := s.symbols[symState].Addr, s.symbols[symInstances].Addr
	for _, c := range []struct {
		state, sessions uint64
		want            string
	}{
		{0, 0, "has not called MPI_Init"},
		{1, 0, "is inside MPI_Init"},
		{2, 0, ""},
		{3, 0, ""},
		{5, 0, "has called MPI_Finalize"},
		{0, 1, ""},
		{5, 1, ""},
	} {
		_, err := start(t, inferiortest.Patch(tg).PutUint64(state, c.state).PutUint64(sessions, c.sessions))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("state %d, %d sessions: %v", c.state, c.sessions, err)
		}
	}
}

func TestNotOpenMPI(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	_, err := start(t, inferiortest.Patch(tg).RemoveSymbols(symCommunicators))
	if err == nil || !strings.Contains(err.Error(), "does not use an MPI library") {
		t.Errorf("no communicators: %v", err)
	}
	_, err = start(t, inferiortest.Patch(tg).RemoveSymbols(symRecvRequests))
	if err == nil || !strings.Contains(err.Error(), symRecvRequests) {
		t.Errorf("no receive requests: %v", err)
	}
}

// A process can stand in one group as a pointer and in another as a sentinel
// with its name: ranks must come out the same.
func TestSentinels(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/spawn-child-1") // it has read the processes too
	groups := func(tg inferior.Inferior) map[string][]mqs.Maybe[int32] {
		s, err := start(t, tg)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string][]mqs.Maybe[int32]{}
		for c, err := range s.Communicators() {
			if err != nil {
				t.Fatal(err)
			}
			out[c.Label()] = c.Group
			out[c.Label()+" remote"] = c.RemoteGroup
		}
		return out
	}
	want := groups(tg)

	s, err := start(t, tg)
	if err != nil {
		t.Fatal(err)
	}
	_, comms, err := s.communicatorArray()
	if err != nil {
		t.Fatal(err)
	}
	words := map[inferior.Addr]uint64{}
	for i, a := range comms[3:] {
		if a == 0 {
			continue
		}
		c, err := s.Communicator.ReadAt(s.r, a)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []inferior.Addr{c.LocalGroup, c.RemoteGroup} {
			entries, g, err := s.entries(at)
			if err != nil {
				t.Fatal(err)
			}
			for k, e := range entries {
				if (i+k)%2 == 0 || e == 0 {
					continue
				}
				p, err := s.Proc.ReadAt(s.r, e)
				if err != nil {
					t.Fatal(err)
				}
				words[g.Procs+inferior.Addr(8*k)] = 1 | uint64(p.JobID&0x7fff)<<1 | uint64(p.JobID&0xffff0000) | uint64(p.VPID)<<32
			}
		}
	}
	got := groups(inferiortest.Patch(tg).PutWords(words))
	if len(words) < 4 || len(got) != len(want) {
		t.Fatalf("%d entries were changed, %d groups became %d", len(words), len(want), len(got))
	}
	for name, g := range want {
		if !slices.Equal(got[name], g) {
			t.Errorf("%s: %v became %v", name, g, got[name])
		}
	}
	// Another job's process of the same vpid is not the same.
	for a := range words {
		words[a] ^= 1 << 20
	}
	changed := 0
	for name, g := range groups(inferiortest.Patch(tg).PutWords(words)) {
		for i, r := range g {
			if !r.Known && want[name][i].Known {
				changed++
			}
		}
	}
	if changed == 0 {
		t.Error("processes of another job have ranks in this one")
	}
}

// A table tried on a library that it does not fit can read anything.
func TestProofsStandAnyArray(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	s, err := start(t, tg)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := s.layouts.Field("opal_pointer_array_t", "size")
	if !ok || f.Size != 4 {
		t.Fatalf("size is %+v", f)
	}
	at := s.symbols[symCommunicators].Addr + inferior.Addr(f.Offset)
	for _, size := range []uint64{0, 1, 2, 1 << 31, 1<<31 - 1} {
		if _, err := start(t, inferiortest.Patch(tg).PutUint64(at, size)); err == nil {
			t.Errorf("an array of %d was believed", size)
		}
	}
}

// Fragments that came too early can be linked in any way while memory is being changed.
func TestRingsEnd(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	s, err := start(t, tg)
	if err != nil {
		t.Fatal(err)
	}
	var frags []inferior.Addr
	var procs []inferior.Addr
	for _, err := range s.Communicators() {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range s.comms {
		if c.PMLComm == 0 {
			continue
		}
		comm, err := s.Comm.ReadAt(s.r, c.PMLComm)
		if err != nil {
			t.Fatal(err)
		}
		addrs, err := s.r.Pointers(comm.Procs, int(comm.NumProcs))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range addrs {
			p, err := s.CommProc.ReadAt(s.r, a)
			if a == 0 || err != nil {
				continue
			}
			if l, err := s.List.ReadAt(s.r, inferior.Addr(p.UnexpectedFrags)); err == nil && l.First != inferior.Addr(l.Sentinel) {
				frags, procs = append(frags, l.First), append(procs, a)
			}
		}
	}
	if len(frags) < 2 {
		t.Fatal("no fragments")
	}
	offset := func(name, path string) inferior.Addr {
		f, ok := s.layouts.Field(name, path)
		if !ok {
			t.Fatalf("no %s.%s", name, path)
		}
		return inferior.Addr(f.Offset)
	}
	next, ahead := offset("mca_pml_ob1_recv_frag_t", "super.super.opal_list_next"), offset("mca_pml_ob1_recv_frag_t", "range")
	// Two rings, each the range of the other.
	words := map[inferior.Addr]uint64{procs[0] + offset("mca_pml_ob1_comm_proc_t", "frags_cant_match"): uint64(frags[0])}
	for i, a := range frags[:2] {
		words[a+next] = uint64(a)
		words[a+ahead] = uint64(frags[1-i])
	}
	s, err = start(t, inferiortest.Patch(tg).PutWords(words))
	if err != nil {
		t.Fatal(err)
	}
	early, err := s.ring(frags[0])
	if err != nil || len(early) != 2 {
		t.Errorf("%d fragments, %v", len(early), err)
	}

	// A list that can't be read is no empty list.
	words = map[inferior.Addr]uint64{}
	for _, a := range procs {
		words[a+offset("mca_pml_ob1_comm_proc_t", "unexpected_frags")+offset("opal_list_t", "opal_list_sentinel.opal_list_next")] = 0x10
	}
	p, err := read.Read(context.Background(), inferiortest.Patch(tg).PutWords(words), []read.Decoder{Decoder{}}, read.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Communicators {
		q := c.Queue[mqs.UnexpectedMessages]
		if c.Name.Value == "MPI_COMM_WORLD" && (q.Total != 0 || !strings.Contains(q.Unavailable, "0x10")) {
			t.Errorf("broken lists are shown as %d messages, unavailable %q", q.Total, q.Unavailable)
		}
	}
}

func TestSendSequencesWrapAround(t *testing.T) {
	const last = 40_000
	age := ageBefore(1<<16 + last)
	for posted := range 1 << 16 {
		sequence := uint64(int64(int16(last + 1 + posted))) // sign-extended, as ob1 stores it
		if got := 1<<16 - 1 - age(sequence); got != posted {
			t.Fatalf("the message posted as number %d counts as %d", posted, got)
		}
	}
}
