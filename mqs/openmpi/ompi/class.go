package ompi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// maxClassName bounds the name of a class, in bytes.
const maxClassName = 64

// ProveClass checks that an object is of the type that s reads, and as large as the layout says:
// every object of Open MPI points at its class, which has both.
func ProveClass[T any](p *Process, s *inferior.Struct[T], at inferior.Ptr[T]) error {
	c, err := p.classOf(inferior.Ptr[Object](at))
	if err != nil {
		return err
	}
	got, err := c.Name.Read(p.R, maxClassName)
	if err != nil {
		return fmt.Errorf("the class of the object at %s: %w", at, err)
	}
	if got != s.Name() {
		return fmt.Errorf("the object at %s is a %q, not a %s", at, got, s.Name())
	}
	if c.SizeOf != uint64(s.Size()) {
		return fmt.Errorf("a %s has %d bytes, not %d", s.Name(), c.SizeOf, s.Size())
	}
	return nil
}

// ClassName is the name of an object's class.
func (p *Process) ClassName(at inferior.Ptr[Object]) (string, error) {
	c, err := p.classOf(at)
	if err != nil {
		return "", err
	}
	return c.Name.Read(p.R, maxClassName)
}

// classOf reads the class of an object.
func (p *Process) classOf(at inferior.Ptr[Object]) (Class, error) {
	o, err := p.Object.Read(p.R, at)
	if err != nil {
		return Class{}, err
	}
	return p.class(o.Class)
}

// class reads a class, once.
func (p *Process) class(at inferior.Ptr[Class]) (Class, error) {
	if c, ok := p.classes[at]; ok {
		return c, nil
	}
	c, err := p.Class.Read(p.R, at)
	if err == nil {
		p.classes[at] = c
	}
	return c, err
}

// ProveList checks a list: its class, and that the first element's
// predecessor and the last one's successor are the list's sentinel.
func (p *Process) ProveList(at inferior.Ptr[List]) error {
	if err := ProveClass(p, &p.List, at); err != nil {
		return err
	}
	l, err := p.List.Read(p.R, at)
	if err != nil {
		return err
	}
	first, err := p.ListItem.Read(p.R, l.First)
	if err != nil {
		return err
	}
	last, err := p.ListItem.Read(p.R, l.Last)
	if err != nil {
		return err
	}
	if first.Prev != l.Sentinel.Ptr() || last.Next != l.Sentinel.Ptr() {
		return fmt.Errorf("the list at %s is not closed", at)
	}
	return nil
}
