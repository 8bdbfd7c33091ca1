// Package oracle compares what is shown of random jobs with what the jobs say of themselves.
//
// The program in tests/oracle/job makes jobs from seeds. Each value of each operation that it has noted
// is an [Event]: right, wrong, or unknown. An operation that is missing, that should not be there, or that
// is out of order is an event, too. A [Table] says which events other than right ones a reader of a build
// may have, each with a reason.
//
//	go test -tags live -v ./tests/oracle -first 1 -seeds 100
//
// prints how many events of each kind there were. The first seed that fails is reduced to
// the fewest items that fail by themselves, which is printed as a command.
package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// Kind says how what is shown compares with the account.
type Kind string

// The kinds of events.
const (
	Right   Kind = "right"
	Wrong   Kind = "wrong"
	Unknown Kind = "unknown"
	Missing Kind = "missing" // an operation or a communicator
	Extra   Kind = "extra"   // the same
	Order   Kind = "order"   // an operation out of order
)

// Event is one comparison. Queue is empty for a value of a communicator, and Comm is nil for a value of the
// process.
type Event struct {
	Kind         Kind
	Queue, Field string
	Comm         expect.Object // the account's
	Want, Got    expect.Object // the operation, the communicator or the process
}

// String describes the event in one line.
func (e Event) String() string {
	var b strings.Builder
	if e.Comm != nil {
		fmt.Fprintf(&b, "communicator %s, ", show(e.Comm["name"]))
	}
	if e.Queue != "" {
		fmt.Fprintf(&b, "%s, ", e.Queue)
	}
	switch e.Kind {
	case Missing:
		fmt.Fprintf(&b, "missing: %s", brief(e.Want))
	case Extra:
		fmt.Fprintf(&b, "should not be there: %s", brief(e.Got))
	case Order:
		fmt.Fprintf(&b, "out of order: %s", brief(e.Want))
	default:
		fmt.Fprintf(&b, "%s is %s, want %s, of %s", e.Field, show(e.Got[e.Field]), show(e.Want[e.Field]), brief(e.Want))
	}
	return b.String()
}

// brief leaves out the queues of a communicator.
func brief(o expect.Object) string {
	o = maps.Clone(o)
	for _, q := range expect.Queues {
		delete(o, q)
	}
	return show(o)
}

func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// visible returns what a user sees without asking for the library's own operations.
func visible(list []expect.Object) []expect.Object {
	return slices.DeleteFunc(list, func(o expect.Object) bool { return o["internal"] == true })
}

// Events compares a process, which may have the library's own communicators and messages, with its account.
func Events(account *expect.Account, process expect.Object) []Event {
	var out []Event
	said := expect.Object{"pid": account.PID, "global_rank": account.GlobalRank, "world_size": account.WorldSize, "unavailable": nil}
	for _, key := range []string{"pid", "global_rank", "world_size", "unavailable"} {
		out = append(out, value(Event{Field: key, Want: said, Got: process}))
	}
	pairs, missing, extra := pairComms(account.Communicators, visible(expect.Communicators(process)))
	ids := map[int]any{}
	for _, p := range pairs {
		out = append(out, p.events...)
		ids[p.at] = p.got["unique_id"]
	}
	for _, c := range missing {
		field := "communicator"
		if isQuiet(c) {
			field = "quiet communicator"
		}
		out = append(out, Event{Kind: Missing, Field: field, Comm: c, Want: c})
	}
	for _, c := range extra {
		out = append(out, Event{Kind: Extra, Field: "communicator", Comm: c, Got: c})
	}
	return append(out, callEvents(account, process, ids)...)
}

// callEvents compares the calls in which the process's threads are.
func callEvents(account *expect.Account, process expect.Object, ids map[int]any) []Event {
	threads := slices.DeleteFunc(expect.Objects(process["threads"]), func(t expect.Object) bool { return t["call"] == nil })
	var out []Event
	fewer := len(threads) < len(account.Calls) // then another thread's call is not taken for one
	for _, call := range account.Calls {
		want := expect.Object{"call": call.Function, "communicator": ids[call.Communicator]}
		at, best := -1, 0
		for i, t := range threads {
			fit := 1
			if show(t["call"]) == call.Function {
				fit += 2
			} else if fewer {
				continue
			}
			if show(t["communicator"]) == show(want["communicator"]) {
				fit++
			}
			if fit > best {
				at, best = i, fit
			}
		}
		if at < 0 {
			out = append(out, Event{Kind: Unknown, Field: "call", Want: want, Got: expect.Object{}})
			continue
		}
		got := threads[at]
		threads = slices.Delete(threads, at, at+1)
		out = append(out, value(Event{Field: "call", Want: want, Got: got}))
		if want["communicator"] != nil { // else it is missing
			out = append(out, value(Event{Field: "communicator", Want: want, Got: got}))
		}
	}
	return out
}

