package mpir

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

var field = inferiortest.Field

// over is the library of a made-up process, in which those types are bound that it has.
func over(p *inferiortest.Process) *Library {
	l := &Library{Reader: inferior.NewReader(context.Background(), p), Symbols: p.Found(), Layouts: layout.FromDWARF(p.Types), members: map[Membership][]mqs.Maybe[int32]{}}
	_, _ = inferior.Bind(&l.c, l.Layouts), inferior.Bind(&l.groups, l.Layouts) // which lack others
	l.o.bind(l.Layouts)
	l.pools = newObjectPools(l)
	return l
}

// A group is made once, and its members are ranks of the program's own world.
func TestMembers(t *testing.T) {
	l := over(inferiortest.New())
	l.Process.Size = 3
	made := 0
	fill := func(out []mqs.Maybe[int32]) error {
		made++
		for i := range out {
			out[i] = l.InWorld(int64(2 + i))
		}
		return nil
	}
	for range 2 {
		got, err := l.Members(Membership{Size: 2, Offset: 2}, fill)
		if err != nil || !slices.Equal(got, []mqs.Maybe[int32]{mqs.Known[int32](2), {}}) {
			t.Errorf("%v, %v", got, err)
		}
	}
	if _, err := l.Members(Membership{Size: 2, Offset: 3}, func([]mqs.Maybe[int32]) error { return errors.New("no list") }); err == nil || made != 1 {
		t.Errorf("it was made %d times; another one fails with %v", made, err)
	}
	if got := l.InWorld(-1); got.Known {
		t.Errorf("-1 is %v", got)
	}
}

// From 5.0 on a group has a list of its members' numbers, or a formula.
func TestMappedGroup(t *testing.T) {
	const comm, local, remote, list = 0x1000, 0x2000, 0x2100, 0x3000
	p := inferiortest.New()
	p.Types["MPIR_Comm"] = &layout.Layout{Size: 16, Fields: map[string]layout.Field{"local_group": field(0, 8, layout.KindPointer), "remote_group": field(8, 8, layout.KindPointer)}}
	p.Types["MPIR_Group"] = &layout.Layout{Size: 40, Fields: map[string]layout.Field{"size": field(0, 4, layout.KindSigned), "pmap": field(8, 32, layout.KindStruct)}}
	p.Types["MPIR_Pmap"] = &layout.Layout{Size: 32, Fields: map[string]layout.Field{"use_map": field(0, 1, layout.KindUnsigned), "u.map": field(8, 8, layout.KindPointer),
		"u.stride.offset": field(8, 8, layout.KindSigned), "u.stride.stride": field(16, 8, layout.KindSigned)}}
	p.PutUint64(comm, local, remote)
	p.PutUint32(local, 3)
	p.PutUint64(local+16, 4, ^uint64(0)) // 4, 3, 2
	p.PutUint32(remote, 2)
	p.PutUint64(remote+8, 1, list)
	p.PutUint64(list, 5, 1<<40)
	l := over(p)
	l.Process.Size = 6
	if !l.HasGroups() {
		t.Fatal("no groups are bound")
	}
	of := func(ranks ...int32) (out []mqs.Maybe[int32]) {
		for _, r := range ranks {
			out = append(out, mqs.Maybe[int32]{Value: max(r, 0), Known: r >= 0})
		}
		return out
	}
	for _, c := range []struct {
		kind    uint32
		isLocal bool
		size    int32
		want    []mqs.Maybe[int32]
	}{{0, false, 3, of(4, 3, 2)}, {CommInter, true, 3, of(4, 3, 2)}, {CommInter, false, 2, of(5, -1)}, {0, false, 2, nil}} {
		got, err := l.mappedGroup(&Communicator{At: comm, Comm: Comm{Kind: c.kind}}, c.isLocal, c.size)
		if !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
	for _, c := range []struct {
		kind uint32
		size int32
		want []uint64
	}{{0, 3, []uint64{4, 3, 2}}, {CommInter, 2, []uint64{5, 1 << 40}}, {0, 2, nil}} {
		if got, err := l.Processes(&Communicator{At: comm, Comm: Comm{Kind: c.kind}}, c.size); !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("the numbers of %+v: %v, %v", c, got, err)
		}
	}
}
