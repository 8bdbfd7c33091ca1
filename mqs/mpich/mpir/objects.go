package mpir

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// objects are the objects of one kind, as handles stand for them. Their pool is read once, when one is looked for.
type objects[T any] struct {
	l      *Library
	kind   uint32
	symbol string // of the pool
	of     *inferior.Struct[T]
	// isUsed tells by an object's count of references whether it is in use; nil of a kind that not every release
	// and device counts.
	isUsed func(*T) bool

	isRead bool
	pool   *openPool[T]
	free   map[inferior.Ptr[T]]bool
	err    error
}

// objectPools are those of the kinds of which any object can be looked for by its handle. Of requests there are
// several pools.
type objectPools struct {
	comms       *objects[Comm]
	groups      *objects[GroupObject]
	datatypes   *objects[datatype]
	errhandlers *objects[errhandler]
	ops         *objects[op]
	infos       *objects[info]
	wins        *objects[Win]
	sessions    *objects[session]
}

func newObjectPools(l *Library) objectPools {
	return objectPools{
		comms:       &objects[Comm]{l: l, kind: ObjectComm, symbol: symCommPool, of: &l.c.Comm, isUsed: func(c *Comm) bool { return c.RefCount > 0 }},
		groups:      &objects[GroupObject]{l: l, kind: objectGroup, symbol: symGroupPool, of: &l.o.group.Group, isUsed: func(g *GroupObject) bool { return g.RefCount > 0 }},
		datatypes:   &objects[datatype]{l: l, kind: ObjectDatatype, symbol: symDatatypePool, of: &l.c.Datatype, isUsed: func(d *datatype) bool { return d.RefCount > 0 }},
		errhandlers: &objects[errhandler]{l: l, kind: objectErrhandler, symbol: symErrhandlerPool, of: &l.o.errhandler.Errhandler, isUsed: func(e *errhandler) bool { return e.RefCount > 0 }},
		ops:         &objects[op]{l: l, kind: objectOp, symbol: symOpPool, of: &l.o.op.Op, isUsed: func(o *op) bool { return o.RefCount > 0 }},
		infos:       &objects[info]{l: l, kind: objectInfo, symbol: symInfoPool, of: &l.o.info.Info},
		wins:        &objects[Win]{l: l, kind: objectWin, symbol: symWinPool, of: &l.o.win.Win},
		sessions:    &objects[session]{l: l, kind: objectSession, symbol: symSessionPool, of: &l.o.session.Session},
	}
}

// open reads the pool, once.
func (o *objects[T]) open() (*openPool[T], error) {
	if o.isRead {
		return o.pool, o.err
	}
	defer func() { o.isRead = true }() // of several that read side by side, the last one's stays
	at, ok := o.l.Symbols[o.symbol]
	if !ok || !o.of.Bound() {
		o.err = fmt.Errorf("this library's symbols and types do not tell what there is in %s", o.symbol)
		return nil, o.err
	}
	if o.pool, o.err = readPool(o.l, inferior.Ptr[pool](at.Addr), o.symbol, o.of); o.err == nil {
		o.free = o.pool.free()
	}
	return o.pool, o.err
}

// find looks for the object of a handle that is not predefined. The state is [mqs.LiveHandle] if it is
// there, [mqs.FreedHandle] if its place is free, and [mqs.InvalidHandle] if there is no such place. It is empty, with
// an error, if that can't be told.
func (o *objects[T]) find(handle uint32) (at inferior.Ptr[T], out T, state mqs.HandleState, err error) {
	if !IsHandle(handle, o.kind) || storage(handle) != handleDirect && storage(handle) != handleIndirect {
		return 0, out, mqs.InvalidHandle, nil
	}
	p, err := o.open()
	if err != nil {
		return 0, out, "", err
	}
	if at = p.object(handle); at == 0 {
		return 0, out, mqs.InvalidHandle, nil
	}
	// Every object starts with its handle, a free one too, which a recording has no more of.
	own, err := o.l.Reader.Uint(at.Addr(), 4)
	switch {
	case err != nil:
		return 0, out, "", err
	case uint32(own) != handle, o.free[at]:
		return at, out, mqs.FreedHandle, nil
	}
	if out, err = o.of.Read(o.l.Reader, at); err != nil {
		return 0, out, "", err
	}
	if o.isUsed != nil && !o.isUsed(&out) {
		return at, out, mqs.FreedHandle, nil
	}
	return at, out, mqs.LiveHandle, nil
}

// each calls f for every object in use.
func (o *objects[T]) each(f func(inferior.Ptr[T], *T)) error {
	p, err := o.open()
	if err != nil {
		return err
	}
	return p.eachUsed(func(at inferior.Ptr[T]) error {
		v, err := o.of.Read(o.l.Reader, at)
		if err == nil && (o.isUsed == nil || o.isUsed(&v)) {
			f(at, &v)
		}
		return err
	})
}
