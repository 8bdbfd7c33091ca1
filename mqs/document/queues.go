package document

import (
	"strconv"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/internal/jsonout"
)

// A communicator's queues are keys of the communicator: a list of operations for each, null if
// there is none, and beside them why there is none and how many operations there are.

// notAskedFor is why there is no queue that a filter has left out.
const notAskedFor = "not asked for"

func appendQueues(b []byte, s *jsonout.Sink, queues *[3]*mqs.Queue) []byte {
	for class, q := range queues {
		b = appendKey(append(b, ",\n   "...), 0, class)
		if q == nil || q.Unavailable != "" {
			b = append(b, "null"...)
			continue
		}
		b = append(b, '[')
		for i := range q.Operations {
			b = append(jsonout.Comma(b, i), "\n    "...)
			b = s.Full(appendOperation(b, s, &q.Operations[i]))
		}
		b = append(b, ']')
	}
	b = append(b, ",\n   \"unavailable\": {"...)
	n := 0
	for class, q := range queues {
		reason := notAskedFor
		if q != nil {
			reason = q.Unavailable
		}
		if reason != "" {
			b = jsonout.Text(appendKey(b, n, class), reason)
			n++
		}
	}
	b = append(b, `}, "totals": {`...)
	n = 0
	for class, q := range queues {
		if q == nil || q.Unavailable != "" {
			continue
		}
		b = appendKey(b, n, class)
		if q.Incomplete {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendInt(b, int64(q.Total), 10)
		}
		n++
	}
	return append(b, '}')
}

// appendKey appends the key of a queue, which is the member of this number in its object.
func appendKey(b []byte, n, class int) []byte {
	return append(jsonout.Text(jsonout.Comma(b, n), mqs.OpClass(class).String()), ": "...)
}

// queuesRead is what has been read of the queues of a communicator.
type queuesRead struct {
	operations  [3][]mqs.PendingOperation
	unavailable [3]mqs.Maybe[string]         // why there is none
	totals      [3]mqs.Maybe[mqs.Maybe[int]] // how many there are, if that is said and known
}

// empty is every queue of a document that has nothing in it.
var empty = mqs.Queue{Operations: []mqs.PendingOperation{}}

// classOf returns the queue of a key.
func classOf(key []byte) (mqs.OpClass, bool) {
	for _, class := range mqs.OpClasses {
		if string(key) == class.String() {
			return class, true
		}
	}
	return 0, false
}

// readQueues reads a member of a communicator that may be about its queues.
func (r *reader) readQueues() {
	q := &r.queues
	switch string(r.key) {
	case "unavailable":
		for r.object(); r.member(); {
			if class, ok := classOf(r.key); ok {
				q.unavailable[class].Known = true
				readText(r, &q.unavailable[class].Value)
			} else {
				r.skip()
			}
		}
	case "totals":
		for r.object(); r.member(); {
			if class, ok := classOf(r.key); ok {
				q.totals[class].Known = true
				readMaybe(r, &q.totals[class].Value, readInt)
			} else {
				r.skip()
			}
		}
	default:
		if class, ok := classOf(r.key); ok {
			q.operations[class] = readList(r, &r.operations, (*reader).readOperation)
		} else {
			r.skip()
		}
	}
}

// takeQueues returns the queues of a communicator that has been read.
func (r *reader) takeQueues() (queues [3]*mqs.Queue) {
	for class, ops := range r.queues.operations {
		total := r.queues.totals[class]
		if why := r.queues.unavailable[class]; why.Known {
			if why.Value != notAskedFor {
				queues[class] = &mqs.Queue{Unavailable: why.Value}
			}
			continue
		}
		if len(ops) == 0 && (!total.Known || total.Value == mqs.Known(0)) {
			queues[class] = &empty
			continue
		}
		q := &r.headers.room(1)[0]
		*q = mqs.Queue{Operations: ops, Total: max(total.Value.Value, len(ops)), Incomplete: total.Known && !total.Value.Known}
		if ops == nil {
			q.Operations = []mqs.PendingOperation{}
		}
		queues[class] = q
	}
	return queues
}
