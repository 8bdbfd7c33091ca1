package mpir

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/combiner"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// combiners are MPICH's numbers for them (src/include/mpi.h.in, 4.0 to 5.0).
var combiners = map[int32]combiner.Combiner{
	1: combiner.Named, 2: combiner.Dup, 3: combiner.Contiguous, 4: combiner.Vector, 5: combiner.Hvector, 6: combiner.Hvector,
	7: combiner.Indexed, 8: combiner.Hindexed, 9: combiner.Hindexed, 10: combiner.IndexedBlock, 11: combiner.Struct, 12: combiner.Struct,
	13: combiner.Subarray, 14: combiner.Darray, 15: combiner.F90Real, 16: combiner.F90Complex, 17: combiner.F90Integer,
	18: combiner.Resized, 19: combiner.HindexedBlock, 20: combiner.ValueIndex,
}

// orderFortran is MPI_ORDER_FORTRAN (src/include/mpi.h.in).
const orderFortran = 57

// Bounds on what is read of how datatypes were built.
const (
	maxNesting  = 4
	maxContents = 1 << 14 // integers, addresses, counts and types each
)

// alignments are what the library may fill up the parts of [contents] to, in bytes: the widest alignment of the
// machine's types, which none of the library's own types tells, and which is that of pointers at least.
var alignments = []int64{16, 8, 4}

// nested is a datatype that so many others are built of.
type nested struct {
	handle uint32
	depth  int
}

// Construction is how a derived datatype was built; empty if that is not known.
func (l *Library) Construction(handle uint32) string { return l.construction(handle, 0) }

func (l *Library) construction(handle uint32, depth int) string {
	key := nested{handle, depth}
	if text, ok := l.datatypes.constructions[key]; ok {
		return text
	}
	if IsBuiltin(handle) || depth == maxNesting || !l.o.contents.Contents.Bound() {
		return ""
	}
	text := ""
	if d, ok := l.derived(handle); ok && d.Contents != 0 {
		text = l.built(&d, depth)
	}
	if l.datatypes.constructions == nil {
		l.datatypes.constructions = map[nested]string{}
	}
	l.datatypes.constructions[key] = text
	return text
}

// built reads how a datatype was built. Where what is filled up to one alignment makes a type of another size, it
// was another alignment.
func (l *Library) built(d *datatype, depth int) string {
	c, err := l.o.contents.Contents.Read(l.Reader, d.Contents)
	if err != nil || combiners[c.Combiner] == "" {
		return ""
	}
	for _, n := range []int64{c.Integers, c.Addresses, c.Counts, c.Types} {
		if n < 0 || n > maxContents {
			return ""
		}
	}
	for _, alignment := range alignments {
		if alignment < int64(l.Reader.Info().PointerSize) {
			break
		}
		of, ok := l.contentsOf(d.Contents, &c, alignment, depth)
		if !ok {
			continue
		}
		if size, ok := of.Size(); ok && size != d.Size {
			continue
		}
		if text := of.Text(); text != "" {
			return text
		}
	}
	return ""
}

// contentsOf reads what stands behind the head of the contents, if the types there are some.
func (l *Library) contentsOf(at inferior.Ptr[contents], c *contents, alignment int64, depth int) (*combiner.Contents, bool) {
	wide := int64(inferior.SizeOf(&l.o.contents.Contents, func(c *contents) *int64 { return &c.Integers }))
	place := at.Addr()
	next := func(bytes int64) inferior.Addr {
		start := place
		place += inferior.Addr((bytes + alignment - 1) / alignment * alignment)
		return start
	}
	next(int64(l.o.contents.Contents.Size()))
	types, integers, addresses := next(4*c.Types), next(4*c.Integers), next(wide*c.Addresses)
	out := &combiner.Contents{Combiner: combiners[c.Combiner], IsFortran: func(order int64) bool { return order == orderFortran }}
	for _, list := range []struct {
		to   *[]int64
		at   inferior.Addr
		n    int64
		size int64
	}{{&out.Integers, integers, c.Integers, 4}, {&out.Addresses, addresses, c.Addresses, wide}, {&out.Counts, place, c.Counts, wide}} {
		var ok bool
		if *list.to, ok = l.signed(list.at, int(list.n), int(list.size)); !ok {
			return nil, false
		}
	}
	handles, ok := l.signed(types, int(c.Types), 4)
	for _, handle := range handles {
		of := uint32(handle)
		if !IsHandle(of, ObjectDatatype) || !IsStored(of) {
			return nil, false
		}
		t := l.Datatype(of)
		name, construction := t.Name.Value, ""
		switch {
		case name != "":
		case IsBuiltin(of):
			name = datatypeNames[of&0xff]
		default:
			construction = l.construction(of, depth+1)
		}
		out.Types = append(out.Types, combiner.Type{Text: combiner.Nest(name, construction), Size: t.Size})
	}
	return out, ok
}

// signed reads an array of n integers of size bytes each; false if it can't be read.
func (l *Library) signed(at inferior.Addr, n, size int) ([]int64, bool) {
	if n == 0 {
		return nil, true
	}
	if _, err := l.Reader.Bytes(at, n*size); err != nil || l.Reader.Spend(8*n) != nil {
		return nil, false
	}
	out := make([]int64, n)
	for i := range out {
		v, err := l.Reader.Int(at+inferior.Addr(i*size), size)
		if err != nil {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// unnamed is how a datatype was built that an operation has, if the type has no name.
func (l *Library) unnamed(handle uint32) string {
	if l.Datatype(handle).Name != mqs.Known("") {
		return ""
	}
	return l.Construction(handle)
}
