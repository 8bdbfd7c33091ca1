package ompi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/combiner"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// combiners are Open MPI's numbers for them (ompi/include/mpi.h.in, 4.0 to 6.0). Those of MPI-1's calls for
// Fortran were taken out of MPI, but keep their numbers.
var combiners = []combiner.Combiner{
	combiner.Named, combiner.Dup, combiner.Contiguous, combiner.Vector, combiner.Hvector, combiner.Hvector,
	combiner.Indexed, combiner.Hindexed, combiner.Hindexed, combiner.IndexedBlock, combiner.Struct, combiner.Struct,
	combiner.Subarray, combiner.Darray, combiner.F90Real, combiner.F90Complex, combiner.F90Integer,
	combiner.Resized, combiner.HindexedBlock, combiner.ValueIndex,
}

// orderFortran is MPI_ORDER_FORTRAN.
const orderFortran = 1

// Bounds on what is read of how datatypes were built.
const (
	maxNesting  = 4
	maxContents = 1 << 14 // integers, addresses, counts and types each
)

// nested is a datatype that so many others are built of.
type nested struct {
	at    inferior.Ptr[Datatype]
	depth int
}

// Construction is how a derived datatype was built; empty if that is not known.
func (p *Process) Construction(at inferior.Ptr[Datatype]) string { return p.construction(at, 0) }

// Unnamed is how a datatype was built that an operation has, if the type has no name.
func (p *Process) Unnamed(at inferior.Ptr[Datatype]) string {
	if p.DatatypeInfo(at).Name != mqs.Known("") {
		return ""
	}
	return p.Construction(at)
}

func (p *Process) construction(at inferior.Ptr[Datatype], depth int) string {
	if depth == maxNesting || !p.DatatypeArgs.Bound() {
		return ""
	}
	key := nested{at, depth}
	text, isRead := p.constructions[key]
	if !isRead {
		if c, err := p.contentsOf(at, depth); err == nil {
			text = c.Text()
		}
		p.constructions[key] = text
	}
	return text
}

// contentsOf reads what a datatype was built of. The library keeps that of those that the program has built.
func (p *Process) contentsOf(at inferior.Ptr[Datatype], depth int) (*combiner.Contents, error) {
	if !p.isDatatype(at) {
		return nil, errNoObject
	}
	d, err := p.Datatype.Read(p.R, at)
	if err != nil {
		return nil, err
	}
	args, err := p.DatatypeArgs.Read(p.R, d.Args)
	if err != nil {
		return nil, err
	}
	for _, n := range []int64{args.IntegerCount, args.AddressCount, args.CountCount, args.DatatypeCount} {
		if n < 0 || n > maxContents {
			return nil, fmt.Errorf("a datatype was built of %d values", n)
		}
	}
	if args.Combiner < 0 || int(args.Combiner) >= len(combiners) {
		return nil, fmt.Errorf("a datatype was built by combiner %d", args.Combiner)
	}
	out := &combiner.Contents{Combiner: combiners[args.Combiner], IsFortran: func(order int64) bool { return order == orderFortran }}
	integers, err := p.integers(args.Integers, int(args.IntegerCount))
	if err != nil {
		return nil, err
	}
	for _, v := range integers {
		out.Integers = append(out.Integers, int64(v))
	}
	if out.Addresses, err = p.words(args.Addresses, int(args.AddressCount)); err != nil {
		return nil, err
	}
	if out.Counts, err = p.words(args.Counts, int(args.CountCount)); err != nil {
		return nil, err
	}
	var of []inferior.Ptr[Datatype]
	if args.DatatypeCount > 0 {
		if of, err = inferior.ReadPointers(p.R, args.Datatypes, int(args.DatatypeCount)); err != nil {
			return nil, err
		}
	}
	for _, at := range of {
		t := combiner.Type{Text: combiner.Nest("", "")}
		if p.isDatatype(at) {
			info := p.DatatypeInfo(at)
			construction := ""
			if info.Name.Value == "" {
				construction = p.construction(at, depth+1)
			}
			t = combiner.Type{Text: combiner.Nest(info.Name.Value, construction), Size: info.Size}
		}
		out.Types = append(out.Types, t)
	}
	return out, nil
}

// words reads an array of n signed values of a pointer's width.
func (p *Process) words(at inferior.Addr, n int) ([]int64, error) {
	width := p.R.Info().PointerSize
	if err := p.R.Spend(n * width); err != nil {
		return nil, err
	}
	var out []int64
	for i := range n {
		v, err := p.R.Int(at+inferior.Addr(i*width), width)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// opalDatatypeClass is the class of predefined datatypes: that of what all of them start with.
const opalDatatypeClass = "opal_datatype_t"

// isDatatype says whether a datatype stands at an address.
func (p *Process) isDatatype(at inferior.Ptr[Datatype]) bool {
	name, err := p.classAt(inferior.Ptr[Object](at))
	return err == nil && (name == p.Datatype.Name() || name == opalDatatypeClass)
}
