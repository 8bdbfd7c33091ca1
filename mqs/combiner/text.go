package combiner

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds on what is written of a datatype.
const (
	maxBlocks = 8
	maxText   = 200 // characters
)

// Ellipsis stands for what is left out.
const Ellipsis = "…"

// Nest is how a type stands in the text of one that is built of it: by its name or, where it has none, by how it
// was built.
func Nest(name, construction string) string {
	switch {
	case name != "":
		return name
	case construction != "":
		return "(" + construction + ")"
	}
	return "(" + Ellipsis + ")"
}

// Text says how a type was built, as "vector 3 of 2 MPI_DOUBLE stride 100": displacements and strides count
// elements, or bytes where it says so. It is empty of a predefined type, and where the contents are not those of
// the combiner.
func (c *Contents) Text() string {
	s, ok := c.shape()
	if !ok {
		return ""
	}
	text := []rune(string(c.Combiner) + c.arrangement(s))
	if len(text) > maxText {
		text = append(text[:maxText-utf8.RuneCountInString(Ellipsis)], []rune(Ellipsis)...)
	}
	return string(text)
}

// arrangement is what follows the combiner's name.
func (c *Contents) arrangement(s shape) string {
	switch c.Combiner {
	case Dup:
		return " of " + s.blocks[0].of.Text
	case Contiguous:
		return " " + s.blocks[0].elements()
	case Vector:
		return fmt.Sprintf(" %d of %s stride %d", s.every, s.blocks[0].elements(), s.stride)
	case Hvector:
		return fmt.Sprintf(" %d of %s stride %d bytes", s.every, s.blocks[0].elements(), s.stride)
	case Indexed, Hindexed:
		return fmt.Sprintf(" %d of %s: %s", len(s.blocks), c.Types[0].Text, listed(s.blocks, func(b block) string {
			return fmt.Sprintf("%d at %d", b.length, b.at)
		})) + inBytes(c.Combiner == Hindexed && len(s.blocks) > 0)
	case IndexedBlock, HindexedBlock:
		if len(s.blocks) == 0 {
			return " 0 of " + c.Types[0].Text
		}
		return fmt.Sprintf(" %d of %s at %s", len(s.blocks), s.blocks[0].elements(), listed(s.blocks, func(b block) string {
			return fmt.Sprint(b.at)
		})) + inBytes(c.Combiner == HindexedBlock)
	case Struct:
		return " of " + listed(s.blocks, func(b block) string {
			return fmt.Sprintf("%s at %d", b.elements(), b.at)
		}) + inBytes(len(s.blocks) > 0)
	case Resized:
		return fmt.Sprintf(" %s to lower bound %d, extent %d", s.blocks[0].of.Text, s.lb, s.extent)
	case Subarray:
		order := "C"
		if c.IsFortran != nil && c.IsFortran(s.array.order) {
			order = "Fortran"
		}
		return fmt.Sprintf(" %s at %s of %s %s in %s order", numbers(s.array.subsizes, "x"), numbers(s.array.starts, ","),
			numbers(s.array.sizes, "x"), s.blocks[0].of.Text, order)
	case Darray:
		return fmt.Sprintf(" of process %d of %d, in %d dimensions, of %s", s.numbers[1], s.numbers[0], s.numbers[2], c.Types[0].Text)
	case F90Integer:
		return fmt.Sprintf(" of range %d", s.numbers[0])
	case F90Real, F90Complex:
		return fmt.Sprintf(" of precision %d, range %d", s.numbers[0], s.numbers[1])
	case ValueIndex:
		return fmt.Sprintf(" of %s and %s", c.Types[0].Text, c.Types[1].Text)
	}
	return ""
}

// elements are those of a block: "2 MPI_DOUBLE".
func (b block) elements() string { return fmt.Sprintf("%d %s", b.length, b.of.Text) }

func inBytes(is bool) string {
	if is {
		return " bytes"
	}
	return ""
}

// listed names blocks, as far as there is room.
func listed(blocks []block, text func(block) string) string {
	var out []string
	for i, b := range blocks {
		if i == maxBlocks {
			out = append(out, Ellipsis)
			break
		}
		out = append(out, text(b))
	}
	if out == nil {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

func numbers(list []int64, between string) string {
	var out []string
	for _, n := range list {
		out = append(out, fmt.Sprint(n))
	}
	return strings.Join(out, between)
}
