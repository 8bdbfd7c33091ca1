package ompi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Fit finds the layouts that fit a process, of its debug information or of one of the tables, and which of the components carries its
// messages: q is nil if none does. It fails with an [*inferior.NoFitError] if no layouts fit. If a process proves several layouts, they
// differ only in objects that it does not have yet, and the first one tried is used. The release that is named may then be another one, and
// values of objects that are created later unknown, but never wrong (except with heterogeneous support; see SUPPORT).
func Fit(r *inferior.Reader, symbols map[string]inferior.Symbol, tables []*layout.Table, components []Component) (p *Process, q Queues, err error) {
	structs := []any{&types{}, &objectTypes{}}
	for _, c := range components {
		structs = append(structs, c.Types)
	}
	queries := inferior.Queries(structs...)
	p, err = inferior.Fit(r, queries, layout.Nearest(tables, Version(r, symbols)), isIn(symbols), func(l *layout.Layouts) (*Process, error) {
		p, err := newProcess(r, symbols, l)
		if err != nil {
			return nil, err
		}
		q, err = p.prove(components)
		return p, err
	})
	return p, q, err
}

// isIn returns a function that reports whether the object file of a path defines one of the symbols.
func isIn(symbols map[string]inferior.Symbol) func(object string) bool {
	return func(object string) bool {
		for _, s := range symbols {
			if s.Object == object {
				return true
			}
		}
		return false
	}
}

// prove checks the layouts against the process before any value read by them
// is believed. Every object of Open MPI points at its class, which has the
// type's name and size; lists agree with themselves in both directions; the
// predefined objects have names that no program can change. The component that carries the process's
// messages proves the layouts of its own objects.
func (p *Process) prove(components []Component) (q Queues, err error) {
	if err := p.proveCommunicators(); err != nil {
		return nil, err
	}
	if err := p.readPML(); err != nil {
		return nil, err
	}
	for _, c := range components {
		if q, err = c.Open(p); q != nil || err != nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return q, p.proveDatatype()
}

// Wants are the C types that are read of a process whose messages one of the components carries, and their
// members: what a table of layouts is to have.
func Wants(components []Component) []layout.Want {
	out := inferior.Wants(&types{}, &objectTypes{})
	for _, c := range components {
		out = append(out, inferior.Wants(c.Types)...)
	}
	return out
}
