package mpich

import (
	"context"
	"errors"
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

func mustStart(t *testing.T, tg inferior.Inferior) *source {
	t.Helper()
	s, err := start(t, tg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// offset is where a member stands in a type of the process's.
func offset(t *testing.T, s *source, name, path string) inferior.Addr {
	t.Helper()
	f, ok := s.layouts.Field(name, path)
	if !ok {
		t.Fatalf("no %s.%s", name, path)
	}
	return inferior.Addr(f.Offset)
}

// collect reads everything of a process.
func collect(t *testing.T, tg inferior.Inferior) *mqs.Process {
	t.Helper()
	p, err := read.Read(context.Background(), tg, []read.Decoder{Decoder{}}, read.Filter{Internal: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func queuesOf(t *testing.T, p *mqs.Process, name string) *mqs.Queues {
	t.Helper()
	for _, c := range p.Communicators {
		if c.Name.Value == name {
			return c
		}
	}
	t.Fatalf("no communicator %s", name)
	return nil
}

// Every embedded table has every member that the decoder needs.
func TestTablesAreWhole(t *testing.T) {
	if len(tables()) < 1 {
		t.Fatal("no tables")
	}
	for _, table := range tables() {
		l := table.Layouts(queries())
		var ts types
		var d ch4Types
		var g ch4Groups
		if err := errors.Join(inferior.Bind(&ts, l), inferior.Bind(&d, l), inferior.Bind(&g, l)); err != nil {
			t.Errorf("%s: %v", table.Release, err)
		}
		if !d.Request.Bound() || !ts.Bsend.Bound() {
			t.Errorf("%s lacks types", table.Release)
		}
	}
}

// A stripped library is recognised by what is left of its symbols.
func TestStripped(t *testing.T) {
	_, err := start(t, inferiortest.Patch(inferiortest.Recorded(t, "mpich-4.0.2-ch4/queues-rank-0")).RemoveSymbols(needed...))
	var u *read.UnreadableError
	if !errors.As(err, &u) || u.MPI != "MPICH" {
		t.Fatalf("%v", err)
	}
	for _, text := range []string{"stripped", "debug symbols", "debuginfod", "MPICHLIB_CFLAGS=-g", "4.0.2 ch4:ofi"} {
		if !strings.Contains(u.Reason, text) {
			t.Errorf("%q does not say %q", u.Reason, text)
		}
	}
}

// From 4.2 a stripped library has not even its version in .dynsym.
func TestStrippedOfItsVersion(t *testing.T) {
	all := inferiortest.Patch(inferiortest.Recorded(t, "mpich-4.0.2-ch4/queues-rank-0")).RemoveSymbols(Decoder{}.Symbols()...)
	if _, err := (Decoder{}).Open(inferior.NewReader(context.Background(), all), nil); !errors.Is(err, read.ErrNotThis) {
		t.Errorf("without any symbol: %v", err)
	}
	all.SetSymbol(symAllHandles, inferior.Symbol{Addr: 0x1000, Object: "/lib/libmpich.so.12"})
	if _, err := start(t, all); err == nil || !strings.Contains(err.Error(), "libmpich.so.12 is stripped") {
		t.Errorf("%v", err)
	}
}

// The layouts of one build are not taken for those of another.
func TestTableOfAnotherBuild(t *testing.T) {
	for _, name := range []string{"mpich-4.0.2-ch3/queues-rank-0", "mpich-4.0.2-ch4/queues-rank-0", "mpich-4.0.2-ch4-debug/queues-rank-0"} {
		_, err := start(t, inferiortest.Patch(inferiortest.Recorded(t, name)).RemoveTypes())
		if err == nil || !strings.Contains(err.Error(), "none of the layouts") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBeforeInit(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	s := mustStart(t, tg)
	at := s.symbols[symProcess].Addr + offset(t, s, "MPIR_Process_t", "mpich_state")
	_, err := start(t, inferiortest.Patch(tg).PutUint32(at, stateUninitialized))
	var u *read.UnreadableError
	if !errors.As(err, &u) || !u.Final || !strings.Contains(u.Reason, "MPI_Init") {
		t.Errorf("%v", err)
	}
}

// A process can be stopped while it makes its first requests.
func TestPoolInTheMaking(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3-debug/recv-rank-0")
	s := mustStart(t, tg)
	at := s.symbols[symRequestPools].Addr + offset(t, s, "MPIR_Object_alloc_t", "num_allocated")
	s = mustStart(t, inferiortest.Patch(tg).PutUint32(at, 0))
	p, err := s.openPool(s.symbols[symRequestPools].Addr, symRequestPools, s.Request.Size())
	if err != nil || len(p.blocks) != 0 {
		t.Errorf("%v, %d blocks", err, len(p.blocks))
	}
}

// Of a pool in whose table there is a block more than its sum counts, the
// others are read.
func TestBlockInTheMaking(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	s := mustStart(t, tg)
	head := s.symbols[symRequestPools].Addr
	before, err := s.openPool(head, symRequestPools, s.Request.Size())
	if err != nil || len(before.blocks) < 2 {
		t.Fatalf("%v, %d blocks", err, len(before.blocks))
	}
	at := head + offset(t, s, "MPIR_Object_alloc_t", "indirect_size")
	s = mustStart(t, inferiortest.Patch(tg).PutUint32(at, uint32(len(before.blocks))))
	after, err := s.openPool(head, symRequestPools, s.Request.Size())
	if err != nil || len(after.blocks) != len(before.blocks) || after.blocks[1].n != before.blocks[1].n {
		t.Errorf("%v, %v, before %v", err, after, before)
	}
}

// Without the list of unmatched receives nothing is said to have matched.
func TestUnknownListIsNoMatch(t *testing.T) {
	p := collect(t, inferiortest.Patch(inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")).RemoveSymbols(symPosted, symUnexpected))
	for _, class := range []mqs.OpClass{mqs.PendingReceives, mqs.UnexpectedMessages} {
		q := queuesOf(t, p, "wild").Queue[class]
		if q.Unavailable == "" || len(q.Operations) > 0 {
			t.Errorf("%s: %q, %d operations", class, q.Unavailable, len(q.Operations))
		}
	}
}

// A list that leads back to itself ends, and says so.
func TestListInACircle(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	s := mustStart(t, tg)
	first, err := s.r.Pointers(s.symbols[symUnexpected].Addr, 1)
	if err != nil {
		t.Fatal(err)
	}
	at := first[0] + offset(t, s, "MPIR_Request", "next")
	p := collect(t, inferiortest.Patch(tg).PutPointer(at, first[0]))
	if !strings.Contains(strings.Join(p.Notes, " "), "comes back") && !strings.Contains(queuesOf(t, p, "wild").Queue[mqs.UnexpectedMessages].Unavailable, "comes back") {
		t.Errorf("notes: %q", p.Notes)
	}
}

// What MPI_COMM_WORLD says and what the process says of itself must agree.
func TestProofOfWorld(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	s := mustStart(t, tg)
	at := s.process.World + offset(t, s, "MPIR_Comm", "local_size")
	if _, err := start(t, inferiortest.Patch(tg).PutUint32(at, 4)); err == nil || !strings.Contains(err.Error(), "MPI_COMM_WORLD") {
		t.Errorf("%v", err)
	}
}

// A communicator that is gone is not shown, whichever way they are found.
func TestFreedCommunicator(t *testing.T) {
	for _, name := range []string{"mpich-4.0.2-ch3/queues-rank-0", "mpich-4.0.2-ch3-debug/queues-rank-0"} {
		tg := inferiortest.Recorded(t, name)
		s := mustStart(t, tg)
		gone := queuesOf(t, collect(t, tg), "wild").UniqueID
		at := gone + offset(t, s, "MPIR_Comm", "ref_count")
		for _, c := range collect(t, inferiortest.Patch(tg).PutUint32(at, 0)).Communicators {
			if c.UniqueID == gone {
				t.Errorf("%s: %s is still shown", name, c.Label())
			}
		}
	}
}

func TestRankMaps(t *testing.T) {
	for _, c := range []struct {
		m    ch4Map
		want []int64
	}{
		{ch4Map{Mode: mapDirect}, []int64{0, 1, 2, 3}},
		{ch4Map{Mode: mapOffsetIntra, OnlyAt: 5}, []int64{5, 6, 7, 8}},
		{ch4Map{Mode: mapStride, Stride: 2, Offset: 1}, []int64{1, 3, 5, 7}},
		{ch4Map{Mode: mapStrideIntra, Stride: -1, Offset: 3}, []int64{3, 2, 1, 0}},
		{ch4Map{Mode: mapStrideBlock, Stride: 4, BlockSize: 2, Offset: 1}, []int64{1, 2, 5, 6}},
	} {
		for rank, want := range c.want {
			if got, err := c.m.place(int64(rank)); err != nil || got != want {
				t.Errorf("mode %d: rank %d is at %d (%v), want %d", c.m.Mode, rank, got, err, want)
			}
		}
	}
	if _, err := (&ch4Map{Mode: mapStrideBlock}).place(1); err == nil {
		t.Error("blocks of no members")
	}
}
