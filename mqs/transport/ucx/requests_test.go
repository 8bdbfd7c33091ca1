package ucx

import (
	"testing"
)

// What a protocol is for must agree with its name.
func TestOperations(t *testing.T) {
	for name, want := range map[string][2]uint8{
		"egr": {0, 1}, "tag": {0, 1}, "egrsnc": {1, 1}, "am": {2, opMask}, "rndv": {2, opMask}, "reconfig": {0, opMask},
	} {
		if least, most := operationsOf(name); least != want[0] || most != want[1] {
			t.Errorf("%s is for %d to %d, want %d to %d", name, least, most, want[0], want[1])
		}
	}
}
