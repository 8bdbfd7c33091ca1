package mpir

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// TestListsThatMeet checks that requests are read once if two lists of them lead to the same ones.
func TestListsThatMeet(t *testing.T) {
	l := openLibrary(t, inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0"))
	symbol, err := l.Reader.Symbol("recvq_posted_head")
	if err != nil {
		t.Fatal(err)
	}
	head, err := inferior.ReadPointers(l.Reader, inferior.Ptr[inferior.Ptr[Request]](symbol.Addr), 1)
	if err != nil {
		t.Fatal(err)
	}
	q := &requests{byAddr: map[inferior.Ptr[Request]]*Operation{}}
	all, err := q.listed(l, func() ([]inferior.Ptr[Request], error) { return []inferior.Ptr[Request]{head[0], head[0]}, nil })
	if len(all) == 0 || len(all) != len(q.byAddr) || err == nil || !strings.Contains(err.Error(), "is in two lists") {
		t.Errorf("%d requests, %v", len(all), err)
	}
}
