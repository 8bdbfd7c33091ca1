package waitfor

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// rank applies a statement to a rank.
func (r *scriptReader) rank(rank int, words statement) (err error) {
	p := r.processes[rank]
	if p == nil {
		return fmt.Errorf("rank %d is absent", rank)
	}
	defer func() {
		if failure := recover(); failure == errShort {
			err = fmt.Errorf("%q is not complete", strings.Join(words, " "))
		} else if failure != nil {
			panic(failure)
		}
	}()
	switch words.word(0) {
	case "absent":
		r.processes[rank] = nil
		return nil
	case "uncounted":
		for _, q := range p.Communicators {
			q.Traffic = nil
		}
		return nil
	case "in":
		return r.thread(rank, mqs.Thread{Call: words.word(1)}, words[2:])
	case "computes":
		return r.thread(rank, mqs.Thread{Function: "compute", Line: 99, Activity: mqs.Computes}, words[1:])
	case "thread":
		return r.thread(rank, mqs.Thread{}, words[1:])
	case "window", "epoch":
		for i := range p.Windows {
			w := &p.Windows[i]
			if w.Handle != r.ids[words.word(1)] {
				continue
			}
			if words[0] == "window" {
				return r.fields(reflect.ValueOf(w), words[2:])
			}
			w.Epochs = append(w.Epochs, mqs.Epoch{Kind: mqs.EpochKind(words.word(2))})
			return r.fields(reflect.ValueOf(&w.Epochs[len(w.Epochs)-1]), words[3:])
		}
		return fmt.Errorf("rank %d has no window %q", rank, words[1])
	case "kernel":
		p.KernelThreads = append(p.KernelThreads, mqs.KernelThread{ID: p.PID + len(p.KernelThreads)})
		return r.fields(reflect.ValueOf(&p.KernelThreads[len(p.KernelThreads)-1]), words[1:])
	case "inactive":
		p.Inactive = append(p.Inactive, mqs.InactiveRequest{Kind: words.word(1), Comm: r.ids[words.word(2)]})
		return r.fields(reflect.ValueOf(&p.Inactive[len(p.Inactive)-1]), words[3:])
	case "comm", "counts", "queue", "collective", "message":
		q, err := r.commOf(p, words.word(1))
		if err != nil {
			return err
		}
		switch words[0] {
		case "comm":
			return r.fields(reflect.ValueOf(q), words[2:])
		case "counts":
			q.Traffic = append(q.Traffic, mqs.Traffic{})
			return r.fields(reflect.ValueOf(&q.Traffic[len(q.Traffic)-1]), words[2:])
		case "queue":
			for _, class := range mqs.OpClasses {
				if class.String() == words.word(2) {
					return r.fields(reflect.ValueOf(q.Queue[class]), words[3:])
				}
			}
			return fmt.Errorf("there is no queue %q", words[2])
		case "collective":
			c := mqs.CollectiveRequest{Comm: mqs.Known(q.UniqueID), Status: mqs.Pending}
			words, call := r.request(rank, words[2:], &c.Request)
			for i := 0; i+1 < len(words); i++ {
				if words[i] == "messages" {
					c.Messages, err = r.requests(rank, words[i+1])
					words = slices.Delete(slices.Clone(words), i, i+2)
				}
			}
			if err == nil {
				err = r.fields(reflect.ValueOf(&c), words)
			}
			p.CollectiveRequests = append(p.CollectiveRequests, c)
			return r.callOn(rank, c.Request, call, err)
		default:
			return r.operation(rank, q, mqs.UnexpectedMessages, words)
		}
	}
	if len(words) > 3 && (words[2] == "from" || words[2] == "to") {
		q, err := r.commOf(p, words[1])
		if err != nil {
			return err
		}
		class := mqs.PendingReceives
		if words[2] == "to" {
			class = mqs.PendingSends
		}
		return r.operation(rank, q, class, words)
	}
	return r.fields(reflect.ValueOf(p), words)
}

var errShort = new(int)

// word returns a word that the statement needs.
func (s statement) word(i int) string {
	if i >= len(s) {
		panic(errShort)
	}
	return s[i]
}

func (r *scriptReader) commOf(p *mqs.Process, name string) (*mqs.Queues, error) {
	id, ok := r.ids[name]
	if at := slices.IndexFunc(p.Communicators, func(q *mqs.Queues) bool { return q.UniqueID == id }); ok && at >= 0 {
		return p.Communicators[at], nil
	}
	return nil, fmt.Errorf("rank %d has no communicator %q", p.PID-100, name)
}

// request sets the address of a request: by its name, or else by its position in the rank, so that it stays the same in
// later samples. It returns the words before "in" and those after it, which describe a call.
func (r *scriptReader) request(rank int, words statement, to *inferior.Addr) (fields, call statement) {
	if in := slices.Index(words, "in"); in >= 0 {
		words, call = words[:in], words[in+1:]
	}
	if as := slices.Index(words, "as"); as >= 0 && as+1 < len(words) {
		*to = r.requestNamed(rank, words[as+1])
		return slices.Delete(slices.Clone(words), as, as+2), call
	}
	r.unnamed[rank]++
	*to = inferior.Addr(0x1000 + 0x10*r.unnamed[rank])
	return words, call
}

