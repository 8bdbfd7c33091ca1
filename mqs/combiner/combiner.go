// Package combiner says how datatypes were built: in words, of what MPI_Type_get_envelope and
// MPI_Type_get_contents would tell.
package combiner

import (
	"math/bits"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Combiner is one of MPI's ways to build a datatype: the word of MPI_COMBINER_VECTOR in small letters.
type Combiner string

// The combiners. The first one is that of predefined types, which are built of nothing.
const (
	Named         Combiner = "named"
	Dup           Combiner = "dup"
	Contiguous    Combiner = "contiguous"
	Vector        Combiner = "vector"
	Hvector       Combiner = "hvector"
	Indexed       Combiner = "indexed"
	Hindexed      Combiner = "hindexed"
	IndexedBlock  Combiner = "indexed_block"
	HindexedBlock Combiner = "hindexed_block"
	Struct        Combiner = "struct"
	Subarray      Combiner = "subarray"
	Darray        Combiner = "darray"
	F90Real       Combiner = "f90_real"
	F90Complex    Combiner = "f90_complex"
	F90Integer    Combiner = "f90_integer"
	Resized       Combiner = "resized"
	ValueIndex    Combiner = "value_index"
)

// Type is one that another one is built of.
type Type struct {
	// Text is its name or, in parentheses, how it was built itself.
	Text string
	// Size is how many bytes of data one element has.
	Size mqs.Maybe[int64]
}

// Contents are what a datatype was built of, in the order of MPI_Type_get_contents_c: a type of large counts has
// what would be among its integers and addresses among its counts.
type Contents struct {
	Combiner  Combiner
	Integers  []int64
	Addresses []int64
	Counts    []int64
	Types     []Type
	// IsFortran says whether an integer is the library's MPI_ORDER_FORTRAN.
	IsFortran func(order int64) bool
}

// values are the counts, lengths and displacements.
func (c *Contents) values() []int64 { return slices.Concat(c.Integers, c.Addresses, c.Counts) }

// shape is how the elements of a type are arranged.
type shape struct {
	blocks []block
	// every is the number of times that each block is there, stride elements or bytes apart.
	every, stride int64
	lb, extent    int64 // of a resized type
	array         array
	numbers       []int64 // what else there is to say
}

// block is some elements of one type side by side.
type block struct {
	length, at int64 // at counts elements or bytes
	of         Type
}

// array is a part of an array.
type array struct {
	sizes, subsizes, starts []int64
	order                   int64
}

// shape reads the contents; false if they are not those of the combiner.
func (c *Contents) shape() (shape, bool) {
	v := c.values()
	for _, n := range v[:min(1, len(v))] {
		if n < 0 && c.Combiner != Resized {
			return shape{}, false
		}
	}
	if c.Combiner == Struct {
		return c.structShape(v)
	}
	isF90 := c.Combiner == F90Real || c.Combiner == F90Complex || c.Combiner == F90Integer
	switch {
	case c.Combiner == ValueIndex:
		return shape{}, len(c.Types) == 2
	case isF90:
		return shape{numbers: v}, len(v) == 2 || len(v) == 1 && c.Combiner == F90Integer
	case len(c.Types) != 1:
		return shape{}, false
	}
	of := c.Types[0]
	switch c.Combiner {
	case Dup:
		return shape{every: 1, blocks: []block{{length: 1, of: of}}}, len(v) == 0
	case Contiguous:
		if len(v) != 1 {
			return shape{}, false
		}
		return shape{every: 1, blocks: []block{{length: v[0], of: of}}}, true
	case Vector, Hvector:
		if len(v) != 3 {
			return shape{}, false
		}
		return shape{every: v[0], stride: v[2], blocks: []block{{length: v[1], of: of}}}, true
	case Indexed, Hindexed:
		return blocksOf(v, []Type{of})
	case IndexedBlock, HindexedBlock:
		if len(v) < 2 || v[0] != int64(len(v)-2) {
			return shape{}, false
		}
		out := shape{every: 1}
		for _, at := range v[2:] {
			out.blocks = append(out.blocks, block{v[1], at, of})
		}
		return out, true
	case Resized:
		if len(v) != 2 {
			return shape{}, false
		}
		return shape{every: 1, lb: v[0], extent: v[1], blocks: []block{{length: 1, of: of}}}, true
	case Subarray:
		return c.subarrayShape(of)
	case Darray:
		return shape{numbers: c.Integers}, len(c.Integers) >= 3
	}
	return shape{}, false
}

func (c *Contents) structShape(v []int64) (shape, bool) {
	if len(v) == 0 || v[0] != int64(len(c.Types)) {
		return shape{}, false
	}
	return blocksOf(v, c.Types)
}

// blocksOf reads a number of blocks, their lengths and their displacements.
func blocksOf(v []int64, types []Type) (shape, bool) {
	if len(v) == 0 || v[0] != int64(len(v)-1)/2 || len(v)%2 == 0 {
		return shape{}, false
	}
	n := int(v[0])
	out := shape{every: 1}
	for i := range n {
		of := types[0]
		if len(types) == n {
			of = types[i]
		}
		out.blocks = append(out.blocks, block{v[1+i], v[1+n+i], of})
	}
	return out, true
}

// subarrayShape reads the integers of MPI_Type_create_subarray, or those and the counts of its large one.
func (c *Contents) subarrayShape(of Type) (shape, bool) {
	var n int64
	var sizes []int64
	var order int64
	switch i := c.Integers; {
	case len(c.Counts) > 0 && len(i) == 2:
		n, order, sizes = i[0], i[1], c.Counts
	case len(c.Counts) == 0 && len(i) > 2:
		n, order, sizes = i[0], i[len(i)-1], i[1:len(i)-1]
	}
	if n <= 0 || int64(len(sizes)) != 3*n {
		return shape{}, false
	}
	return shape{every: 1, blocks: []block{{of: of}}, array: array{sizes[:n], sizes[n : 2*n], sizes[2*n:], order}}, true
}

// Size is how many bytes of data one element has that is built so; false if that is not known.
func (c *Contents) Size() (int64, bool) {
	s, ok := c.shape()
	if !ok || len(s.blocks) == 0 && c.Combiner != Struct && c.Combiner != Indexed && c.Combiner != Hindexed {
		return 0, false
	}
	sum := int64(0)
	for _, b := range s.blocks {
		length := b.length
		for i, n := range s.array.subsizes {
			if i == 0 {
				length = 1
			}
			if length, ok = product(length, n); !ok {
				return 0, false
			}
		}
		bytes, ok := product(length, b.of.Size.Value)
		if !ok || !b.of.Size.Known || sum+bytes < sum {
			return 0, false
		}
		sum += bytes
	}
	return product(sum, s.every)
}

// product multiplies counts; false if there is no such count.
func product(a, b int64) (int64, bool) {
	if a < 0 || b < 0 {
		return 0, false
	}
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int64(low), high == 0 && int64(low) >= 0
}
