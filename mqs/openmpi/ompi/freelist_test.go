package ompi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// A free list has as many elements as it says, each once and of its class; else it is not believed.
func TestEachElement(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	p, _ := ompitest.MustOpen(t, tg, ob1.Component)
	list := inferior.Ptr[ompi.FreeList](p.Symbols[ompi.SymRecvRequests].Addr)
	head, err := p.FreeList.Read(p.R, list)
	if err != nil {
		t.Fatal(err)
	}
	elements := func(of inferior.Inferior) (out []inferior.Ptr[ompi.Object], err error) {
		p := *p
		p.R = inferior.NewReader(t.Context(), of)
		err = ompi.EachElement(&p, list, "the list", func(at inferior.Ptr[ompi.Object]) error {
			out = append(out, at)
			return nil
		})
		return out, err
	}
	all, err := elements(tg)
	if err != nil || uint64(len(all)) != head.NumAllocated || len(slices.Compact(slices.Sorted(slices.Values(all)))) != len(all) || len(all) < 2 {
		t.Fatalf("%d elements of %d, %v", len(all), head.NumAllocated, err)
	}
	class := ompitest.Offset(t, p, "opal_object_t", "obj_class")
	first := list.Addr() + ompitest.Offset(t, p, "opal_free_list_t", "fl_allocations.opal_list_sentinel.opal_list_next")
	for want, of := range map[string]inferior.Inferior{
		"the list has fewer elements than it says": inferiortest.Patch(tg).PutPointer(first, head.Allocations.Sentinel.Addr()),
		"aligned to 3":                       inferiortest.Patch(tg).PutUint64(list.Addr()+ompitest.Offset(t, p, "opal_free_list_t", "fl_frag_alignment"), 3),
		"is no request":                      inferiortest.Patch(tg).PutPointer(all[1].Addr()+class, 0x10),
		"the list: opal_list_item_t at 0x10": inferiortest.Patch(tg).PutPointer(first, 0x10),
	} {
		if _, err := elements(of); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The elements of a free list are numbered as they are read, and no two allocations have the same memory.
func TestElements(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	p, _ := ompitest.MustOpen(t, tg, ob1.Component)
	list := inferior.Ptr[ompi.FreeList](p.Symbols[ompi.SymRecvRequests].Addr)
	e, err := ompi.ReadElements[ompi.Object](p, list, "the list")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := e.Each(p, func(at inferior.Ptr[ompi.Object]) error {
		for off, want := range map[inferior.Ptr[ompi.Object]]bool{0: true, 1: false, ^inferior.Ptr[ompi.Object](0): false} {
			if i, ok := e.Index(at + off); ok != want || want && i != n {
				t.Errorf("element %d and %d bytes is %d, %t", n, int64(off), i, ok)
			}
		}
		n++
		return nil
	}); err != nil || n < 2 {
		t.Fatalf("%d elements, %v", n, err)
	}
	for _, at := range []inferior.Ptr[ompi.Object]{0, 8, ^inferior.Ptr[ompi.Object](0)} {
		if i, ok := e.Index(at); ok {
			t.Errorf("%s is element %d", at, i)
		}
	}

	// A second allocation that begins in the first, and none of its own.
	head, err := p.FreeList.Read(p.R, list)
	if err != nil {
		t.Fatal(err)
	}
	inside := head.Allocations.First + 64
	next := ompitest.Offset(t, p, "opal_list_item_t", "opal_list_next")
	per := ompitest.Offset(t, p, "opal_free_list_t", "fl_num_per_alloc")
	broken := inferiortest.Patch(tg).PutPointer(head.Allocations.First.Addr()+next, inside.Addr()).
		PutPointer(inside.Addr()+next, head.Allocations.Sentinel.Addr()).PutUint64(list.Addr()+per, 1)
	q := *p
	q.R = inferior.NewReader(t.Context(), broken)
	if _, err := ompi.ReadElements[ompi.Object](&q, list, "the list"); err == nil || !strings.Contains(err.Error(), "reaches into") {
		t.Errorf("%v", err)
	}
}
