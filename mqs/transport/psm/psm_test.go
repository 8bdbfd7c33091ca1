package psm

import (
	"maps"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// madeUp are queues at 0x1000, which belong to an endpoint at 0x2000, all of whose memory is zero.
func madeUp(t *testing.T) (*MQ, wayTypes) {
	t.Helper()
	p := inferiortest.New()
	p.Put(0x2000, make([]byte, inferiortest.Page))
	q := &MQ{r: inferior.NewReader(t.Context(), p), at: 0x1000, queues: Queues{PSM: 0x2000}}
	var ways wayTypes
	table := *tables()[0]
	table.Types = maps.Clone(table.Types)
	request := table.Types["psm2_mq_req"]
	request.Fields = maps.Clone(request.Fields)
	next := request.Fields["next"]
	next.Size = 8 // one link, which is too few
	request.Fields["next"], table.Types["psm2_mq_req"] = next, request
	l := table.Layouts(inferior.Queries(libraryTypes()...))
	if err := inferior.Bind(&q.Types, l); err != nil {
		t.Fatal(err)
	}
	if err := inferior.Bind(&ways, l); err != nil {
		t.Fatal(err)
	}
	return q, ways
}

// TestLinks checks that a layout is refused by which requests have fewer links than there are kinds of lists.
func TestLinks(t *testing.T) {
	q, _ := madeUp(t)
	if _, err := q.readPosted(); err == nil || !strings.Contains(err.Error(), "a request stands in 1 lists") {
		t.Error(err)
	}
}
