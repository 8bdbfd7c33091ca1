package psm

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// maxQueued bounds a list.
const maxQueued = 1 << 26

// lists is how many lists a request can stand in, the last of which is that of all.
func (q *MQ) lists() int {
	return inferior.SizeOf(&q.Request, func(r *Request) *inferior.Embedded[inferior.Ptr[Request]] { return &r.Next }) / q.r.Info().PointerSize
}

// walk hands the requests of a list, which stand in it by one of their links, to take. Each knows the one before it, and
// that it stands in the list. It returns how many there are.
func (q *MQ) walk(list inferior.Ptr[Queue], kind int, take func(*Found) error) (count int, err error) {
	of, err := q.Queue.Read(q.r, list)
	if err != nil {
		return 0, err
	}
	var before inferior.Ptr[Request]
	next := func(at inferior.Ptr[Request]) (inferior.Ptr[Request], error) {
		isTwice, isOne := q.isListed[at]
		if !isOne || isTwice {
			return 0, fmt.Errorf("the request at %s in the list at %s is not in use, or in another list", at, list)
		}
		q.isListed[at] = true
		r, err := q.read(at)
		if err != nil {
			return 0, err
		}
		links, err := q.links(&r, kind)
		switch {
		case err != nil:
			return 0, err
		case links.prev != before || links.queue != list || r.MQ != q.at || r.Type&IsReceive == 0:
			return 0, fmt.Errorf("the request at %s does not follow the one before in the list at %s", at, list)
		}
		before = at
		count++
		return links.next, take(&r)
	}
	for _, err := range inferior.Walk(of.First, 0, maxQueued, next) {
		if err != nil {
			return count, err
		}
	}
	if of.Last != before {
		return count, fmt.Errorf("the list at %s does not end at %s", list, of.Last)
	}
	return count, nil
}

// links are the links of a request in a list.
type links struct {
	next, prev inferior.Ptr[Request]
	queue      inferior.Ptr[Queue]
}

func (q *MQ) links(r *Found, kind int) (links, error) {
	var out [3]inferior.Addr
	for i, from := range []inferior.Addr{r.Next.Addr(), r.Prev.Addr(), r.In.Addr()} {
		held, err := q.r.Pointers(from+inferior.Addr(kind*q.r.Info().PointerSize), 1)
		if err != nil {
			return links{}, err
		}
		out[i] = held[0]
	}
	return links{inferior.Ptr[Request](out[0]), inferior.Ptr[Request](out[1]), inferior.Ptr[Queue](out[2])}, nil
}

// isIn says whether a request stands in a list by the link of all.
func (q *MQ) isIn(r *Found, list inferior.Embedded[Queue]) (bool, error) {
	l, err := q.links(r, q.lists()-1)
	return l.queue == list.Ptr(), err
}

// isInNone says whether a request stands in no list.
func (q *MQ) isInNone(r *Found) (bool, error) {
	all, err := q.r.Pointers(r.In.Addr(), q.lists())
	for _, list := range all {
		if list != 0 {
			return false, err
		}
	}
	return true, err
}
