package ompi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Combiners (ompi/include/mpi.h.in, 4.1 to 6.0), which say by what call a datatype was built. Those of MPI-1's
// calls for Fortran were taken out of MPI, but keep their values.
const (
	combinerNamed = iota
	combinerDup
	combinerContiguous
	combinerVector
	combinerHvectorInteger
	combinerHvector
	combinerIndexed
	combinerHindexedInteger
	combinerHindexed
	combinerIndexedBlock
	combinerStructInteger
	combinerStruct
	combinerSubarray
	combinerDarray
	combinerF90Real
	combinerF90Complex
	combinerF90Integer
	combinerResized
	combinerHindexedBlock
)

const (
	maxConstructionDepth  = 4   // datatypes within one another that are shown
	maxConstructionLength = 200 // bytes of text
	maxConstructionList   = 6   // elements of an array that are shown
	maxConstructionArray  = 1 << 20
)

// Construction is how a datatype was built, as "vector 3 of 2 MPI_DOUBLE stride 100"; empty if that is not known
// or it was not.
func (p *Process) Construction(at inferior.Ptr[Datatype]) string {
	text, ok := p.constructions[at]
	if !ok {
		text = p.construction(at, maxConstructionDepth)
		if len(text) > maxConstructionLength {
			text = text[:maxConstructionLength] + "…"
		}
		p.constructions[at] = text
	}
	return text
}

// arguments are what a datatype was built of.
type arguments struct {
	integers  []int64 // of 32 bits each, or the large counts of a type that has some
	addresses []int64
	datatypes []inferior.Ptr[Datatype]
}

func (p *Process) construction(at inferior.Ptr[Datatype], depth int) string {
	if !p.DatatypeArgs.Bound() || !p.isDatatype(at) {
		return ""
	}
	d, err := p.Datatype.Read(p.R, at)
	if err != nil || d.Args == 0 {
		return ""
	}
	args, err := p.DatatypeArgs.Read(p.R, d.Args)
	if err != nil || args.CountCount != 0 && args.IntegerCount != 0 { // which of both comes when depends on the call
		return ""
	}
	a, err := p.arguments(&args)
	if err != nil {
		return ""
	}
	of := make([]string, min(len(a.datatypes), maxConstructionList))
	for i := range of {
		of[i] = p.element(a.datatypes[i], depth)
	}
	text, _ := a.text(args.Combiner, of)
	return text
}

