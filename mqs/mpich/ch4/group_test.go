package ch4

import "testing"

// A regular map leads to places by a formula.
func TestRankMaps(t *testing.T) {
	for _, c := range []struct {
		m    rankMap
		want []int64
	}{
		{rankMap{Mode: mapDirect}, []int64{0, 1, 2, 3}},
		{rankMap{Mode: mapOffsetIntra, OnlyAt: 5}, []int64{5, 6, 7, 8}},
		{rankMap{Mode: mapStride, Stride: 2, Offset: 1}, []int64{1, 3, 5, 7}},
		{rankMap{Mode: mapStrideIntra, Stride: -1, Offset: 3}, []int64{3, 2, 1, 0}},
		{rankMap{Mode: mapStrideBlock, Stride: 4, BlockSize: 2, Offset: 1}, []int64{1, 2, 5, 6}},
	} {
		for rank, want := range c.want {
			if got, err := c.m.place(int64(rank)); err != nil || got != want {
				t.Errorf("mode %d: rank %d is at %d (%v), want %d", c.m.Mode, rank, got, err, want)
			}
		}
	}
	if _, err := (&rankMap{Mode: mapStrideBlock}).place(1); err == nil {
		t.Error("blocks of no members")
	}
}
