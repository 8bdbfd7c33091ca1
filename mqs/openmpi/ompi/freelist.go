package ompi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// ProveFreeList checks a free list and the class of what it holds, which s reads.
func ProveFreeList[T any](p *Process, at inferior.Ptr[FreeList], s *inferior.Struct[T]) error {
	if err := ProveClass(p, &p.FreeList, at); err != nil {
		return err
	}
	f, err := p.FreeList.Read(p.R, at)
	if err != nil {
		return err
	}
	c, err := p.class(f.FragClass)
	if err != nil {
		return err
	}
	name, err := c.Name.Read(p.R, maxClassName)
	if err != nil {
		return err
	}
	if name != s.Name() || c.SizeOf != uint64(s.Size()) {
		return fmt.Errorf("the free list at %s holds %q of %d bytes, not %s of %d", at, name, c.SizeOf, s.Name(), s.Size())
	}
	return nil
}

// EachElement calls f with every element of a free list, which name stands for in errors, in the order in
// which they were handed out for the first time.
func EachElement[T any](p *Process, at inferior.Ptr[FreeList], name string, f func(inferior.Ptr[T]) error) error {
	e, err := ReadElements[T](p, at, name)
	if err != nil {
		return err
	}
	return e.Each(p, f)
}

// Elements is where the elements of a free list stand, used or not. The list is a list of allocations;
// in each, elements stand at a fixed stride behind an item of their own.
type Elements[T any] struct {
	name        string
	class       inferior.Ptr[Class]
	stride      inferior.Addr
	allocations []allocation
	byAddress   []int // the allocations
	lacks       bool  // there are fewer than the list says
	last        int   // the allocation of the last look-up: lists go from one element to its neighbour
}

// allocation is some elements, of which the last one is handed out first.
type allocation struct {
	item, first inferior.Addr
	count       int
	before      int // elements of allocations before it
}

func (a allocation) end(stride inferior.Addr) inferior.Addr {
	return a.first + inferior.Addr(a.count)*stride
}

// ReadElements reads where the elements of a free list stand, which name stands for in errors. No element is read.
func ReadElements[T any](p *Process, at inferior.Ptr[FreeList], name string) (*Elements[T], error) {
	head, err := p.FreeList.Read(p.R, at)
	if err != nil {
		return nil, err
	}
	align := max(head.Alignment, 1)
	if align&(align-1) != 0 || align > 1<<20 || head.FragSize == 0 || head.FragSize > 1<<20 || head.NumAllocated > 1<<26 || head.NumPerAlloc > 1<<26 {
		return nil, fmt.Errorf("%s has %d elements of %d bytes aligned to %d", name, head.NumAllocated, head.FragSize, align)
	}
	e := &Elements[T]{name: name, class: head.FragClass, stride: inferior.Addr((head.FragSize + align - 1) &^ (align - 1))}
	for a, err := range inferior.Walk(head.Allocations.First, head.Allocations.Sentinel.Ptr(), 1<<24, p.NextItem) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		e.allocations = append(e.allocations, allocation{item: a.Addr()})
	}
	left := int(head.NumAllocated)
	for i := range e.allocations {
		a := &e.allocations[i]
		// All allocations have NumPerAlloc elements but the first one, and the last if a maximum cuts it.
		a.count = min(left, int(head.NumPerAlloc))
		if others := (len(e.allocations) - 1) * int(head.NumPerAlloc); i == 0 && left > others {
			a.count = left - others
		}
		a.first = (a.item + inferior.Addr(p.FreeListItem.Size()) + inferior.Addr(align) - 1) &^ inferior.Addr(align-1)
		a.before = int(head.NumAllocated) - left
		left -= a.count
		e.byAddress = append(e.byAddress, i)
	}
	e.lacks = left != 0
	slices.SortFunc(e.byAddress, func(i, k int) int { return cmp.Compare(e.allocations[i].first, e.allocations[k].first) })
	for k := 1; k < len(e.byAddress); k++ {
		a, b := e.allocations[e.byAddress[k-1]], e.allocations[e.byAddress[k]]
		if a.end(e.stride) > b.first && b.count > 0 || a.end(e.stride) < a.first {
			return nil, fmt.Errorf("%s: the allocation at %s reaches into that at %s", name, a.item, b.item)
		}
	}
	return e, nil
}

// Index is the number of an element in the order in which they were handed out for the first time, from 0; false
// if there is no element at the address.
func (e *Elements[T]) Index(at inferior.Ptr[T]) (int, bool) {
	if i, ok := e.index(e.last, at.Addr()); ok {
		return i, true
	}
	k, found := slices.BinarySearchFunc(e.byAddress, at.Addr(), func(i int, at inferior.Addr) int { return cmp.Compare(e.allocations[i].first, at) })
	if !found {
		k--
	}
	if k < 0 {
		return 0, false
	}
	e.last = e.byAddress[k]
	return e.index(e.last, at.Addr())
}

// Class is that of the elements.
func (e *Elements[T]) Class() inferior.Ptr[Class] { return e.class }

// index is [Elements.Index] in an allocation.
func (e *Elements[T]) index(of int, at inferior.Addr) (int, bool) {
	if of >= len(e.allocations) {
		return 0, false
	}
	a := &e.allocations[of]
	i := (at - a.first) / e.stride
	if at < a.first || i >= inferior.Addr(max(a.count, 0)) || a.first+i*e.stride != at {
		return 0, false
	}
	return a.before + a.count - 1 - int(i), true
}

// Each calls f with every element, in the order of [Elements.Index].
func (e *Elements[T]) Each(p *Process, f func(inferior.Ptr[T]) error) error {
	for _, a := range e.allocations {
		// New elements are put on the free list one upon the other: the last is taken first.
		for k := a.count - 1; k >= 0; k-- {
			at := a.first + inferior.Addr(k)*e.stride
			o, err := p.Object.Read(p.R, inferior.Ptr[Object](at))
			if err != nil {
				return err
			}
			if o.Class != e.class {
				return fmt.Errorf("%s: element %d of the allocation at %s is no request", e.name, k, a.item)
			}
			if err := f(inferior.Ptr[T](at)); err != nil {
				return err
			}
		}
	}
	if e.lacks {
		return errors.New(e.name + " has fewer elements than it says")
	}
	return nil
}

// NextItem is the element of a list that follows another.
func (p *Process) NextItem(at inferior.Ptr[ListItem]) (inferior.Ptr[ListItem], error) {
	item, err := p.ListItem.Read(p.R, at)
	return item.Next, err
}
