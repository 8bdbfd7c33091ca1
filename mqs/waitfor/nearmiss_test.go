package waitfor

import (
	"fmt"
	"strings"
	"testing"
)

func TestNearMissesAreBounded(t *testing.T) {
	m := newMade(2)
	m.rank(1).recv(worldID, 0, 7)
	x := m.rank(0)
	th := x.thread("MPI_Waitall", 12)
	for i := range int32(maxNearMisses + 5) {
		th.Requests = append(th.Requests, x.irecv(worldID, 1, 100+i))
	}
	m.rank(1).message(worldID, 0, 1)
	r := Analyse(m.Snapshot)
	if len(r.NearMisses) != maxNearMisses || !strings.Contains(fmt.Sprint(r.Notes), `5 near misses of the kind "tag" are left out`) {
		t.Errorf("%d near misses, notes %q", len(r.NearMisses), r.Notes)
	}
}