// value compares a field.
func value(e Event) Event {
	want, got := e.Want[e.Field], e.Got[e.Field]
	if label, _ := got.(string); e.Field == "name" && (label == "--unnamed--" || strings.HasPrefix(label, "context 0x")) && want != got {
		got = nil // what it is called for want of a name
	}
	switch {
	case fits(e.Field, want, got):
		e.Kind = Right
	case got == nil:
		e.Kind = Unknown
	default:
		e.Kind = Wrong
	}
	return e
}

func fits(field string, want, got any) bool {
	switch {
	case field == "kind" && got != nil:
		return expect.KindFits(show(want), show(got))
	case field == "cancelled":
		return strings.Contains(show(got), "cancelled") == (want == true)
	}
	return show(want) == show(got)
}

func commEvents(want, got expect.Object) []Event {
	var out []Event
	said := maps.Clone(want)
	said["inter"], said["internal"] = want["remote_group"] != nil, false
	for _, key := range slices.Sorted(maps.Keys(said)) {
		if key != "freed" && !slices.Contains(expect.Queues, key) {
			out = append(out, value(Event{Field: key, Comm: want, Want: said, Got: got}))
		}
	}
	for _, queue := range expect.Queues {
		wanted, _ := expect.Operations(want, queue)
		ops, ok := expect.Operations(got, queue)
		ops = visible(ops)
		if !ok {
			said[queue] = "an array"
			out = append(out, Event{Kind: Unknown, Queue: queue, Field: "queue", Comm: want, Want: said, Got: got})
			continue
		}
		if queue == "unexpected_messages" {
			ops = unheld(want, ops)
		}
		out = append(out, queueEvents(want, queue, wanted, ops)...)
	}
	return out
}

// unheld removes from the unexpected messages those that a matched probe holds: libraries keep such a
// message in different places.
func unheld(want expect.Object, ops []expect.Object) []expect.Object {
	receives, _ := expect.Operations(want, "pending_receives")
	var out []expect.Object
	for _, op := range ops {
		at := slices.IndexFunc(receives, func(r expect.Object) bool {
			return r["kind"] == "improbe" && show(r["actual_local_rank"]) == show(op["actual_local_rank"]) && show(r["actual_tag"]) == show(op["actual_tag"])
		})
		if at < 0 || op["status"] != "matched" {
			out = append(out, op)
			continue
		}
		receives = slices.Delete(slices.Clone(receives), at, at+1)
	}
	return out
}

// withCopies adds, for each buffered send, the library's send of the packed data. Some libraries show it as
// an operation of their own, whether it is complete or not.
func withCopies(queue string, want []expect.Object) []expect.Object {
	var out []expect.Object
	for _, w := range want {
		out = append(out, w)
		if queue != "pending_sends" || !slices.Contains([]string{"ibsend", "persistent_bsend"}, show(w["kind"])) {
			continue
		}
		packed := maps.Clone(w)
		packed["kind"], packed["optional"] = "bsend", true
		for _, key := range []string{"status", "buffer", "count", "datatype", "system_buffer"} {
			delete(packed, key)
		}
		out = append(out, packed)
	}
	return out
}

// queueEvents pairs the operations that fit best, and compares each pair.
func queueEvents(comm expect.Object, queue string, want, got []expect.Object) []Event {
	want = withCopies(queue, want)
	events, costs := table(want, got, func(w, g expect.Object) []Event { return opEvents(comm, queue, w, g) }, func(w, g expect.Object, events []Event) int {
		switch {
		case g["desired_tag"] != nil && show(w["desired_tag"]) != show(g["desired_tag"]):
			return never
		case w["buffer"] != nil && g["buffer"] != nil && w["buffer"] != g["buffer"]:
			return missingCosts + extraCosts // it is another operation
		}
		return cost(events)
	})
	columns := assign(len(want), len(got), func(i, k int) int { return costs[i][k] }, func(i int) int {
		if want[i]["optional"] == true {
			return unknownCosts
		}
		return missingCosts
	}, func(int) int { return extraCosts })
	wanted, taken := map[int]int{}, map[int]bool{}
	var out []Event
	for i, k := range columns {
		if k >= 0 {
			wanted[i], taken[k] = k, true
			out = append(out, events[i][k]...)
		}
	}
	for i, w := range want {
		if _, ok := wanted[i]; !ok && w["optional"] != true {
			out = append(out, Event{Kind: Missing, Queue: queue, Comm: comm, Want: w})
		}
	}
	for k, g := range got {
		if !taken[k] {
			out = append(out, Event{Kind: Extra, Queue: queue, Comm: comm, Got: g})
		}
	}
	for _, i := range misplaced(queue, want, wanted) {
		out = append(out, Event{Kind: Order, Queue: queue, Comm: comm, Want: want[i], Got: got[wanted[i]]})
	}
	return out
}

func opEvents(comm expect.Object, queue string, want, got expect.Object) []Event {
	said, told := maps.Clone(want), maps.Clone(got)
	delete(said, "optional")
	said["internal"], said["cancelled"] = false, want["cancelled"] == true
	told["cancelled"] = got["extra_text"]
	var out []Event
	for _, key := range slices.Sorted(maps.Keys(said)) {
		out = append(out, value(Event{Queue: queue, Field: key, Comm: comm, Want: said, Got: told}))
	}
	return out
}
