// Package mpich decodes the message queues of MPICH with the devices ch3 and
// ch4, from 4.0 to 5.0, with and without support for debuggers: with the
// library's DWARF where there is any, else with embedded layouts of stock
// builds that prove themselves on the process. The variables of a library without
// symbols are found in its data or, if they are not, it is read by what is in the
// network library beneath it. What was derived from MPICH and has another name is read
// the same way if it has types that fit, else by what its frames tell.
package mpich

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/ch3"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/ch4"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/derived"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/symbolless"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Decoder recognises MPICH.
type Decoder struct{}

// Name is the implementation's name.
func (Decoder) Name() string { return mpir.Name }

// Symbols of constants of MPI that are objects in MPICH alone. A stripped library keeps them in .dynsym in
// every release.
const (
	symAllHandles = "MPI_T_PVAR_ALL_HANDLES" // MPI_T_pvar_handle
	symUnweighted = "MPI_UNWEIGHTED"         // int *
)

// symFortranTrue is what the library for MPI 5.0's ABI has, and other libraries from 5.0 on. It is looked for where
// there is a library of that name.
const symFortranTrue = "MPIR_fortran_true" // int

// recognising are the symbols that MPICH is recognised by.
var recognising = []string{mpir.SymRequestPools, mpir.SymVersion, mpir.SymCommunicators, symAllHandles, symUnweighted}

// Symbols are those that MPICH is recognised by. A debugger takes milliseconds
// to find that there is none of a name, so the others are looked for in MPICH only.
func (Decoder) Symbols() []string { return recognising }

// Open recognises the process, finds the layouts that fit it and checks that
// MPI is in use.
func (d Decoder) Open(r *inferior.Reader, symbols map[string]inferior.Symbol) (read.Source, error) {
	root, ok := recognise(symbols)
	if !ok && slices.ContainsFunc(r.Info().Libraries, mpir.IsABI) {
		found, err := r.Symbols(symFortranTrue)
		if err != nil {
			return nil, err
		}
		root, ok = found[symFortranTrue]
	}
	if !ok {
		return nil, read.ErrNotThis
	}
	found, err := r.Symbols(slices.Concat(mpir.Symbols(), ch3.Symbols(), ch4.Symbols())...)
	if err != nil {
		return nil, err
	}
	symbols = maps.Clone(symbols)
	maps.Copy(symbols, found)
	derivative, err := derived.Identify(r, root)
	if err != nil {
		return nil, err
	}
	s, err := openLibrary(r, symbols, root, derivative)
	return s, mpir.OrNotStarted(r, root, err)
}

// openLibrary opens a process. d is nil if its library is MPICH, of which root is a symbol.
func openLibrary(r *inferior.Reader, symbols map[string]inferior.Symbol, root inferior.Symbol, d *derived.Library) (read.Source, error) {
	if d != nil {
		return openDerived(r, symbols, d)
	}
	if missing := slices.IndexFunc(mpir.Required, func(name string) bool { _, ok := symbols[name]; return !ok }); missing >= 0 {
		return openSymbolless(r, symbols, root, mpir.Required[missing])
	}
	return open(r, symbols, root)
}

// openDerived opens a process whose library was derived from MPICH: as MPICH is read if its types prove that it has kept
// MPICH's structures, else by what its frames tell. Embedded layouts are those of MPICH's own builds, and are not tried.
func openDerived(r *inferior.Reader, symbols map[string]inferior.Symbol, d *derived.Library) (read.Source, error) {
	if slices.ContainsFunc(mpir.Required, func(name string) bool { _, ok := symbols[name]; return !ok }) {
		return nil, derived.Unreadable(r, d)
	}
	p, err := fit(r, symbols, nil, d)
	var noFit *inferior.NoFitError
	switch {
	case err == nil:
		p.library.Remarks.Notef("%s was derived from MPICH, and is read as MPICH is by its own types, which fit: that was not tried", d.Words())
		p.device.Open()
		return mpir.NewSource(p.library, p.device), p.library.CheckState()
	case errors.Is(err, inferior.ErrGone):
		return nil, read.Unreadable(d.Name, "%w", err)
	case errors.As(err, &noFit):
		return nil, derived.Unreadable(r, d)
	}
	return nil, err
}

// recognise returns a symbol of the library.
func recognise(symbols map[string]inferior.Symbol) (inferior.Symbol, bool) {
	for _, name := range recognising {
		if s, ok := symbols[name]; ok {
			return s, true
		}
	}
	return inferior.Symbol{}, false
}

