package psm

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// MessageAt reads a message that no receive has got. One that the user has taken out of the list is in use, and in no list.
// It fails with [transport.ErrNoMessage] if there is none. The posted receives must have been read.
func (q *MQ) MessageAt(at inferior.Ptr[Request]) (r Found, isTaken bool, err error) {
	if _, isOne := q.isListed[at]; !isOne {
		return r, false, fmt.Errorf("there is no message at %s: %w", at, transport.ErrNoMessage)
	}
	if r, err = q.read(at); err != nil {
		return r, false, err
	}
	isUnexpected, err := q.isIn(&r, q.queues.Messages)
	if err == nil && !isUnexpected {
		isTaken, err = q.isInNone(&r)
	}
	if err == nil && (!isUnexpected && !isTaken || r.MQ != q.at || r.Type&IsReceive == 0 || !r.isMessage()) {
		err = fmt.Errorf("there is no message at %s: %w", at, transport.ErrNoMessage)
	}
	return r, isTaken, err
}

// Matched are the receives that have matched and that the user has not been told of as complete, in the order of their
// numbers. The lists must have been read.
func (q *MQ) Matched() (out []Found, err error) {
	for _, at := range q.inOrder {
		if q.isListed[at] {
			continue
		}
		r, err := q.read(at)
		if err != nil {
			return nil, err
		}
		isMatched := r.State == Matched
		if r.State == Complete {
			if isMatched, err = q.isIn(&r, q.queues.Completed); err != nil {
				return nil, err
			}
		}
		if isMatched && r.MQ == q.at {
			out = append(out, r)
		}
	}
	return out, nil
}
