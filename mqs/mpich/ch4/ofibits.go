package ch4

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// ofiBits is how the module puts an envelope into a tag of libfabric (MPIDI_OFI_init_sendtag and what is beside
// it in src/mpid/ch4/netmod/ofi/ofi_impl.h and ofi_types.h, 4.0 to 5.0): the tag below, the context above it, and the bits
// of its protocol above all that is left for them. The source travels beside the tag, or from 4.2 on between the two, if
// there are bits for it.
type ofiBits struct {
	tag      uint // number of bits
	rank     uint // the same
	context  uint // the same
	protocol uint // place of the lowest bit
	*ofiProtocol
}

// ofiProtocol is what the bits of the module's protocol mean, counted from the lowest one on, of which there are at least
// as many as width. The lowest is always the answer to a send.
type ofiProtocol struct {
	width uint
	// others set messages apart that no receive of the program's gets: answers, those of MPI_Comm_connect and the like, pieces
	// of data, and the module's own.
	others uint64
	// ignored are those that a receive does not look at, that of a synchronous send among them. The highest says that more
	// of the message follows elsewhere.
	ignored uint64
	// hasRank is true if a tag has the sender's rank where there are bits for it.
	hasRank bool
}

// ofiAnswered is the answer to a send.
const ofiAnswered = 1

// The protocol's bits as they are from each of these releases on (MPIDI_OFI_SYNC_SEND_ACK and those below it in
// ofi_types.h). From 4.3 on there is one more for the module's own messages, and in 5.0 it is that of pieces of data before.
var (
	ofiProtocol40 = ofiProtocol{width: 4, others: ofiAnswered | 4, ignored: 2 | 4 | 8}
	ofiProtocol41 = ofiProtocol{width: 4, others: ofiAnswered | 2, ignored: 4 | 8}
	ofiProtocol42 = ofiProtocol{width: 5, others: ofiAnswered | 2 | 4 | 32, ignored: 8 | 16, hasRank: true}
)

// ofiBitsOf is how the module has been set to put tags together.
func ofiBitsOf(s ofiSettings, p *ofiProtocol) (ofiBits, error) {
	const least = 8
	most := int32(64 - p.width)
	if s.TagBits < least || s.TagBits > 31 || s.ContextBits < least || s.ContextBits > 32 || s.SourceBits < 0 || s.ContextBits+s.SourceBits+s.TagBits > most {
		return ofiBits{}, fmt.Errorf("the module's tags have %d bits for contexts, %d for ranks and %d for tags", s.ContextBits, s.SourceBits, s.TagBits)
	}
	out := ofiBits{tag: uint(s.TagBits), context: uint(s.ContextBits), protocol: uint(s.ContextBits + s.SourceBits + s.TagBits), ofiProtocol: p}
	if p.hasRank {
		out.rank = uint(s.SourceBits)
	}
	return out, nil
}

// of is a part of the protocol in a tag.
func (b ofiBits) of(protocol uint64) uint64 { return protocol << b.protocol }

// isApart says whether no receive of the program's gets what has a tag.
func (b ofiBits) isApart(tag uint64) bool { return tag&b.of(b.others) != 0 }

// isLong says whether there is more of a message than libfabric has by its tag.
func (b ofiBits) isLong(tag uint64) bool { return tag>>b.protocol&(1<<(bits.Len64(b.ignored)-1)) != 0 }

// beforeContext is how many bits of a tag are below the context.
func (b ofiBits) beforeContext() uint { return b.tag + b.rank }

func (b ofiBits) tags() *transport.Tags {
	tag := transport.Bits{Width: b.tag}
	return &transport.Tags{
		Context: transport.Bits{Shift: b.beforeContext(), Width: b.context},
		Rank:    transport.Bits{Shift: b.tag, Width: b.rank},
		Tag:     tag,
		AnyTag:  tag.Mask(),
		IsInternal: func(e transport.Envelope) bool {
			return b.isApart(e.Raw) || e.Context&mpir.ContextOwn != 0
		},
	}
}

// errOtherOFITags means that an MPICH is of a release that puts its tags together in another way.
var errOtherOFITags = errors.New("receives have masks that mpi-queues does not know for how this MPICH puts tags together")

// proveMask accepts what looks at all but the protocol, and at the tag or not, as at the rank if there is one. It proves
// the bits.
func (b ofiBits) proveMask(mask uint64) error {
	all := ^uint64(0)
	for _, may := range []transport.Bits{{Width: b.tag}, {Shift: b.tag, Width: b.rank}} {
		if part := may.Mask(); mask&part != 0 && mask&part != part {
			return errOtherOFITags
		}
		mask |= may.Mask()
	}
	if mask != all&^b.of(b.ignored) {
		return errOtherOFITags
	}
	return nil
}
