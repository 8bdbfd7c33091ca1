package oracle

import (
	"slices"
	"testing"
)

func TestSmallest(t *testing.T) {
	list := make([]int, 50)
	for i := range list {
		list[i] = i
	}
	got := smallest(list, func(some []int) bool {
		return slices.Contains(some, 3) && slices.Contains(some, 31) && slices.Contains(some, 49)
	})
	if !slices.Equal(got, []int{3, 31, 49}) {
		t.Errorf("%v is left", got)
	}
}
