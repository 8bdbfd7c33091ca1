package transport_test

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// inTag has all of an envelope in the tag: 16 bits of context, 16 of rank and a signed tag of 32.
var inTag = transport.Tags{
	Context: transport.Bits{Width: 16}, Rank: transport.Bits{Shift: 16, Width: 16}, Tag: transport.Bits{Shift: 32, Width: 32, Signed: true},
	AnyTag:     0x7fff_ffff << 32,
	IsInternal: func(e transport.Envelope) bool { return e.Tag < 0 },
}

// beside has the sender beside the tag, of 16 bits of context and a tag of 32: the peers 7, 8, … are the ranks 0, 1, …
var beside = transport.Tags{
	Context: transport.Bits{Width: 16}, Tag: transport.Bits{Shift: 32, Width: 32, Signed: true},
	AnyTag:     inTag.AnyTag,
	IsInternal: inTag.IsInternal,
	RankOf: func(c *mqs.Communicator, p transport.Peer) mqs.Maybe[int32] {
		if !p.Known {
			panic("nobody is no peer")
		}
		return mqs.Maybe[int32]{Value: int32(p.Value) - 7, Known: p.Value >= 7 && p.Value < 7+uint64(c.Size.Value)}
	},
}

// fullMask is the mask of a receive that looks at all of a tag.
const fullMask = ^uint64(0)

// anyTag is the mask of one that looks at all of it but the program's tag.
const anyTag = 0x8000_0000_ffff_ffff

// tagOf is a tag of inTag's.
func tagOf(context, rank uint16, tag int32) uint64 {
	return uint64(context) | uint64(rank)<<16 | uint64(uint32(tag))<<32
}

func TestEnvelope(t *testing.T) {
	raw := tagOf(5, 3, -16)
	if got, want := inTag.Envelope(raw), (transport.Envelope{Context: 5, Source: mqs.Known[int32](3), Tag: -16, Raw: raw}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := beside.Envelope(raw), (transport.Envelope{Context: 5, Tag: -16, Raw: raw}); got != want {
		t.Errorf("with the sender beside it: %+v, want %+v", got, want)
	}
}

func TestBits(t *testing.T) {
	for _, c := range []struct {
		bits transport.Bits
		tag  uint64
		want int64
	}{
		{transport.Bits{Width: 20}, 0xabcde_12345, 0x12345},
		{transport.Bits{Shift: 20, Width: 20}, 0xabcde_12345, 0xabcde},
		{transport.Bits{Shift: 40, Width: 24, Signed: true}, 0xffff_ff00_0000_0000, -1},
		{transport.Bits{Shift: 40, Width: 24}, 0xffff_ff00_0000_0000, 0xff_ffff},
		{transport.Bits{Shift: 32, Width: 8, Signed: true}, 0x80_ffff_ffff, -128},
		{transport.Bits{Width: 64}, fullMask - 1, -2},
		{transport.Bits{}, fullMask, 0},
	} {
		if got := c.bits.Of(c.tag); got != c.want {
			t.Errorf("%+v of %#x is %#x, want %#x", c.bits, c.tag, got, c.want)
		}
	}
	if b := (transport.Bits{Shift: 20, Width: 20}); b.Mask() != 0xfffff<<20 || b.Truncate(0x12_34567) != 0x34567 {
		t.Errorf("mask %#x, of a number %#x", b.Mask(), b.Truncate(0x12_34567))
	}
}

func TestAny(t *testing.T) {
	specific := transport.Peer{Value: 8, Known: true}
	for _, c := range []struct {
		tags            *transport.Tags
		r               transport.Receive
		isTag, isSource bool
	}{
		{&inTag, transport.Receive{Mask: fullMask}, false, false},
		{&inTag, transport.Receive{Mask: anyTag}, true, false},
		{&inTag, transport.Receive{Mask: fullMask &^ inTag.Rank.Mask()}, false, true},
		{&beside, transport.Receive{Mask: fullMask, Peer: specific}, false, false},
		{&beside, transport.Receive{Mask: anyTag}, true, true},
	} {
		if c.tags.IsAnyTag(&c.r) != c.isTag || c.tags.IsAnySource(&c.r) != c.isSource {
			t.Errorf("%+v: any tag %v, any source %v", c.r, c.tags.IsAnyTag(&c.r), c.tags.IsAnySource(&c.r))
		}
	}
}
