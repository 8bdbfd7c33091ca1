package target

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// ReadTables reads the tables in a folder of embedded files, in the order of
// their names. It panics on what is no table: a test reads them all.
func ReadTables(files fs.FS, folder string) []*Table {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		panic(err)
	}
	var out []*Table
	for _, e := range entries {
		text, err := fs.ReadFile(files, folder+"/"+e.Name())
		if err != nil {
			panic(err)
		}
		t, err := ParseTable(text)
		if err != nil {
			panic(err)
		}
		out = append(out, t)
	}
	return out
}

// NoFitError means that no layouts fit a process.
type NoFitError struct {
	// Known are the releases that there are tables of, separated by commas.
	Known string
	// Why says for the debug information and for each table why it does not fit.
	Why error
}

func (e *NoFitError) Error() string { return e.Why.Error() }

// Fit finds the layouts that fit a process: those of its debug information or of
// one of the tables. try is given layouts and proves them on the process. It
// fails with a [*NoFitError] if it refuses all.
func Fit[S any](r *Reader, queries []TypeQuery, tables []*Table, try func(*Layouts) (S, error)) (S, error) {
	var none S
	dwarf, err := FromDWARF(r, queries)
	if err != nil {
		return none, err
	}
	var why []error
	if !dwarf.Empty() {
		s, err := try(dwarf)
		if err == nil {
			return s, nil
		}
		why = append(why, fmt.Errorf("its debug information: %w", err))
	}
	var known []string
	for _, t := range tables {
		known = append(known, t.Release)
		if !t.Fits(r.Info()) {
			why = append(why, fmt.Errorf("the layout of %s: it is for another architecture", t.Release))
			continue
		}
		s, err := try(t.Layouts(queries))
		if err == nil {
			return s, nil
		}
		if err := cmp.Or(r.Err(), r.Spent()); err != nil {
			return none, err
		}
		why = append(why, fmt.Errorf("the layout of %s: %w", t.Release, err))
	}
	if why == nil {
		why = append(why, errors.New("there is neither debug information nor a table"))
	}
	return none, &NoFitError{strings.Join(known, ", "), errors.Join(why...)}
}
