package ch4

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// Starting with the fifth barrier, broadcast, reduce or allreduce on a communicator, the ranks of one machine carry these out by flags
// in shared memory (src/mpid/ch4/shm/posix/release_gather/release_gather.h, 3.4 to 5.0). Each rank owns two counters, which no other rank
// raises. In a gather step a rank raises its gather flag once its children in a tree have raised theirs; in a release step it
// raises its release flag once its parent has. It also counts the steps of either kind that it has begun. A barrier and an allreduce
// gather first, a broadcast and a reduce release first, so the two counts show which operation and which step the rank is in.
//
// A root of a broadcast that is not rank 0 sends its data to rank 0 at the beginning of the release step. For the moment before the
// library has made that request, the root seems to wait for rank 0's flag while rank 0 waits for the message.

// flagTypes are bound where the types say how the flags are kept.
type flagTypes struct {
	Comm     inferior.Struct[flagComm] `c:"MPIR_Comm"`
	Children inferior.Struct[children] `c:"UT_array"`
}

// flagComm is MPIR_Comm.dev.ch4.shm.posix.release_gather.
type flagComm struct {
	Initialized int32 `c:"dev.ch4.shm.posix.release_gather.is_initialized"`
	// How many steps the rank has begun.
	Gathers  int64 `c:"dev.ch4.shm.posix.release_gather.gather_state"`
	Releases int64 `c:"dev.ch4.shm.posix.release_gather.release_state"`
	// Where the flags of all ranks are, and its own.
	All        inferior.Addr `c:"dev.ch4.shm.posix.release_gather.flags_addr"`
	OwnGather  inferior.Addr `c:"dev.ch4.shm.posix.release_gather.gather_flag_addr"`
	OwnRelease inferior.Addr `c:"dev.ch4.shm.posix.release_gather.release_flag_addr"`

	BcastParent    int32                  `c:"dev.ch4.shm.posix.release_gather.bcast_tree.parent"`
	BcastChildren  inferior.Ptr[children] `c:"dev.ch4.shm.posix.release_gather.bcast_tree.children"`
	ReduceChildren inferior.Ptr[children] `c:"dev.ch4.shm.posix.release_gather.reduce_tree.children"`
	// From 4.3 on, long messages are reduced along a tree of their own.
	LargeChildren inferior.Ptr[children] `c:"dev.ch4.shm.posix.release_gather.reduce_tree_large.children,optional"`
}

// children is a UT_array of int.
type children struct {
	Count uint32        `c:"i"`
	Data  inferior.Addr `c:"d"`
}

// maxChildren bounds the children of a rank that are read.
const maxChildren = 256

// flags are a communicator's flags as one rank sees them.
type flags struct {
	d    *Device
	comm *mpir.Communicator
	at   flagComm
	// line is the distance between the two flags of a rank, and gathered and released are its own.
	line               int64
	gathered, released int64
}

// readFlags reads the flags of a communicator; nil if it has none, or they can't be read.
func (d *Device) readFlags(c *mpir.Communicator) *flags {
	if !d.flags.Comm.Bound() || c.At == 0 || c.Kind == mpir.CommInter {
		return nil
	}
	at, err := d.flags.Comm.Read(d.lib.Reader, inferior.Ptr[flagComm](c.At))
	if err != nil || at.Initialized == 0 || at.All == 0 {
		return nil
	}
	f := &flags{d: d, comm: c, at: at, line: int64(at.OwnRelease - at.OwnGather)}
	// The flags of each rank are two cache lines, which is what proves the layout.
	if f.line <= 0 || f.line > 1<<10 || at.OwnGather != f.flagOf(c.Rank, mqs.Gathered) {
		return nil
	}
	var ok1, ok2 bool
	f.gathered, ok1 = f.read(c.Rank, mqs.Gathered)
	f.released, ok2 = f.read(c.Rank, mqs.Released)
	if !ok1 || !ok2 || f.gathered > at.Gathers || f.released > at.Releases || max(at.Gathers, at.Releases)-min(at.Gathers, at.Releases) > 1 {
		return nil
	}
	return f
}

