package ompi

import (
	"errors"
	"fmt"

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
// which they were handed out for the first time. The list is a list of allocations;
// in each, elements stand at a fixed stride behind an item of their own.
func EachElement[T any](p *Process, at inferior.Ptr[FreeList], name string, f func(inferior.Ptr[T]) error) error {
	head, err := p.FreeList.Read(p.R, at)
	if err != nil {
		return err
	}
	align := max(head.Alignment, 1)
	if align&(align-1) != 0 || align > 1<<20 || head.FragSize == 0 || head.FragSize > 1<<20 || head.NumAllocated > 1<<26 || head.NumPerAlloc > 1<<26 {
		return fmt.Errorf("%s has %d elements of %d bytes aligned to %d", name, head.NumAllocated, head.FragSize, align)
	}
	stride := (head.FragSize + align - 1) &^ (align - 1)

	var allocations []inferior.Addr
	for a, err := range inferior.Walk(head.Allocations.First, head.Allocations.Sentinel.Ptr(), 1<<24, p.NextItem) {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		allocations = append(allocations, a.Addr())
	}

	left := int(head.NumAllocated)
	for i, a := range allocations {
		// All allocations have NumPerAlloc elements but the first one, and the last if a maximum cuts it.
		n := min(left, int(head.NumPerAlloc))
		if others := (len(allocations) - 1) * int(head.NumPerAlloc); i == 0 && left > others {
			n = left - others
		}
		first := (a + inferior.Addr(p.FreeListItem.Size()) + inferior.Addr(align) - 1) &^ inferior.Addr(align-1)
		// New elements are put on the free list one upon the other: the last is taken first.
		for k := n - 1; k >= 0; k-- {
			at := first + inferior.Addr(k)*inferior.Addr(stride)
			o, err := p.Object.Read(p.R, inferior.Ptr[Object](at))
			if err != nil {
				return err
			}
			if o.Class != head.FragClass {
				return fmt.Errorf("%s: element %d of the allocation at %s is no request", name, k, a)
			}
			if err := f(inferior.Ptr[T](at)); err != nil {
				return err
			}
		}
		left -= n
	}
	if left != 0 {
		return errors.New(name + " has fewer elements than it says")
	}
	return nil
}

// NextItem is the element of a list that follows another.
func (p *Process) NextItem(at inferior.Ptr[ListItem]) (inferior.Ptr[ListItem], error) {
	item, err := p.ListItem.Read(p.R, at)
	return item.Next, err
}
