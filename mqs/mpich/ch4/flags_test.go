package ch4

import (
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

const (
	flagsComm  = 0x1000
	flagsAt    = 0x2000
	bcastArray = 0x3000
	reduArray  = 0x3040
	flagLine   = 64
)

// flagged is a communicator of four ranks whose rank 1 this process is, in two trees: 0 is the parent of 1, which has the children
// 2 and 3 in the tree for broadcasts, and 3 alone in that for reduces. Each rank's flags are given as gathered and released.
type flagged struct {
	initialized       bool
	gathers, releases uint64
	flags             [4][2]uint64
	off               inferior.Addr // of the place of this rank's own flags, which is then wrong
	large             largeTree
}

// largeTree is the tree for long reductions: none, the same as the other one, or the one for broadcasts with another parent.
type largeTree int

const (
	noTree largeTree = iota
	sameTree
	otherTree
)

func (c flagged) device(t *testing.T) (*Device, *mpir.Communicator) {
	t.Helper()
	const member = "dev.ch4.shm.posix.release_gather."
	p := inferiortest.New()
	fields := map[string]layout.Field{}
	add := func(name string, offset, size int, kind layout.Kind) { fields[member+name] = field(offset, size, kind) }
	add("is_initialized", 0, 4, layout.KindSigned)
	add("gather_state", 8, 8, layout.KindSigned)
	add("release_state", 16, 8, layout.KindSigned)
	add("flags_addr", 24, 8, layout.KindPointer)
	add("gather_flag_addr", 32, 8, layout.KindPointer)
	add("release_flag_addr", 40, 8, layout.KindPointer)
	add("bcast_tree.parent", 48, 4, layout.KindSigned)
	add("bcast_tree.children", 56, 8, layout.KindPointer)
	add("reduce_tree.children", 72, 8, layout.KindPointer)
	if c.large != noTree {
		add("reduce_tree_large.children", 96, 8, layout.KindPointer)
	}
	p.Types["MPIR_Comm"] = &layout.Layout{Size: 104, Fields: fields}
	p.Types["UT_array"] = &layout.Layout{Size: 24, Fields: map[string]layout.Field{"i": field(0, 4, layout.KindUnsigned), "d": field(16, 8, layout.KindPointer)}}
	p.Put(flagsComm, make([]byte, 104))
	if c.initialized {
		p.PutUint32(flagsComm, 1)
	}
	own := inferior.Addr(flagsAt + 1*2*flagLine)
	p.PutUint64(flagsComm+8, c.gathers, c.releases, flagsAt, uint64(own+c.off), uint64(own+flagLine+c.off))
	p.PutUint64(flagsComm+56, bcastArray)
	p.PutUint64(flagsComm+72, reduArray)
	p.PutUint64(flagsComm+96, reduArray)
	if c.large == otherTree {
		p.PutUint64(flagsComm+96, bcastArray)
	}
	p.Put(flagsAt, make([]byte, 4*2*flagLine))
	for rank, f := range c.flags {
		p.PutUint64(inferior.Addr(flagsAt+rank*2*flagLine), f[0])
		p.PutUint64(inferior.Addr(flagsAt+rank*2*flagLine+flagLine), f[1])
	}
	p.Put(bcastArray, make([]byte, 128))
	p.PutUint32(bcastArray, 2)
	p.PutUint64(bcastArray+16, bcastArray+96)
	p.PutUint32(bcastArray+96, 2)
	p.PutUint32(bcastArray+100, 3)
	p.PutUint32(reduArray, 1)
	p.PutUint64(reduArray+16, bcastArray+100)
	d := over(p)
	if err := inferior.Bind(&d.flags, d.lib.Layouts); err != nil {
		t.Fatal(err)
	}
	return d, &mpir.Communicator{At: flagsComm, Comm: mpir.Comm{Rank: 1, LocalSize: 4}, Model: &mqs.Communicator{UniqueID: flagsComm}}
}

// The counts of steps tell in which step of which operation a rank is, and the tree for whom it waits there.
func TestAwaitedFlags(t *testing.T) {
	gathered := func(rank int32, n int64) mqs.Flag {
		return mqs.Flag{Comm: flagsComm, LocalRank: rank, Kind: mqs.Gathered, Count: n}
	}
	released := func(rank int32, n int64) mqs.Flag {
		return mqs.Flag{Comm: flagsComm, LocalRank: rank, Kind: mqs.Released, Count: n}
	}
	type all = [4][2]uint64
	for name, c := range map[string]struct {
		state    flagged
		call     string
		isDirect bool
		want     []mqs.Flag
	}{
		"a barrier, both children to come":          {flagged{true, 21, 20, all{{20, 20}, {20, 20}, {20, 20}, {20, 20}}, 0, noTree}, "MPI_Barrier", true, []mqs.Flag{gathered(2, 21), gathered(3, 21)}},
		"a barrier, one child to come":              {flagged{true, 21, 20, all{{20, 20}, {20, 20}, {21, 20}, {20, 20}}, 0, noTree}, "MPI_Barrier", false, []mqs.Flag{gathered(3, 21)}},
		"a barrier, all have come":                  {flagged{true, 21, 20, all{{20, 20}, {20, 20}, {21, 20}, {21, 20}}, 0, noTree}, "MPI_Barrier", true, nil},
		"an allreduce":                              {flagged{true, 21, 20, all{{20, 20}, {20, 20}, {20, 20}, {20, 20}}, 0, noTree}, "MPI_Allreduce", true, []mqs.Flag{gathered(3, 21)}},
		"one of the two, which is unknown":          {flagged{true, 21, 20, all{{20, 20}, {20, 20}, {20, 20}, {20, 20}}, 0, noTree}, "MPI_Comm_dup", true, nil},
		"one of the two, for the same":              {flagged{true, 21, 20, all{{20, 20}, {20, 20}, {21, 20}, {20, 20}}, 0, noTree}, "MPI_Comm_dup", true, []mqs.Flag{gathered(3, 21)}},
		"a barrier, to be released":                 {flagged{true, 21, 21, all{{21, 20}, {21, 20}, {21, 20}, {21, 20}}, 0, noTree}, "MPI_Barrier", true, []mqs.Flag{released(0, 21)}},
		"a barrier, released":                       {flagged{true, 21, 21, all{{21, 21}, {21, 20}, {21, 20}, {21, 20}}, 0, noTree}, "MPI_Barrier", true, nil},
		"a barrier that it has not begun":           {flagged{true, 21, 21, all{{21, 21}, {21, 21}, {21, 21}, {21, 21}}, 0, noTree}, "MPI_Barrier", true, nil},
		"a broadcast":                               {flagged{true, 20, 21, all{{20, 20}, {20, 20}, {20, 20}, {20, 20}}, 0, noTree}, "MPI_Bcast", false, []mqs.Flag{released(0, 21)}},
		"a broadcast that has come":                 {flagged{true, 20, 21, all{{20, 21}, {20, 20}, {20, 20}, {20, 20}}, 0, noTree}, "MPI_Bcast", true, nil},
		"a barrier in an allreduce, perhaps":        {flagged{true, 21, 20, all{{20, 20}, {20, 20}, {20, 20}, {20, 20}}, 0, noTree}, "MPI_Allreduce", false, nil},
		"what an error has left":                    {flagged{true, 21, 20, all{{20, 20}, {20, 20}, {21, 20}, {20, 20}}, 0, noTree}, "MPI_Bcast", true, nil},
		"a reduce, a child to come":                 {flagged{true, 21, 21, all{{20, 21}, {20, 21}, {20, 20}, {20, 20}}, 0, noTree}, "MPI_Reduce", true, nil},
		"an allreduce along one of two equal trees": {flagged{true, 21, 20, all{{20, 20}, {20, 20}, {20, 20}, {20, 20}}, 0, sameTree}, "MPI_Allreduce", true, []mqs.Flag{gathered(3, 21)}},
		"an allreduce along one of two trees":       {flagged{true, 21, 20, all{{20, 20}, {20, 20}, {20, 20}, {20, 20}}, 0, otherTree}, "MPI_Allreduce", true, nil},
		"a reduce to be released":                   {flagged{true, 20, 21, all{{20, 17}, {20, 20}, {20, 20}, {20, 20}}, 0, noTree}, "MPI_Reduce", true, nil},
		"a broadcast, whose buffers are taken":      {flagged{true, 24, 24, all{{20, 24}, {20, 24}, {20, 24}, {21, 24}}, 0, noTree}, "MPI_Bcast", true, nil},
		"no flags":                                  {flagged{false, 21, 20, all{{20, 20}, {20, 20}, {20, 20}, {20, 20}}, 0, noTree}, "MPI_Barrier", true, nil},
		"flags elsewhere":                           {flagged{true, 21, 20, all{{20, 20}, {20, 20}, {20, 20}, {20, 20}}, 8, noTree}, "MPI_Barrier", true, nil},
		"a flag beyond the steps":                   {flagged{true, 21, 20, all{{20, 20}, {22, 20}, {20, 20}, {20, 20}}, 0, noTree}, "MPI_Barrier", true, nil},
		"steps that can't be":                       {flagged{true, 23, 20, all{{20, 20}, {20, 20}, {20, 20}, {20, 20}}, 0, noTree}, "MPI_Barrier", true, nil},
	} {
		d, comm := c.state.device(t)
		got := d.AwaitedFlags(comm, c.call, c.isDirect)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		own := d.OwnFlags(comm)
		isRefused := strings.HasPrefix(name, "no flags") || strings.HasPrefix(name, "flags elsewhere") || strings.HasPrefix(name, "a flag beyond") || strings.HasPrefix(name, "steps that")
		if (own == nil) != isRefused || own != nil && (own[0] != gathered(1, int64(c.state.flags[1][0])) || own[1] != released(1, int64(c.state.flags[1][1]))) {
			t.Errorf("%s: its own are %+v", name, own)
		}
	}
}

// Of an intercommunicator, and without the types, there are none.
func TestNoFlags(t *testing.T) {
	d, comm := flagged{initialized: true, gathers: 1}.device(t)
	comm.Kind = mpir.CommInter
	if got := d.OwnFlags(comm); got != nil {
		t.Errorf("%+v", got)
	}
	comm.Kind = 0
	if got := d.OwnFlags(comm); got == nil {
		t.Error("there are none")
	}
	if got := over(inferiortest.New()).OwnFlags(comm); got != nil {
		t.Errorf("%+v", got)
	}
}
