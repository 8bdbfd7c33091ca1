package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// telling are the values of a communicator that identify it better than an operation does.
var telling = []string{"name", "group", "size", "local_rank"}

// The costs of pairings. A value that is unknown may be any value.
const (
	unknownCosts = 1
	orderCosts   = 5
	wrongCosts   = 10
	extraCosts   = 200
	missingCosts = 250 // DLLs show more than there is, not less
	vagueCosts   = 30  // of a telling value that is unknown
	tellingCosts = 300 // of one that is wrong
	commCosts    = 100 // of a communicator, beside its operations
	never        = 1_000_000
)

// cost returns how badly a pairing fits.
func cost(events []Event) int {
	prices := map[Kind]int{Unknown: unknownCosts, Order: orderCosts, Wrong: wrongCosts, Missing: missingCosts, Extra: extraCosts}
	sum := 0
	for _, e := range events {
		price := prices[e.Kind]
		if slices.Contains(telling, e.Field) && e.Queue == "" && (e.Field != "size" || e.Comm["remote_group"] == nil) {
			price += map[Kind]int{Unknown: vagueCosts, Wrong: tellingCosts}[e.Kind]
		}
		sum += price
	}
	return sum
}

// table returns the costs of all pairings.
func table(want, got []expect.Object, compare func(w, g expect.Object) []Event, cost func(w, g expect.Object, events []Event) int) (events [][][]Event, costs [][]int) {
	events, costs = make([][][]Event, len(want)), make([][]int, len(want))
	for i, w := range want {
		for _, g := range got {
			e := compare(w, g)
			events[i], costs[i] = append(events[i], e), append(costs[i], cost(w, g, e))
		}
	}
	return events, costs
}

type commPair struct {
	at     int
	got    expect.Object
	events []Event
}

// pairComms pairs the communicators that fit best. Names need not be unique or known.
func pairComms(want, got []expect.Object) (pairs []commPair, missing, extra []expect.Object) {
	want, places, got := apart(want, got)
	events, costs := table(want, got, commEvents, func(w, g expect.Object, events []Event) int {
		if alien(w, g) {
			return 3 * never
		}
		return cost(events)
	})
	columns := assign(len(want), len(got), func(i, k int) int { return costs[i][k] },
		func(i int) int { return commCosts + missingCosts*operations(want[i]) },
		func(k int) int { return commCosts + extraCosts*operations(got[k]) })
	taken := map[int]bool{}
	for i, k := range columns {
		if k < 0 {
			missing = append(missing, want[i])
			continue
		}
		taken[k] = true
		pairs = append(pairs, commPair{places[i], got[k], events[i][k]})
	}
	for k, g := range got {
		if !taken[k] && (!predefined(g) || !idle(g)) {
			extra = append(extra, g)
		}
	}
	return pairs, missing, extra
}

// apart removes the sends from communicators that are known by their contexts alone, if there is an
// intercommunicator: its sends have the context of the other side, which may be another communicator's on
// this side. All sends are then compared with all. It returns the wanted and the shown communicators, and
// the index of each in the account.
func apart(want, got []expect.Object) (parts []expect.Object, places []int, shown []expect.Object) {
	isInter := func(c expect.Object) bool { return c["remote_group"] != nil }
	isKnown := func(c expect.Object) bool { return !predefined(c) && !hasContextAlone(c) }
	isBare := slices.ContainsFunc(got, hasContextAlone) && slices.ContainsFunc(want, isInter) && !slices.ContainsFunc(got, isKnown)
	is, are := sendsOfAll(), sendsOfAll()
	for i, c := range want {
		if isBare && !predefined(c) && (isInter(c) || show(c["size"]) != "1") {
			c = moveSends(c, is)
		}
		parts, places = append(parts, c), append(places, i)
	}
	for _, c := range got {
		if isBare && hasContextAlone(c) {
			if c = moveSends(c, are); idle(c) {
				continue
			}
		}
		shown = append(shown, c)
	}
	if isBare {
		parts, places, shown = append(parts, is), append(places, -1), append(shown, are)
	}
	return parts, places, shown
}

func hasContextAlone(c expect.Object) bool { return show(c["name"]) == "context "+show(c["unique_id"]) }

func sendsOfAll() expect.Object {
	return expect.Object{"name": "sends of all", "internal": false, "pending_sends": []any{}, "pending_receives": []any{}, "unexpected_messages": []any{}}
}

// moveSends moves the sends of a communicator to another one. It returns the communicator without them.
func moveSends(c, to expect.Object) expect.Object {
	sends, _ := c["pending_sends"].([]any)
	to["pending_sends"] = append(to["pending_sends"].([]any), sends...)
	c = maps.Clone(c)
	c["pending_sends"] = []any{}
	return c
}

// alien says whether two communicators can't be one. A DLL may give the size of the remote group.
func alien(want, got expect.Object) bool {
	sizes := []string{show(want["size"])}
	if remote, ok := want["remote_group"].([]any); ok {
		sizes = append(sizes, fmt.Sprint(len(remote)))
	}
	return got["name"] == "MPI_COMM_NULL" || predefined(got) && show(want["name"]) != show(got["name"]) || got["size"] != nil && !slices.Contains(sizes, show(got["size"]))
}

func predefined(c expect.Object) bool {
	return slices.Contains([]string{"MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_COMM_PARENT"}, show(c["name"]))
}

func idle(c expect.Object) bool { return operations(c) == 0 }

// isQuiet says whether nothing is pending on a communicator. Nothing is pending of an incomplete partitioned
// operation as long as not all of its partitions are ready.
func isQuiet(c expect.Object) bool {
	for _, q := range expect.Queues {
		ops, _ := expect.Operations(c, q)
		if slices.ContainsFunc(visible(ops), func(o expect.Object) bool {
			return o["optional"] != true && show(o["status"]) != "complete" && !isPartitioned(o)
		}) {
			return false
		}
	}
	return true
}

func isPartitioned(op expect.Object) bool { return strings.HasPrefix(show(op["kind"]), "partitioned_") }

// operations counts the operations of a communicator that a user must see.
func operations(c expect.Object) int {
	n := 0
	for _, q := range expect.Queues {
		ops, _ := expect.Operations(c, q)
		for _, o := range visible(ops) {
			if o["optional"] != true {
				n++
			}
		}
	}
	return n
}
