package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A persistent request would meet an operation if each is what the other asks for.
func TestMeets(t *testing.T) {
	send := func(to, tag mqs.Maybe[int32]) mqs.InactiveRequest {
		return mqs.InactiveRequest{Kind: "ssend_init", Peer: to, Tag: tag}
	}
	recv := func(from, tag mqs.Maybe[int32]) mqs.InactiveRequest {
		return mqs.InactiveRequest{Kind: "recv_init", Peer: from, Tag: tag}
	}
	tagged := mqs.PendingOperation{DesiredTag: mqs.Known[int32](7), TagWild: mqs.Known(false)}
	wildTag := mqs.PendingOperation{TagWild: mqs.Known(true)}
	untold := mqs.PendingOperation{}
	unknown := mqs.Maybe[int32]{}
	for name, c := range map[string]struct {
		q     mqs.InactiveRequest
		class mqs.OpClass
		op    mqs.PendingOperation
		want  bool
	}{
		"a send to it":                         {send(mqs.Known[int32](1), mqs.Known[int32](7)), mqs.PendingReceives, tagged, true},
		"a send to another":                    {send(mqs.Known[int32](0), mqs.Known[int32](7)), mqs.PendingReceives, tagged, false},
		"a send to whom is not known":          {send(unknown, mqs.Known[int32](7)), mqs.PendingReceives, tagged, false},
		"a send to what any would be":          {send(mqs.Known[int32](mqs.AnyRank), mqs.Known[int32](7)), mqs.PendingReceives, tagged, false},
		"a send with another tag":              {send(mqs.Known[int32](1), mqs.Known[int32](8)), mqs.PendingReceives, tagged, false},
		"a send with a tag that is any":        {send(mqs.Known[int32](1), mqs.Known[int32](-1)), mqs.PendingReceives, tagged, false},
		"a send for a receive of any tag":      {send(mqs.Known[int32](1), mqs.Known[int32](8)), mqs.PendingReceives, wildTag, true},
		"a send of no tag for any":             {send(mqs.Known[int32](1), unknown), mqs.PendingReceives, wildTag, false},
		"a send for a receive of which naught": {send(mqs.Known[int32](1), mqs.Known[int32](7)), mqs.PendingReceives, untold, false},
		"a receive from it":                    {recv(mqs.Known[int32](1), mqs.Known[int32](7)), mqs.PendingSends, tagged, true},
		"a receive from any":                   {recv(mqs.Known[int32](mqs.AnyRank), mqs.Known[int32](7)), mqs.PendingSends, tagged, true},
		"a receive from another":               {recv(mqs.Known[int32](0), mqs.Known[int32](7)), mqs.PendingSends, tagged, false},
		"a receive of any tag":                 {recv(mqs.Known[int32](1), mqs.Known[int32](-1)), mqs.PendingSends, tagged, true},
		"a receive of the tag 0":               {recv(mqs.Known[int32](1), mqs.Known[int32](0)), mqs.PendingSends, tagged, false},
		"a receive of another tag":             {recv(mqs.Known[int32](1), mqs.Known[int32](8)), mqs.PendingSends, tagged, false},
		"a receive for a receive":              {recv(mqs.Known[int32](1), mqs.Known[int32](7)), mqs.PendingReceives, tagged, false},
		"a send for a send":                    {send(mqs.Known[int32](1), mqs.Known[int32](7)), mqs.PendingSends, tagged, false},
	} {
		if got := meets(&c.q, &dependency{class: c.class, op: &c.op}, 1); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
