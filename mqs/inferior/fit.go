package inferior

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// FromDebugInfo asks the process's debug information for the types, in one round trip.
func FromDebugInfo(r *Reader, queries []layout.TypeQuery) (*layout.Layouts, error) {
	found, err := r.Types(queries)
	if err != nil {
		return nil, err
	}
	types := map[string]*layout.Layout{}
	for i, t := range found {
		if t != nil {
			types[queries[i].Name] = t
		}
	}
	return layout.FromDWARF(types), nil
}

// FindTypes answers as [Inferior.FindTypes] does: from the table, if the layouts are from one, and
// from debug information what it lacks.
func FindTypes(r *Reader, l *layout.Layouts, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	found, err := r.Types(queries)
	if err != nil || l.Table() == nil {
		return found, err
	}
	known := l.Table().Layouts(queries)
	found = slices.Clone(found)
	for i, q := range queries {
		if t := known.Find(q.Name); t != nil {
			found[i] = t
		}
	}
	return found, nil
}

// NoFitError means that no layouts fit a process.
type NoFitError struct {
	// Known are the releases that there are tables of, separated by commas.
	Known string
	// Nearest is why the closest layout does not fit: the debug information if tables do not complete it, otherwise the first table tried.
	// Without a table for the architecture, it is the first reason of Why.
	Nearest error
	// Why says for the debug information and for each table, without its options, why it does not fit.
	Why error
}

// Error returns the reason of the nearest layout.
func (e *NoFitError) Error() string { return e.Nearest.Error() }

// ErrGone means that memory that was there can't be read any more.
var ErrGone = errors.New("its memory can't be read any more: the process has ended meanwhile, or gdb has let it go")

// Fit finds the layouts that fit a process: those of its debug information or of one of the tables, each first as plain
// builds have them, then with options. try proves layouts on the process.
//
// describes reports whether an object file, given its path, belongs to the library, so that its debug information counts;
// nil means that none does. If that debug information has only some of the types, a table supplies the others, and must
// agree on those that both have. If it has all types and the process refuses it, the tables are tried without it.
//
// Fit fails with a [*NoFitError] if try refuses all layouts, and with [ErrGone] if the process may be the reason.
func Fit[S any](r *Reader, queries []layout.TypeQuery, tables []*layout.Table, describes func(object string) bool, try func(*layout.Layouts) (S, error)) (S, error) {
	var none S
	dwarf, err := FromDebugInfo(r, queries)
	if err != nil {
		return none, err
	}
	var why []error
	if !dwarf.Empty() {
		s, err := try(dwarf)
		if err == nil {
			return s, nil
		}
		if err := r.Broken(); err != nil {
			return none, err
		}
		why = append(why, fmt.Errorf("its debug information: %w", err))
	}
	own := dwarf.Of(describes)
	s, err := fitTable(r, queries, tables, own, try, why)
	var noFit *NoFitError
	if errors.As(err, &noFit) && slices.ContainsFunc(tables, func(t *layout.Table) bool { return own.Covers(t.Layouts(queries)) }) {
		// The process has refused the debug information as a whole, so this need not agree with the tables either.
		return fitTable(r, queries, tables, layout.FromDWARF(nil), try, why)
	}
	return s, err
}

// FitTable does so for a process of which no debug information can be had.
func FitTable[S any](r *Reader, queries []layout.TypeQuery, tables []*layout.Table, try func(*layout.Layouts) (S, error)) (S, error) {
	return fitTable(r, queries, tables, layout.FromDWARF(nil), try, nil)
}

// fitTable tries tables, together with the library's own debug information. why is why nothing else fits.
func fitTable[S any](r *Reader, queries []layout.TypeQuery, tables []*layout.Table, own *layout.Layouts, try func(*layout.Layouts) (S, error), why []error) (S, error) {
	var none S
	var known []string
	var fitting []*layout.Table
	var nearest error
	if own.Empty() && len(why) > 0 {
		nearest = why[0]
	}
	for _, t := range tables {
		if t.Architecture != "" && t.Architecture != r.Info().Architecture {
			continue // of no use to who reads why nothing fits
		}
		known = append(known, t.Release)
		if t.Fits(r.Info().PointerSize, r.Info().BigEndian, r.Info().Architecture) {
			fitting = append(fitting, t)
		} else {
			why = append(why, fmt.Errorf("the layout of %s: it is for another architecture", t.Release))
		}
	}
	for t := range layout.Variants(fitting) {
		l, err := t.Layouts(queries).Complete(own)
		if err == nil {
			var s S
			if s, err = try(l); err == nil {
				return s, nil
			}
		}
		if err := cmp.Or(r.Err(), r.Broken(), r.Spent()); err != nil {
			return none, err
		}
		if len(t.With) == 0 {
			err = fmt.Errorf("the layout of %s: %w", t.Release, err)
			nearest, why = cmp.Or(nearest, err), append(why, err)
		}
	}
	if r.isGone() {
		return none, ErrGone
	}
	if why == nil {
		why = append(why, errors.New("there is neither debug information nor a table"))
	}
	return none, &NoFitError{strings.Join(slices.Compact(known), ", "), cmp.Or(nearest, why[0]), errors.Join(why...)}
}
