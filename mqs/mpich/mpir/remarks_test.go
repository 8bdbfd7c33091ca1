package mpir

import (
	"slices"
	"testing"
)

// What came up stands in its order, and remarks on the whole process, once each, in one of their own.
func TestRemarks(t *testing.T) {
	var r Remarks
	r.Set(UnorderedSends, "no order")
	r.Notef("%d blocks", 3)
	r.Set(UnknownSends, "no tags")
	r.Set(UnorderedSends, "still no order")
	r.Notef("a list")
	if got, want := r.Sentences(), []string{"3 blocks", "a list", "no tags", "still no order"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
