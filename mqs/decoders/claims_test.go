package decoders_test

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// comparison holds what is said of a process of which a part can't be had against what is said of
// the whole.
type comparison struct {
	// contradictions are values that are known of both and not the same.
	contradictions []string
	// doubtful is what needs a mark that says that something could not be read: a list that is shorter or in
	// another order, and what is said otherwise of a communicator, or of the process, than by its own objects.
	doubtful []string
}

func (c *comparison) contradict(where string, was, now any) {
	c.contradictions = append(c.contradictions, fmt.Sprintf("%s: %v, which was %v", where, now, was))
}

// doubt compares two values, of which what contradicts the other is doubtful.
func (c *comparison) doubt(where string, was, now any) {
	var one comparison
	one.same(where, reflect.ValueOf(was), reflect.ValueOf(now))
	c.doubtful = append(c.doubtful, one.contradictions...)
}

// free are the fields whose text is for people, or says where values come from; of a version a part may be missing, and where one counter can't be read there may be another one.
var free = []string{"MPIVersion", "Progress", "Notes", "Unavailable", "Layout", "LayoutName", "Library", "ExtraText", "DatatypeConstruction"}

// same compares two values of a type: what is not known, zero or null contradicts nothing.
func (c *comparison) same(where string, was, now reflect.Value) {
	switch now.Kind() {
	case reflect.Pointer:
		if !was.IsNil() && !now.IsNil() {
			c.same(where, was.Elem(), now.Elem())
		}
	case reflect.Struct:
		if known := now.FieldByName("Known"); known.IsValid() {
			if known.Bool() && was.FieldByName("Known").Bool() {
				c.same(where, was.FieldByName("Value"), now.FieldByName("Value"))
				if a, b := was.FieldByName("Value"), now.FieldByName("Value"); a.Comparable() && a.Interface() != b.Interface() && (a.IsZero() || b.IsZero()) {
					c.contradict(where, a, b)
				}
			}
			return
		}
		for i := range now.NumField() {
			if name := now.Type().Field(i).Name; !slices.Contains(free, name) {
				c.same(where+"."+name, was.Field(i), now.Field(i))
			}
		}
	case reflect.Slice:
		if was.Len() == 0 || now.Len() == 0 {
			return
		}
		if was.Len() != now.Len() {
			c.contradict(where, fmt.Sprintf("%d elements", was.Len()), fmt.Sprintf("%d", now.Len()))
			return
		}
		for i := range now.Len() {
			c.same(fmt.Sprintf("%s[%d]", where, i), was.Index(i), now.Index(i))
		}
	default:
		if !was.IsZero() && !now.IsZero() && !was.Equal(now) {
			c.contradict(where, was, now)
		}
	}
}

// lists compares two lists whose elements are told apart by a key. An element more or less is doubtful.
func lists[T any, K comparable](c *comparison, where string, was, now []T, key func(T) K, compare func(where string, was, now T)) {
	for _, n := range now {
		at := fmt.Sprintf("%s %v", where, key(n))
		i := slices.IndexFunc(was, func(w T) bool { return key(w) == key(n) })
		if i < 0 {
			c.doubtful = append(c.doubtful, at+" was not there")
			continue
		}
		compare(at, was[i], n)
	}
	if len(now) < len(was) {
		c.doubtful = append(c.doubtful, fmt.Sprintf("%s: %d of %d", where, len(now), len(was)))
	}
}

// compareClaims compares what is said of a process, of which a part can't be had, with what is said of
// the whole.
func compareClaims(was, now *mqs.Process) (c comparison) {
	if now.Unavailable != "" && len(now.Communicators) == 0 {
		return c
	}
	plain := func(p *mqs.Process) any {
		q := *p
		q.Communicators, q.Threads, q.Windows, q.Files, q.Differences = nil, nil, nil, nil, nil
		return q
	}
	c.doubt("process", plain(was), plain(now))
	lists(&c, "thread", was.Threads, now.Threads, func(t mqs.Thread) int { return t.Number }, func(at string, was, now mqs.Thread) {
		for _, r := range now.Requests {
			if !slices.Contains(was.Requests, r) {
				c.contradict(at+".requests", was.Requests, r)
			}
		}
		if now.AllRequests && len(now.Requests) != len(was.Requests) {
			c.contradict(at+".requests", was.Requests, now.Requests)
		}
		was.Requests, now.Requests, was.AllRequests, now.AllRequests = nil, nil, true, true
		c.same(at, reflect.ValueOf(was), reflect.ValueOf(now))
	})
	if now.Windows != nil {
		lists(&c, "window", was.Windows, now.Windows, func(w mqs.Window) any { return w.Handle }, func(at string, was, now mqs.Window) {
			c.same(at, reflect.ValueOf(was), reflect.ValueOf(now))
		})
	}
	if now.Files != nil {
		lists(&c, "file", was.Files, now.Files, func(f mqs.File) any { return f.Handle }, func(at string, was, now mqs.File) {
			c.same(at, reflect.ValueOf(was), reflect.ValueOf(now))
		})
	}
	lists(&c, "communicator", was.Communicators, now.Communicators, func(q *mqs.Queues) any { return q.UniqueID }, c.queues)
	return c
}

func (c *comparison) queues(at string, was, now *mqs.Queues) {
	c.doubt(at, was.Communicator, now.Communicator)
	if now.Traffic != nil && was.Traffic != nil {
		lists(c, at+" traffic", was.Traffic, now.Traffic, func(t mqs.Traffic) int32 { return t.Peer }, func(at string, was, now mqs.Traffic) {
			c.same(at, reflect.ValueOf(was), reflect.ValueOf(now))
		})
	}
	for class, n := range now.Queue {
		w := was.Queue[class]
		if n == nil || w == nil {
			continue
		}
		where := fmt.Sprintf("%s %s", at, mqs.OpClass(class))
		taken := make([]bool, len(w.Operations))
		last := -1
		for i, op := range n.Operations {
			at := fmt.Sprintf("%s[%d]", where, i)
			same := c.operation(at, w.Operations, taken, op)
			if same < 0 {
				continue
			}
			taken[same] = true
			if same < last {
				c.doubtful = append(c.doubtful, at+": it was before the one ahead of it")
			}
			last = max(last, same)
		}
		if !n.Incomplete && n.Unavailable == "" && n.Total != w.Total {
			c.doubtful = append(c.doubtful, fmt.Sprintf("%s: %d of %d", where, n.Total, w.Total))
		}
	}
}

// operation returns the place of the operation that one was, -1 if it was none of them that is not taken yet.
func (c *comparison) operation(at string, was []mqs.PendingOperation, taken []bool, op mqs.PendingOperation) int {
	var nearest []string
	for i := range was {
		var one comparison
		one.same(at, reflect.ValueOf(was[i]), reflect.ValueOf(op))
		if len(one.contradictions) == 0 && !taken[i] {
			return i
		}
		if nearest == nil || len(one.contradictions) < len(nearest) {
			nearest = one.contradictions
		}
	}
	c.contradict(at, fmt.Sprintf("none of %d (of the nearest, %q)", len(was), nearest), fmt.Sprintf("%+v", op))
	return -1
}

// isMarked says whether something of a process says that it is not whole.
func isMarked(was, now *mqs.Process) bool {
	return now.Unavailable != "" || slices.ContainsFunc(now.Notes, func(note string) bool { return !slices.Contains(was.Notes, note) })
}
