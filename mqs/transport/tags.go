package transport

import (
	"github.com/mpi-queues/mpi-queues/mqs"
)

// Tags is how an MPI puts the envelope of a message into a tag of a transport's.
type Tags struct {
	// Context, Rank and Tag are where in a tag the parts of an envelope stand. Rank has no bits if the
	// sender's rank travels beside the tag: then the peer tells it.
	Context, Rank, Tag Bits
	// AnyTag are bits that the mask of each receive of a single tag has, and none of one of any tag.
	AnyTag uint64
	// IsInternal says whether a message is one that the library has made for itself. Of a receive of
	// any tag the envelope's is 0.
	IsInternal func(Envelope) bool
	// RankOf returns the local rank of a peer among those of a communicator, where Rank has no bits.
	RankOf func(c *mqs.Communicator, p Peer) mqs.Maybe[int32]
	// IsRankBeside is true if what stands beside the tag is the sender's local rank: it tells where the peer does not.
	IsRankBeside bool
}

// Bits are neighbouring bits of a tag.
type Bits struct {
	Shift, Width uint
	// Signed is true if the highest of them is a sign.
	Signed bool
}

// Mask has the bits set.
func (b Bits) Mask() uint64 { return (1<<b.Width - 1) << b.Shift }

// Of is the number that stands in the bits of a tag.
func (b Bits) Of(tag uint64) int64 {
	if b.Signed {
		return int64(tag<<(64-b.Shift-b.Width)) >> (64 - b.Width)
	}
	return int64(tag & b.Mask() >> b.Shift)
}

// Truncate is what the bits can hold of a number.
func (b Bits) Truncate(v uint64) uint64 { return v & (1<<b.Width - 1) }

// Envelope is what a tag says of a message.
type Envelope struct {
	// Context is what its receiver calls the communicator.
	Context uint64
	// Source is the local rank of its sender, not known if that travels beside the tag.
	Source mqs.Maybe[int32]
	// Tag is the program's.
	Tag int32
	// Raw is the tag as the transport has it.
	Raw uint64
}

// Envelope reads a tag.
func (t *Tags) Envelope(tag uint64) Envelope {
	return Envelope{Context: uint64(t.Context.Of(tag)), Source: mqs.Maybe[int32]{Value: int32(t.Rank.Of(tag)), Known: t.hasRank()}, Tag: int32(t.Tag.Of(tag)), Raw: tag}
}

// hasRank says whether a tag has the sender's rank.
func (t *Tags) hasRank() bool { return t.Rank.Width > 0 }

// source is the local rank that a tag, a peer or what stands beside the tag is of.
func (t *Tags) source(c *mqs.Communicator, tag uint64, p Peer, beside mqs.Maybe[uint64]) mqs.Maybe[int32] {
	rank := t.Envelope(tag).Source
	if !t.hasRank() && p.Known {
		rank = t.RankOf(c, p)
	}
	if !rank.Known && t.IsRankBeside && beside.Known && beside.Value < uint64(len(c.Peers())) {
		return mqs.Known(int32(beside.Value))
	}
	return rank
}

// IsAnyTag says whether a receive looks at no tag.
func (t *Tags) IsAnyTag(r *Receive) bool { return r.Mask&t.AnyTag == 0 }

// IsAnySource says whether a receive looks at no sender.
func (t *Tags) IsAnySource(r *Receive) bool {
	if t.hasRank() {
		return r.Mask&t.Rank.Mask() == 0
	}
	return !r.Peer.Known && (!t.IsRankBeside || !r.Beside.Known)
}