// arguments reads the arrays of a datatype's construction.
func (p *Process) arguments(args *datatypeArgs) (a arguments, err error) {
	for _, n := range []int64{args.IntegerCount, args.CountCount, args.AddressCount, args.DatatypeCount} {
		if n < 0 || n > maxConstructionArray {
			return a, fmt.Errorf("a datatype was built of %d values", n)
		}
	}
	width := p.R.Info().PointerSize
	_ = p.R.Prefetch([]inferior.Range{{Addr: args.Integers, Len: 4 * int(args.IntegerCount)}, // what fails here fails again below
		{Addr: args.Addresses, Len: width * int(args.AddressCount)}, {Addr: args.Datatypes.Addr(), Len: width * int(args.DatatypeCount)}})
	integers, err := p.integers(args.Integers, int(args.IntegerCount))
	if err != nil {
		return a, err
	}
	for _, v := range integers {
		a.integers = append(a.integers, int64(v))
	}
	counts, err := p.words(args.Counts, int(args.CountCount))
	if err != nil {
		return a, err
	}
	a.integers = append(a.integers, counts...)
	if a.addresses, err = p.words(args.Addresses, int(args.AddressCount)); err != nil {
		return a, err
	}
	if args.DatatypeCount > 0 {
		a.datatypes, err = inferior.ReadPointers(p.R, args.Datatypes, int(args.DatatypeCount))
	}
	return a, err
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

// isDatatype says whether a datatype stands at an address. A predefined one has the class of what all of them
// start with.
func (p *Process) isDatatype(at inferior.Ptr[Datatype]) bool {
	name, err := p.classAt(inferior.Ptr[Object](at))
	return err == nil && (name == p.Datatype.Name() || name == opalDatatypeClass)
}

const opalDatatypeClass = "opal_datatype_t"

// element is what an element of a datatype is: its name or, in parentheses, how it was built.
func (p *Process) element(at inferior.Ptr[Datatype], depth int) string {
	if !p.isDatatype(at) {
		return "?"
	}
	if name := p.DatatypeInfo(at).Name; name.Known && name.Value != "" {
		return name.Value
	}
	if depth <= 1 {
		return "(…)"
	}
	if text := p.construction(at, depth-1); text != "" {
		return "(" + text + ")"
	}
	return "?"
}

// text says how a datatype was built of elements, false if its arguments are not those of the combiner.
func (a *arguments) text(combiner int32, of []string) (string, bool) {
	has := func(integers, addresses, datatypes int) bool {
		return len(a.integers) >= integers && len(a.addresses) >= addresses && len(a.datatypes) >= datatypes && (datatypes == 0 || len(of) > 0)
	}
	i, d := a.integers, a.addresses
	switch combiner {
	case combinerDup:
		if has(0, 0, 1) {
			return "dup of " + of[0], true
		}
	case combinerContiguous:
		if has(1, 0, 1) {
			return fmt.Sprintf("contiguous %d %s", i[0], of[0]), true
		}
	case combinerVector:
		if has(3, 0, 1) {
			return fmt.Sprintf("vector %d of %d %s stride %d", i[0], i[1], of[0], i[2]), true
		}
	case combinerHvector, combinerHvectorInteger:
		if has(2, 1, 1) {
			return fmt.Sprintf("hvector %d of %d %s stride %d bytes", i[0], i[1], of[0], d[0]), true
		}
	case combinerIndexed:
		if n, ok := a.count(0); ok && has(1+2*n, 0, 1) {
			return fmt.Sprintf("indexed %d of %s %s at %s", n, list(i[1:1+n]), of[0], list(i[1+n:1+2*n])), true
		}
	case combinerHindexed, combinerHindexedInteger:
		if n, ok := a.count(0); ok && has(1+n, n, 1) {
			return fmt.Sprintf("hindexed %d of %s %s at bytes %s", n, list(i[1:1+n]), of[0], list(d[:n])), true
		}
	case combinerIndexedBlock:
		if n, ok := a.count(0); ok && has(2+n, 0, 1) {
			return fmt.Sprintf("indexed_block %d of %d %s at %s", n, i[1], of[0], list(i[2:2+n])), true
		}
	case combinerHindexedBlock:
		if n, ok := a.count(0); ok && has(2, n, 1) {
			return fmt.Sprintf("hindexed_block %d of %d %s at bytes %s", n, i[1], of[0], list(d[:n])), true
		}
	case combinerStruct, combinerStructInteger:
		if n, ok := a.count(0); ok && has(1+n, n, n) {
			return "struct {" + members(i[1:1+n], of, d[:n]) + "}", true
		}
	case combinerSubarray:
		if n, ok := a.count(0); ok && has(2+3*n, 0, 1) {
			return fmt.Sprintf("subarray %s of %s from %s of %s%s", list(i[1+n:1+2*n]), list(i[1:1+n]), list(i[1+2*n:1+3*n]), of[0], fortranOrder(i[1+3*n])), true
		}
	case combinerDarray:
		if n, ok := a.count(2); ok && has(4+4*n, 0, 1) {
			return fmt.Sprintf("darray of %s, rank %d of %d, of %s%s", list(i[3:3+n]), i[1], i[0], of[0], fortranOrder(i[3+4*n])), true
		}
	case combinerF90Real, combinerF90Complex:
		if has(2, 0, 0) {
			what := map[int32]string{combinerF90Real: "real", combinerF90Complex: "complex"}[combiner]
			return fmt.Sprintf("Fortran %s of precision %d and range %d", what, i[0], i[1]), true
		}
	case combinerF90Integer:
		if has(1, 0, 0) {
			return fmt.Sprintf("Fortran integer of range %d", i[0]), true
		}
	case combinerResized:
		if has(0, 2, 1) {
			return fmt.Sprintf("resized %s from %d extent %d", of[0], d[0], d[1]), true
		}
	}
	return "", false
}

// count is one of the integers that says how many elements others have.
func (a *arguments) count(at int) (int, bool) {
	if at >= len(a.integers) || a.integers[at] < 0 || a.integers[at] > maxConstructionArray {
		return 0, false
	}
	return int(a.integers[at]), true
}

// orderFortran is MPI_ORDER_FORTRAN.
const orderFortran = 1

func fortranOrder(order int64) string {
	if order == orderFortran {
		return " in Fortran's order"
	}
	return ""
}

// list writes the first values of an array: [1 2 3 …].
func list(values []int64) string {
	var out []string
	for i, v := range values {
		if i == maxConstructionList {
			out = append(out, "…")
			break
		}
		out = append(out, strconv.FormatInt(v, 10))
	}
	return "[" + strings.Join(out, " ") + "]"
}

// members writes the members of a struct: 1 MPI_INT at 0, 3 MPI_DOUBLE at 8. of has the first of them at least.
func members(lengths []int64, of []string, at []int64) string {
	var out []string
	for i := range lengths {
		if i == len(of) {
			out = append(out, "…")
			break
		}
		out = append(out, fmt.Sprintf("%d %s at %d", lengths[i], of[i], at[i]))
	}
	return strings.Join(out, ", ")
}