func (r *scriptReader) requestNamed(rank int, name string) inferior.Addr {
	if _, ok := r.named[rank][name]; !ok {
		r.named[rank][name] = inferior.Addr(0x9000 + 0x10*len(r.named[rank]))
	}
	return r.named[rank][name]
}

// requests returns the addresses of a list of names.
func (r *scriptReader) requests(rank int, list string) (out []inferior.Addr, err error) {
	for _, name := range strings.Split(list, ",") {
		a, ok := r.named[rank][name]
		switch {
		case name == "?":
			a = unlisted
		case strings.HasPrefix(name, "?"):
			a = r.requestNamed(rank, name)
		case !ok:
			return nil, fmt.Errorf("rank %d has no request %q", rank, name)
		}
		out = append(out, a)
	}
	return out, nil
}

// callOn adds a thread in a call that waits for a request, if there is a call.
func (r *scriptReader) callOn(rank int, request inferior.Addr, call statement, err error) error {
	if err != nil || call == nil {
		return err
	}
	return r.thread(rank, mqs.Thread{Call: call.word(0), Requests: []inferior.Addr{request}, AllRequests: true}, call[1:])
}

// thread adds a thread to a rank.
func (r *scriptReader) thread(rank int, t mqs.Thread, words statement) (err error) {
	p := r.processes[rank]
	t.Number, t.Placed, t.File = len(p.Threads)+1, true, "/src/a.c"
	if t.Line == 0 {
		t.Function, t.Line = "main", 10
	}
	if i := slices.Index(words, "for"); i >= 0 {
		if t.Requests, err = r.requests(rank, words.word(i+1)); err != nil {
			return err
		}
		t.AllRequests = true
		words = slices.Delete(slices.Clone(words), i, i+2)
	}
	err = r.fields(reflect.ValueOf(&t), words)
	p.Threads = append(p.Threads, t)
	return err
}

// operation adds an operation to a queue: "recv world from 1 tag 7 …".
func (r *scriptReader) operation(rank int, q *mqs.Queues, class mqs.OpClass, words statement) error {
	op := mqs.PendingOperation{Status: mqs.Pending, Kind: words[0], TagWild: mqs.Known(false)}
	if op.Kind == "request" {
		op.Kind = ""
	}
	peer, key, tag := words.word(3), words.word(4), words.word(5)
	if key != "tag" {
		return fmt.Errorf("%q is where the tag belongs", key)
	}
	if peer == "any" {
		op.DesiredLocalRank = mqs.Known[int32](mqs.AnyRank)
	} else if err := r.assign(reflect.ValueOf(&op.DesiredLocalRank).Elem(), peer); err != nil {
		return err
	}
	if tag == "any" {
		op.TagWild = mqs.Known(true)
	} else if err := r.assign(reflect.ValueOf(&op.DesiredTag).Elem(), tag); err != nil {
		return err
	}
	fields, call := words[6:], statement(nil)
	if class == mqs.UnexpectedMessages {
		op.Kind, op.ActualLocalRank, op.ActualTag, op.ActualLength = "", op.DesiredLocalRank, op.DesiredTag, mqs.Known[int64](8)
	} else {
		op.DesiredLength, op.Request.Known = mqs.Known[int64](8), true
		fields, call = r.request(rank, fields, &op.Request.Value)
	}
	if at := slices.Index(fields, "arrived"); at >= 0 {
		fields = slices.Delete(slices.Clone(fields), at, at+1)
		if err := r.arrives(q, &op); err != nil {
			return err
		}
	}
	err := r.fields(reflect.ValueOf(&op), fields)
	queue := q.Queue[class]
	queue.Operations, queue.Total = append(queue.Operations, op), queue.Total+1
	return r.callOn(rank, op.Request.Value, call, err)
}

// arrives adds the message of a send to the receiver's unexpected queue, with a sender that waits for the receive.
func (r *scriptReader) arrives(q *mqs.Queues, op *mqs.PendingOperation) error {
	receiver := q.GlobalRank(op.DesiredLocalRank.Value)
	if !receiver.Known {
		return fmt.Errorf("the message arrives at no rank of the job")
	}
	p := r.processes[receiver.Value]
	if r.past.Looks > 0 && !r.described[receiver.Value] {
		return fmt.Errorf("the message arrives at rank %d, which this sample does not describe", receiver.Value)
	}
	if p == nil {
		return fmt.Errorf("the message arrives at rank %d, which is absent", receiver.Value)
	}
	at := slices.IndexFunc(p.Communicators, func(there *mqs.Queues) bool { return there.UniqueID == q.UniqueID })
	if at < 0 {
		return fmt.Errorf("the message arrives at rank %d, which does not have its communicator", receiver.Value)
	}
	unexpected := p.Communicators[at].Queue[mqs.UnexpectedMessages]
	unexpected.Operations = append(unexpected.Operations, mqs.PendingOperation{Status: mqs.Pending, TagWild: mqs.Known(false),
		DesiredLocalRank: q.LocalRank, DesiredTag: op.DesiredTag, ActualLocalRank: q.LocalRank, ActualTag: op.DesiredTag,
		ActualLength: mqs.Known[int64](8), ExtraText: []string{mqs.Rendezvous}})
	unexpected.Total++
	return nil
}
