package ompi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

const (
	// maxClassName bounds the name of a class, in bytes.
	maxClassName = 64
	// maxEndpoints bounds the words of an ompi_proc_t from its endpoints on: configurations up to 6.0 know six endpoints
	// (OMPI_REQUIRE_ENDPOINT_TAG), and two words of padding follow.
	maxEndpoints = 8
)

// ProveClass checks that an object is of the type that s reads, and as large as the layout says:
// every object of Open MPI points at its class, which has both.
func ProveClass[T any](p *Process, s *inferior.Struct[T], at inferior.Ptr[T]) error {
	size, err := sizeInClass(p, s, at)
	if err != nil {
		return err
	}
	if size != uint64(s.Size()) {
		return fmt.Errorf("a %s has %d bytes, not %d", s.Name(), size, s.Size())
	}
	return nil
}

// sizeInClass checks that an object is of the type that s reads, and returns the size in bytes that its class says.
func sizeInClass[T any](p *Process, s *inferior.Struct[T], at inferior.Ptr[T]) (uint64, error) {
	c, err := p.classOf(inferior.Ptr[Object](at))
	if err != nil {
		return 0, err
	}
	got, err := c.Name.Read(p.R, maxClassName)
	if err != nil {
		return 0, fmt.Errorf("the class of the object at %s: %w", at, err)
	}
	if got != s.Name() {
		return 0, fmt.Errorf("the object at %s is a %q, not a %s", at, got, s.Name())
	}
	return c.SizeOf, nil
}

// proveProcClass checks a process object as [ProveClass] does. How many endpoints an ompi_proc_t ends with depends on the
// components that the library was configured with (OMPI_REQUIRE_ENDPOINT_TAG), so its class decides.
func (p *Process) proveProcClass(at inferior.Ptr[Proc]) error {
	endpoints, ok := inferior.OffsetOf(&p.Proc, func(proc *Proc) *inferior.Embedded[inferior.Addr] { return &proc.Endpoints })
	if !ok {
		return ProveClass(p, &p.Proc, at)
	}
	size, err := sizeInClass(p, &p.Proc, at)
	if err != nil {
		return err
	}
	pointer := uint64(p.R.Info().PointerSize)
	if size <= uint64(endpoints) || size > uint64(endpoints)+maxEndpoints*pointer || (size-uint64(endpoints))%pointer != 0 {
		return fmt.Errorf("a %s has %d bytes, of which %d are in front of its endpoints", p.Proc.Name(), size, endpoints)
	}
	p.Proc.Resize(int(size))
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
