package combiner

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Each combiner's text and size, of small and of large counts; contents that are not the combiner's have neither.
func TestText(t *testing.T) {
	const fortran = 57
	d, i := Type{"MPI_DOUBLE", mqs.Known[int64](8)}, Type{"MPI_INT", mqs.Known[int64](4)}
	unknown := Type{Text: Nest("", "")}
	for _, c := range []struct {
		combiner  Combiner
		integers  []int64
		addresses []int64
		counts    []int64
		types     []Type
		text      string
		size      int64 // -1 if it is not known
	}{
		{Named, nil, nil, nil, nil, "", -1},
		{Dup, nil, nil, nil, []Type{d}, "dup of MPI_DOUBLE", 8},
		{Dup, []int64{1}, nil, nil, []Type{d}, "", -1},
		{Contiguous, []int64{5}, nil, nil, []Type{i}, "contiguous 5 MPI_INT", 20},
		{Contiguous, []int64{-5}, nil, nil, []Type{i}, "", -1},
		{Contiguous, []int64{5}, nil, nil, []Type{unknown}, "contiguous 5 (…)", -1},
		{Contiguous, nil, nil, []int64{1 << 62}, []Type{i}, "contiguous 4611686018427387904 MPI_INT", -1},
		{Vector, []int64{3, 2, 100}, nil, nil, []Type{d}, "vector 3 of 2 MPI_DOUBLE stride 100", 48},
		{Vector, nil, nil, []int64{3, 2, -100}, []Type{d}, "vector 3 of 2 MPI_DOUBLE stride -100", 48},
		{Vector, []int64{3, 2}, nil, nil, []Type{d}, "", -1},
		{Vector, []int64{3, 2, 1}, nil, nil, nil, "", -1},
		{Hvector, []int64{3, 2}, []int64{800}, nil, []Type{d}, "hvector 3 of 2 MPI_DOUBLE stride 800 bytes", 48},
		{Indexed, []int64{2, 3, 1, 0, 7}, nil, nil, []Type{i}, "indexed 2 of MPI_INT: 3 at 0, 1 at 7", 16},
		{Indexed, []int64{0}, nil, nil, []Type{i}, "indexed 0 of MPI_INT: nothing", 0},
		{Indexed, []int64{3, 3, 1, 0, 7}, nil, nil, []Type{i}, "", -1},
		{Indexed, []int64{9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 2, 4, 6, 8, 10, 12, 14, 16}, nil, nil, []Type{i},
			"indexed 9 of MPI_INT: 1 at 0, 1 at 2, 1 at 4, 1 at 6, 1 at 8, 1 at 10, 1 at 12, 1 at 14, …", 36},
		{Hindexed, []int64{2, 3, 1}, []int64{0, 40}, nil, []Type{i}, "hindexed 2 of MPI_INT: 3 at 0, 1 at 40 bytes", 16},
		{IndexedBlock, []int64{2, 3, 0, 7}, nil, nil, []Type{i}, "indexed_block 2 of 3 MPI_INT at 0, 7", 24},
		{HindexedBlock, []int64{2, 3}, []int64{0, 40}, nil, []Type{i}, "hindexed_block 2 of 3 MPI_INT at 0, 40 bytes", 24},
		{Struct, []int64{2, 1, 3}, []int64{0, 8}, nil, []Type{i, d}, "struct of 1 MPI_INT at 0, 3 MPI_DOUBLE at 8 bytes", 28},
		{Struct, []int64{2, 1, 3}, []int64{0, 8}, nil, []Type{i}, "", -1},
		{Struct, []int64{2, 1, 3}, []int64{0, 8}, nil, nil, "", -1},
		{Struct, []int64{0}, nil, nil, nil, "struct of nothing", 0},
		{Resized, nil, []int64{-4, 16}, nil, []Type{i}, "resized MPI_INT to lower bound -4, extent 16", 4},
		{Subarray, []int64{2, 10, 20, 4, 5, 1, 2, fortran}, nil, nil, []Type{i}, "subarray 4x5 at 1,2 of 10x20 MPI_INT in Fortran order", 80},
		{Subarray, []int64{2, 56}, nil, []int64{10, 20, 4, 5, 1, 2}, []Type{i}, "subarray 4x5 at 1,2 of 10x20 MPI_INT in C order", 80},
		{Subarray, []int64{3, 10, 20, 4, 5, 1, 2, fortran}, nil, nil, []Type{i}, "", -1},
		{Darray, []int64{4, 1, 2, 8, 8, 121, 121, 0, 0, 2, 2, 56}, nil, nil, []Type{i}, "darray of process 1 of 4, in 2 dimensions, of MPI_INT", -1},
		{F90Real, []int64{6, 30}, nil, nil, nil, "f90_real of precision 6, range 30", -1},
		{F90Integer, []int64{9}, nil, nil, nil, "f90_integer of range 9", -1},
		{ValueIndex, nil, nil, nil, []Type{d, i}, "value_index of MPI_DOUBLE and MPI_INT", -1},
	} {
		contents := Contents{Combiner: c.combiner, Integers: c.integers, Addresses: c.addresses, Counts: c.counts, Types: c.types,
			IsFortran: func(order int64) bool { return order == fortran }}
		if got := contents.Text(); got != c.text {
			t.Errorf("%s: %q, want %q", c.combiner, got, c.text)
		}
		size, ok := contents.Size()
		if !ok {
			size = -1
		}
		if size != c.size {
			t.Errorf("%s: %d bytes, want %d", c.text, size, c.size)
		}
	}
}

// A text has an end, wherever it is built of texts.
func TestTextIsBounded(t *testing.T) {
	inner := Type{Text: Nest("", strings.Repeat("contiguous 1 of ", 40))}
	text := (&Contents{Combiner: Contiguous, Integers: []int64{2}, Types: []Type{inner}}).Text()
	if got := len([]rune(text)); got != maxText || !strings.HasSuffix(text, Ellipsis) {
		t.Errorf("%d characters: %q", got, text)
	}
}

func TestNest(t *testing.T) {
	for want, c := range map[string][2]string{"row": {"row", "contiguous 5 MPI_INT"}, "(contiguous 5 MPI_INT)": {"", "contiguous 5 MPI_INT"}, "(…)": {}} {
		if got := Nest(c[0], c[1]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
