package ofi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// maxQueued bounds a queue.
const maxQueued = 1 << 26

// An ofi_dyn_arr has a chunk of items for each kibi of indices (include/ofi_indexer.h, 2.1).
const (
	listChunks   = 1 << 10
	listsInChunk = 1 << 10
)

// link is an element of a ring.
type link struct {
	Next inferior.Ptr[link] `c:"next"`
	Prev inferior.Ptr[link] `c:"prev"`
}

// list is a list with its end.
type list struct {
	Head inferior.Addr `c:"head"`
	Tail inferior.Addr `c:"tail"`
}

// ring walks a ring and hands each of its elements to read, which returns the element's links.
func ring(head link, at inferior.Ptr[link], read func(inferior.Ptr[link]) (link, error)) error {
	before := at
	next := func(l inferior.Ptr[link]) (inferior.Ptr[link], error) {
		links, err := read(l)
		switch {
		case err != nil:
			return 0, err
		case links.Prev != before:
			return 0, fmt.Errorf("the element at %s does not follow the one before", l)
		case links.Next == 0:
			return 0, fmt.Errorf("the element at %s has none behind it", l)
		}
		before = l
		return links.Next, nil
	}
	if head.Next == 0 {
		return fmt.Errorf("the ring at %s has not been made", at)
	}
	for _, err := range inferior.Walk(head.Next, at, maxQueued, next) {
		if err != nil {
			return err
		}
	}
	if head.Prev != before {
		return errors.New("it does not end where it says")
	}
	return nil
}

// each walks a list, no element of which is in another one, and hands each to read, which returns what comes next.
func each[T any](l list, seen *inferior.Addrs, read func(inferior.Ptr[T]) (inferior.Ptr[T], error)) error {
	var last inferior.Ptr[T]
	next := func(at inferior.Ptr[T]) (inferior.Ptr[T], error) {
		after, err := read(at)
		last = at
		return after, err
	}
	mark := func(at inferior.Ptr[T]) bool { return seen.Add(at.Addr()) }
	for _, err := range inferior.WalkMarking(inferior.Ptr[T](l.Head), 0, maxQueued, next, mark) {
		if err != nil {
			return err
		}
	}
	if l.Head != 0 && last.Addr() != l.Tail {
		return fmt.Errorf("the list from %s does not end at %s", l.Head, l.Tail)
	}
	return nil
}

// eachPeersList hands the lists of an ofi_dyn_arr, whose pointers to chunks begin at an address, to read, each with the
// peer that it is of.
func (e *Endpoint) eachPeersList(chunksAt inferior.Addr, read func(peer uint64, l list) error) error {
	chunks, err := e.r.Pointers(chunksAt, listChunks)
	if err != nil {
		return err
	}
	width := e.List.Size()
	for i, chunk := range chunks {
		if chunk == 0 {
			continue
		}
		if err := e.r.Spend(width * listsInChunk); err != nil {
			return err
		}
		all, err := e.r.Bytes(chunk, width*listsInChunk)
		if err != nil {
			return err
		}
		for k := range listsInChunk {
			l, _ := inferior.Decode(&e.List, e.r, all[k*width:])
			if err := read(uint64(i*listsInChunk+k), l); err != nil {
				return err
			}
		}
	}
	return nil
}

// readPostedIn reads the posted receives where those from any peer and those from each stand in lists of their own, and are
// numbered together. from reads a list.
func (e *Endpoint) readPostedIn(fromAny list, byPeer inferior.Addr, from func(peer uint64, l list, seen *inferior.Addrs) error) error {
	var seen inferior.Addrs
	read := func(peer uint64, l list) error { return from(peer, l, &seen) }
	err := read(AnyPeer, fromAny)
	if err == nil {
		err = e.eachPeersList(byPeer, read)
	}
	if err != nil {
		return fmt.Errorf("the posted receives: %w", err)
	}
	slices.SortFunc(e.queues.Posted, func(a, b transport.Receive) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return nil
}