// openSymbolless opens a process whose library lacks a symbol that its own objects are read by: by what its data has
// or, if that can't be understood, by what the network library beneath it has.
func openSymbolless(r *inferior.Reader, symbols map[string]inferior.Symbol, root inferior.Symbol, missing string) (read.Source, error) {
	if s := openHidden(r, symbols); s != nil {
		return s, nil
	}
	// The releases that hide it are those that may receive data into a buffer of the library's first.
	_, receivesInPlace := symbols[mpir.SymVersion]
	s, err := symbolless.Open(r, symbolless.Library{Root: root, Version: mpir.Version(r, symbols), ReceivesInPlace: receivesInPlace}, requestTables())
	var network *ch4.NetworkError
	switch {
	case err == nil:
		return s, nil
	case !errors.As(err, &network):
		return nil, err
	}
	beneath := ""
	if !network.IsAbsent {
		beneath = fmt.Sprintf("\nNor can %s beneath it be read: %v", network.Library, err)
	}
	return nil, bare(r, root, read.Unreadable(mpir.Name, "%s is stripped: MPICH hides the symbols and the types that its message queues are read with, "+
		"and this library has neither (no %s), so nothing can be shown. "+
		"Install the library's debug symbols if there are any, or `set debuginfod enabled on`, "+
		"or run the program with an MPICH that was configured with MPICHLIB_CFLAGS=-g or, best, --enable-debuginfo and --enable-g=dbg%s%s",
		read.FileName(root), missing, describeVersion(r, symbols), beneath))
}

// openHidden opens a process whose library's variables are found in its data; nil if they are not.
func openHidden(r *inferior.Reader, symbols map[string]inferior.Symbol) read.Source {
	image, ok := mpir.NewImage(r, symbols)
	nearest := layout.Nearest(tables(), mpir.Version(r, symbols))
	for ok && image.Grow() {
		s, err := inferior.FitTable(r, inferior.Queries(types()...), nearest, func(l *layout.Layouts) (read.Source, error) {
			return findHidden(r, symbols, l, image)
		})
		if err == nil {
			return s
		}
	}
	return nil
}

// findHidden opens a process whose library's variables are in what has been read of its data, by layouts.
func findHidden(r *inferior.Reader, symbols map[string]inferior.Symbol, l *layout.Layouts, image *mpir.Image) (read.Source, error) {
	library, err := mpir.Bind(r, maps.Clone(symbols), l)
	if err != nil {
		return nil, err
	}
	device, err := ch4.Bind(library)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		func() error { return library.Hidden(image) }, library.Prove, func() error { return device.Hidden(image) }, library.CheckState,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	device.Open()
	return mpir.NewSource(library, device), nil
}

// bare lets the handles of a process be told by their own bits, of which nothing else can be read.
func bare(r *inferior.Reader, root inferior.Symbol, err error) error {
	var u *read.UnreadableError
	if errors.As(err, &u) {
		u.Handles = mpir.NewBare(r, root)
	}
	return err
}

func describeVersion(r *inferior.Reader, symbols map[string]inferior.Symbol) string {
	if v := mpir.Version(r, symbols); v != "" {
		return " (it is MPICH " + printable.Line(v) + ")"
	}
	return ""
}

// open opens a process whose library has all symbols that its objects are read by.
func open(r *inferior.Reader, symbols map[string]inferior.Symbol, root inferior.Symbol) (read.Source, error) {
	p, err := fit(r, symbols, layout.Nearest(tables(), mpir.Version(r, symbols)), nil)
	var noFit *inferior.NoFitError
	switch {
	case err == nil:
		p.device.Open()
		return mpir.NewSource(p.library, p.device), p.library.CheckState()
	case errors.Is(err, inferior.ErrGone):
		return nil, read.Unreadable(mpir.Name, "%w", err)
	case !errors.As(err, &noFit):
		return nil, err
	}
	version := cmp.Or(printable.Line(mpir.Version(r, symbols)), "of an unknown release")
	return nil, bare(r, root, read.Unreadable(mpir.Name, "%s is MPICH %s, and no known layout of its types fits; the nearest is %w: "+
		"install the library's debug symbols, or `set debuginfod enabled on`, or use an MPICH configured with MPICHLIB_CFLAGS=-g",
		read.FileName(root), version, noFit))
}

// process is what a process is read with.
type process struct {
	library *mpir.Library
	device  mpir.Device
}

// fit finds the layouts by which a process is read. d is nil if its library is MPICH.
func fit(r *inferior.Reader, symbols map[string]inferior.Symbol, tables []*layout.Table, d *derived.Library) (process, error) {
	return inferior.Fit(r, inferior.Queries(types()...), tables, nil, func(l *layout.Layouts) (process, error) {
		library, device, err := bind(r, symbols, l)
		if err != nil {
			return process{}, err
		}
		if d != nil {
			library.MPI, library.Release = d.Name, d.Version
		}
		return process{library, device}, library.Prove()
	})
}

// bind binds the types that the process's MPICH has.
func bind(r *inferior.Reader, symbols map[string]inferior.Symbol, l *layout.Layouts) (*mpir.Library, mpir.Device, error) {
	library, err := mpir.Bind(r, symbols, l)
	if err != nil {
		return nil, nil, err
	}
	if ch4.IsIn(symbols) {
		device, err := ch4.Bind(library)
		return library, device, err
	}
	device, err := ch3.Bind(library)
	return library, device, err
}

// types are the C types that any MPICH may have: pointers to structs as [inferior.Bind] binds.
func types() []any { return slices.Concat(mpir.Types(), ch3.Types(), ch4.Types()) }
