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

type queuesJSON struct {
	PendingSends       []operationJSON   `json:"pending_sends"`
	PendingReceives    []operationJSON   `json:"pending_receives"`
	UnexpectedMessages []operationJSON   `json:"unexpected_messages"`
	Unavailable        map[string]string `json:"unavailable"`
	Totals             map[string]*int   `json:"totals"`
}

func (r *reader) queues(d *queuesJSON) (queues [3]*mqs.Queue) {
	for class, ops := range [...][]operationJSON{mqs.PendingSends: d.PendingSends,
		mqs.PendingReceives: d.PendingReceives, mqs.UnexpectedMessages: d.UnexpectedMessages} {
		key := mqs.OpClass(class).String()
		switch reason, ok := d.Unavailable[key]; {
		case ok && reason == notAskedFor:
		case ok:
			queues[class] = &mqs.Queue{Unavailable: r.intern(reason)}
		default:
			q := &mqs.Queue{Operations: make([]mqs.PendingOperation, len(ops)), Total: len(ops)}
			if total, said := d.Totals[key]; said && total == nil {
				q.Incomplete = true
			} else if said {
				q.Total = max(*total, len(ops))
			}
			for i := range ops {
				r.readOperation(&q.Operations[i], &ops[i])
			}
			queues[class] = q
		}
	}
	return queues
}
