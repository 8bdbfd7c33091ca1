package psm

import (
	"strings"
	"testing"
)

// TestEndpointOfOthers checks that queues are refused whose endpoint does not point back at them.
func TestEndpointOfOthers(t *testing.T) {
	q, ways := madeUp(t)
	if err := q.openWays(ways); err == nil || !strings.Contains(err.Error(), "the endpoint at 0x2000 has other queues than those at 0x1000") {
		t.Error(err)
	}
}
