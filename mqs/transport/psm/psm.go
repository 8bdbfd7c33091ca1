// Package psm reads the matched queues of psm, Omni-Path's library for messages: those of libpsm2, in which Open MPI's pml
// cm with mtl psm2 and libfabric's provider psm2 leave theirs, and those of libfabric's provider psm3, which has them
// within itself. Tags have 96 bits: what they mean is the user's to say.
package psm

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Name is what people call libpsm2.
const Name = "PSM2"

// MQ is the matched queues of an endpoint. What it hands out proves its layout: pools agree with themselves, and lists
// with their lengths and with the pools.
type MQ struct {
	Types
	queues Queues
	r      *inferior.Reader
	at     inferior.Ptr[Queues]
	// isListed has the receives and the messages that are in use; it is true of those that stand in a list. Before
	// the lists were read it is nil.
	isListed map[inferior.Ptr[Request]]bool
	inOrder  []inferior.Ptr[Request] // the same, in the order of their numbers
	ways     *ways                   // nil unless they are libpsm2's
}

// Found is a request and where it is.
type Found struct {
	At inferior.Ptr[Request]
	Request
}

// Open reads queues (psm2_mq_t), of which nothing but this is proved yet.
func Open(r *inferior.Reader, l *layout.Layouts, at inferior.Ptr[Queues]) (*MQ, error) {
	q := &MQ{r: r, at: at}
	err := inferior.Bind(&q.Types, l)
	if err == nil {
		q.queues, err = q.Queues.Read(r, at)
	}
	return q, err
}

// PSM is the endpoint of psm's that they are of (psm2_ep_t).
func (q *MQ) PSM() inferior.Addr { return q.queues.PSM }

// Fit reads the queues of libpsm2, or what is built on them, by the layouts that fit: those of the debug information or of
// one of the tables.
func Fit[S any](r *inferior.Reader, at inferior.Ptr[Queues], try func(*MQ, *layout.Layouts) (S, error)) (S, error) {
	s, err := inferior.Fit(r, inferior.Queries(libraryTypes()...), tables(), nil, func(l *layout.Layouts) (S, error) {
		var none S
		var types wayTypes
		if err := inferior.Bind(&types, l); err != nil {
			return none, err
		}
		q, err := Open(r, l, at)
		if err == nil {
			err = q.openWays(types)
		}
		if err != nil {
			return none, err
		}
		return try(q, l)
	})
	var noFit *inferior.NoFitError
	if errors.As(err, &noFit) {
		return s, fmt.Errorf("libpsm2 has no type information that fits, and none of the layouts of it that mpi-queues knows (%s) does: "+
			"install the library's debug symbols, or `set debuginfod enabled on`\n%w", noFit.Known, noFit.Why)
	}
	return s, err
}

// libraryTypes are all that are read of libpsm2.
func libraryTypes() []any { return []any{&Types{}, &wayTypes{}} }

// Posted are the posted receives, in the order of posting.
func (q *MQ) Posted() ([]Found, error) {
	all, _, err := q.pooled(q.queues.Receives)
	q.isListed, q.inOrder = map[inferior.Ptr[Request]]bool{}, all
	for _, at := range all {
		q.isListed[at] = false
	}
	var out []Found
	if err == nil {
		out, err = q.readPosted()
	}
	if err != nil {
		return nil, fmt.Errorf("the posted receives: %w", err)
	}
	slices.SortFunc(out, func(a, b Found) int { return cmp.Compare(a.Time, b.Time) })
	return out, nil
}

func (q *MQ) readPosted() (out []Found, err error) {
	take := func(r *Found) error {
		out = append(out, *r)
		if r.State != Posted {
			return fmt.Errorf("the receive at %s has state %d", r.At, r.State)
		}
		return nil
	}
	lists := q.lists()
	size := inferior.SizeOf(&q.Queues, func(of *Queues) *inferior.Embedded[Queue] { return &of.Tables })
	tables := size / q.Queue.Size()
	if lists < 2 || tables%(lists-1) != 0 {
		return nil, fmt.Errorf("a request stands in %d lists, and there are %d", lists, tables)
	}
	count, err := q.walk(q.queues.Posted.Ptr(), lists-1, take)
	if err == nil && count != int(q.queues.ListCount) {
		err = fmt.Errorf("there are %d in their list, which says %d", count, q.queues.ListCount)
	}
	if err != nil {
		return nil, err
	}
	inTables := 0
	perTable := tables / (lists - 1)
	for i := range tables {
		count, err := q.walk(inferior.At(&q.Queue, q.queues.Tables.Ptr(), i), i/perTable, take)
		if err != nil {
			return nil, err
		}
		inTables += count
	}
	if inTables != int(q.queues.TableCount) {
		return nil, fmt.Errorf("there are %d in tables, which say %d", inTables, q.queues.TableCount)
	}
	return out, nil
}

// Messages are the unexpected messages in their order, as far as the error, if there is one. The posted receives must
// have been read.
func (q *MQ) Messages() (out []Found, err error) {
	count, err := q.walk(q.queues.Messages.Ptr(), q.lists()-1, func(r *Found) error {
		if !r.isMessage() {
			return fmt.Errorf("the message at %s has state %d", r.At, r.State)
		}
		out = append(out, *r)
		return nil
	})
	if err == nil && !q.queues.mayHave(count) {
		err = fmt.Errorf("there are %d, and they say %d", count, q.queues.MessageCount)
	}
	if err != nil {
		err = fmt.Errorf("the unexpected messages: %w", err)
	}
	return out, err
}

// mayHave says whether there may be so many unexpected messages. Once they were put into tables too, a message that was
// found in a table is taken from the tables' count alone, and one that was found in the list from the list's
// (mq_req_match_with_tagsel in psm_mq.c): there are no more than either says.
func (q *Queues) mayHave(count int) bool {
	return count == int(q.MessageCount) || count < int(q.MessageCount) && count <= int(q.HashedCount)
}

// isMessage says whether it has the state of a message that no receive has matched.
func (r *Request) isMessage() bool {
	return r.State == Complete || r.State == Unexpected || r.State == Rendezvous
}

// Sends are those that are not complete, in the order of their numbers.
func (q *MQ) Sends() ([]Found, error) {
	all, _, err := q.pooled(q.queues.Sends)
	var out []Found
	for i := 0; i < len(all) && err == nil; i++ {
		var r Found
		r, err = q.read(all[i])
		switch {
		case err != nil:
		case r.MQ != q.at || r.Type&IsSend == 0:
			err = fmt.Errorf("the send at %s is another endpoint's", all[i])
		case r.State != Complete:
			out = append(out, r)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the messages on their way: %w", err)
	}
	return out, nil
}

// Ever are the requests of both pools that the queues have, those among them that are free: they keep what they had.
func (q *MQ) Ever() (out []Found, err error) {
	for _, pool := range []inferior.Ptr[Pool]{q.queues.Receives, q.queues.Sends} {
		used, free, err := q.pooled(pool)
		if err != nil {
			return nil, err
		}
		for _, at := range slices.Concat(used, free) {
			r, err := q.read(at)
			if err != nil {
				return nil, err
			}
			if r.MQ == q.at && r.Type&(IsReceive|IsSend) != 0 {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

func (q *MQ) read(at inferior.Ptr[Request]) (Found, error) {
	r, err := q.Request.Read(q.r, at)
	return Found{at, r}, err
}