// flagOf returns the address of a rank's flag.
func (f *flags) flagOf(rank int32, kind mqs.FlagKind) inferior.Addr {
	at := f.at.All + inferior.Addr(int64(rank)*2*f.line)
	if kind == mqs.Released {
		at += inferior.Addr(f.line)
	}
	return at
}

// read reads a rank's flag.
func (f *flags) read(rank int32, kind mqs.FlagKind) (int64, bool) {
	if rank < 0 || rank >= f.comm.LocalSize {
		return 0, false
	}
	v, err := f.d.lib.Numbers(f.flagOf(rank, kind), 1, 8)
	if err != nil || int64(v[0]) < 0 {
		return 0, false
	}
	return int64(v[0]), true
}

// OwnFlags are the flags that the process raises on a communicator.
func (d *Device) OwnFlags(c *mpir.Communicator) []mqs.Flag {
	f := d.readFlags(c)
	if f == nil {
		return nil
	}
	return []mqs.Flag{f.flag(c.Rank, mqs.Gathered, f.gathered), f.flag(c.Rank, mqs.Released, f.released)}
}

func (f *flags) flag(rank int32, kind mqs.FlagKind, count int64) mqs.Flag {
	return mqs.Flag{Comm: f.comm.Model.UniqueID, LocalRank: rank, Kind: kind, Count: count}
}

// AwaitedFlags returns the flags on a communicator that a call waits for, or nil if there are none or they are unknown. isDirect is true
// if the communicator was passed to the call itself, and false if it may be the part on one machine of the one that was passed.
func (d *Device) AwaitedFlags(c *mpir.Communicator, call string, isDirect bool) []mqs.Flag {
	f := d.readFlags(c)
	if f == nil {
		return nil
	}
	g, r := f.at.Gathers, f.at.Releases
	switch {
	case g == r+1 && (call == "MPI_Bcast" || call == "MPI_Reduce"): // which do not gather first: an error has left the counts so
		return nil
	case g == r+1: // the gather step of a barrier or of an allreduce
		return f.ofEither(call == "MPI_Barrier", call == "MPI_Allreduce" && isDirect,
			f.children(f.at.BcastChildren, g), f.reduceChildren(g))
	case r == g+1 && call == "MPI_Bcast", r == g && f.released < r: // the release step of a broadcast, a barrier or an allreduce
		return f.parent(f.at.BcastParent, r)
	}
	return nil // in the other steps a rank may run ahead of the others, and how far is unknown
}

// ofEither returns the flags for one of two operations: for the one that the call is, or for both if they are the same.
func (f *flags) ofEither(isFirst, isSecond bool, first, second []mqs.Flag) []mqs.Flag {
	switch {
	case isFirst, slices.Equal(first, second):
		return first
	case isSecond:
		return second
	}
	return nil
}

// reduceChildren returns the children's flags in a reduction. Where long messages have a tree of their own, it is unknown which of the
// two trees a call takes, so that both must agree.
func (f *flags) reduceChildren(count int64) []mqs.Flag {
	out := f.children(f.at.ReduceChildren, count)
	_, hasLarge := inferior.OffsetOf(&f.d.flags.Comm, func(c *flagComm) *inferior.Ptr[children] { return &c.LargeChildren })
	if hasLarge && !slices.Equal(out, f.children(f.at.LargeChildren, count)) {
		return nil
	}
	return out
}

// parent returns the parent's release flag if it is still below a count.
func (f *flags) parent(rank int32, count int64) []mqs.Flag {
	if at, ok := f.read(rank, mqs.Released); ok && at < count && rank != f.comm.Rank {
		return []mqs.Flag{f.flag(rank, mqs.Released, count)}
	}
	return nil
}

// children returns those gather flags of the children that are still below a count.
func (f *flags) children(list inferior.Ptr[children], count int64) (out []mqs.Flag) {
	array, err := f.d.flags.Children.Read(f.d.lib.Reader, list)
	if list == 0 || err != nil || array.Count > maxChildren {
		return nil
	}
	ranks, err := f.d.lib.Numbers(array.Data, int(array.Count), 4)
	if err != nil {
		return nil
	}
	for _, r := range ranks {
		at, ok := f.read(int32(r), mqs.Gathered)
		if !ok {
			return nil
		}
		if at < count {
			out = append(out, f.flag(int32(r), mqs.Gathered, count))
		}
	}
	return out
}
