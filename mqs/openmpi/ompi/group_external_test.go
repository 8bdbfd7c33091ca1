package ompi_test

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// A process can stand in one group as a pointer and in another as a sentinel
// with its name: ranks must come out the same.
func TestSentinels(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/spawn-child-1") // it has read the processes too
	groups := func(tg inferior.Inferior) map[string][]mqs.Maybe[int32] {
		p, _ := ompitest.MustOpen(t, tg, ob1.Component)
		out := map[string][]mqs.Maybe[int32]{}
		for _, c := range p.Comms {
			out[c.Model.Label()] = c.Model.Group
			out[c.Model.Label()+" remote"] = c.Model.RemoteGroup
		}
		return out
	}
	want := groups(tg)

	p, _ := ompitest.MustOpen(t, tg, ob1.Component)
	comms, err := p.CommunicatorArray()
	if err != nil {
		t.Fatal(err)
	}
	words := map[inferior.Addr]uint64{}
	for i, a := range comms[3:] {
		if a == 0 {
			continue
		}
		c, err := p.Communicator.Read(p.R, a)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []inferior.Ptr[ompi.Group]{c.LocalGroup, c.RemoteGroup} {
			entries, g, err := p.Entries(at)
			if err != nil {
				t.Fatal(err)
			}
			for k, e := range entries {
				if (i+k)%2 == 0 || e == 0 {
					continue
				}
				proc, err := p.Proc.Read(p.R, e)
				if err != nil {
					t.Fatal(err)
				}
				words[g.Procs.Addr()+inferior.Addr(8*k)] = 1 | uint64(proc.JobID&0x7fff)<<1 | uint64(proc.JobID&0xffff0000) | uint64(proc.VPID)<<32
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

// The size of a group is known if it can be one, and the rank in it if this process is a member.
func TestSizesOfGroups(t *testing.T) {
	for _, c := range []struct {
		count, rank int32
		size        mqs.Maybe[int32]
		local       mqs.Maybe[int32]
	}{
		{0, -1, mqs.Known[int32](0), mqs.Maybe[int32]{}}, {ompi.MaxGroup + 1, 0, mqs.Maybe[int32]{}, mqs.Known[int32](0)}, {-1, 3, mqs.Maybe[int32]{}, mqs.Known[int32](3)},
	} {
		o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
		g := o.Object("ompi_group_t")
		o.Put(g, "ompi_group_t", "grp_proc_count", uint64(uint32(c.count)))
		o.Put(g, "ompi_group_t", "grp_my_rank", uint64(uint32(c.rank)))
		o.Put(g, "ompi_group_t", "grp_f_to_c_index", 2)
		o.Array("ompi_group_f_to_c_table", 0, 0, g)
		p, q := o.Open(ob1.Component)
		h := p.Resolve(q, mqs.HandleValue{Kind: mqs.GroupHandle, Value: uint64(g)})
		if h.State != mqs.LiveHandle || h.Group == nil || h.Group.Size != c.size || h.Group.LocalRank != c.local {
			t.Errorf("%d members, rank %d: %+v", c.count, c.rank, h.Group)
		}
	}
}

// TestNoGroup checks that a communicator without a group, as one that is being made has none, gets no ranks.
func TestNoGroup(t *testing.T) {
	p, _ := ompitest.MustOpen(t, inferiortest.Recorded(t, queuesOf414), ob1.Component)
	if _, _, err := p.Entries(0); err == nil || err.Error() != "it has none" {
		t.Error(err)
	}
}
