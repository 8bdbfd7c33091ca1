//go:build full

package decoders_test

import (
	"fmt"
	"testing"
)

// Each page of each recording is lost in turn.
func TestEveryPageLost(t *testing.T) {
	for _, name := range fuzzed {
		for place := range readWhole(t, name).pages {
			t.Run(fmt.Sprintf("%s, page %d", name, place), func(t *testing.T) { checkLoss(t, name, pageLost(place)) })
		}
	}
}
