package transport

import (
	"github.com/mpi-queues/mpi-queues/mqs"
)

// Tags is how an MPI puts the envelope of a message into a tag of a transport's.
type Tags struct {
	// Context, Rank and Tag are where in a tag the parts of an envelope stand.
	Context, Rank, Tag Bits
	// AnyTag are bits that the mask of each receive of a single tag has, and none of one of any tag.
	AnyTag uint64
	// IsInternal says whether a message is one that the library has made for itself. Of a receive of
	// any tag the envelope's is 0.
	IsInternal func(Envelope) bool
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

// Envelope is what a tag says of a message.
type Envelope struct {
	// Context is what its receiver calls the communicator.
	Context uint64
	// Source is the local rank of its sender, and Tag the program's.
	Source, Tag int32
	// Raw is the tag as the transport has it.
	Raw uint64
}

// Envelope reads a tag.
func (t *Tags) Envelope(tag uint64) Envelope {
	return Envelope{Context: uint64(t.Context.Of(tag)), Source: int32(t.Rank.Of(tag)), Tag: int32(t.Tag.Of(tag)), Raw: tag}
}

// IsAnyTag says whether a receive with this mask looks at no tag.
func (t *Tags) IsAnyTag(mask uint64) bool { return mask&t.AnyTag == 0 }

// IsAnyRank says whether a receive with this mask looks at no rank.
func (t *Tags) IsAnyRank(mask uint64) bool { return mask&t.Rank.Mask() == 0 }

// Remarks of the extra text and notes that hold for all transports.
const (
	// OffloadedText is said of a receive that a network card has.
	OffloadedText = "given to the network card for matching"
	// OffloadNote says what is missing where a network card matches messages.
	OffloadNote = "a network card matches messages too: those that it holds are not among the unexpected ones"
)

// Ask fills in what a receive has asked for, but its buffer.
func (t *Tags) Ask(op *mqs.PendingOperation, c *mqs.Communicator, r *Receive) {
	e := t.Envelope(r.Tag)
	op.TagWild = mqs.Known(t.IsAnyTag(r.Mask))
	if op.TagWild.Value {
		e.Tag = 0
	} else {
		op.DesiredTag = mqs.Known(e.Tag)
	}
	op.Internal = t.IsInternal(e)
	op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(e.Source), c.GlobalRank(e.Source)
	if t.IsAnyRank(r.Mask) {
		op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(int32(mqs.AnyRank)), mqs.Known(int32(mqs.AnyRank))
	}
}

// Arrive fills in what a message says of itself.
func (t *Tags) Arrive(op *mqs.PendingOperation, c *mqs.Communicator, tag uint64, length mqs.Maybe[int64]) {
	e := t.Envelope(tag)
	op.ActualLocalRank, op.ActualGlobalRank, op.ActualTag = mqs.Known(e.Source), c.GlobalRank(e.Source), mqs.Known(e.Tag)
	op.ActualLength = length
	op.Internal = t.IsInternal(e)
}
