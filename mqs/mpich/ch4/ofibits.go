package ch4

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// ofiBits is how the module puts an envelope into a tag of libfabric (MPIDI_OFI_init_sendtag and what is beside
// it in src/mpid/ch4/netmod/ofi/ofi_impl.h and ofi_types.h, 4.0): the tag below, the context above it, and the bits of
// its protocol above all that is left for them. The source travels beside the tag, whether or not there are bits for it.
type ofiBits struct {
	tag      uint // number of bits
	context  uint // the same
	protocol uint // place of the lowest bit
}

// Bits of the module's protocol, from the lowest one on.
const (
	ofiAnswered = 1 << iota // the answer to a synchronous send
	ofiSync                 // a synchronous send
	ofiDynamic              // of MPI_Comm_connect and the like
	ofiHuge                 // a message that is longer than the provider can have
)

// ofiProtocol are those that a receive does not look at.
const ofiProtocol = ofiSync | ofiDynamic | ofiHuge

// ofiBitsOf is how the module has been set to put tags together.
func ofiBitsOf(s ofiSettings) (ofiBits, error) {
	const least, most, protocolBits = 8, 60, 4
	if s.TagBits < least || s.TagBits > 31 || s.ContextBits < least || s.ContextBits > 32 || s.SourceBits < 0 || s.ContextBits+s.SourceBits+s.TagBits > most {
		return ofiBits{}, fmt.Errorf("the module's tags have %d bits for contexts, %d for ranks and %d for tags", s.ContextBits, s.SourceBits, s.TagBits)
	}
	return ofiBits{tag: uint(s.TagBits), context: uint(s.ContextBits), protocol: uint(s.ContextBits + s.SourceBits + s.TagBits)}, nil
}

// of is a part of the protocol in a tag.
func (b ofiBits) of(protocol uint64) uint64 { return protocol << b.protocol }

func (b ofiBits) tags() *transport.Tags {
	tag := transport.Bits{Width: b.tag}
	return &transport.Tags{
		Context: transport.Bits{Shift: b.tag, Width: b.context},
		Tag:     tag,
		AnyTag:  tag.Mask(),
		IsInternal: func(e transport.Envelope) bool {
			return e.Raw&b.of(ofiAnswered|ofiDynamic) != 0 || e.Context&mpir.ContextOwn != 0
		},
	}
}

// errOtherOFITags means that an MPICH is of a release that puts its tags together in another way.
var errOtherOFITags = errors.New("receives have masks that mpi-queues does not know for how this MPICH puts tags together")

// proveMask accepts what looks at all but the protocol, and at the tag or not. It proves the bits.
func (b ofiBits) proveMask(mask uint64) error {
	if tag := (transport.Bits{Width: b.tag}); mask|tag.Mask() != ^b.of(ofiProtocol) || mask&tag.Mask() != 0 && mask&tag.Mask() != tag.Mask() {
		return errOtherOFITags
	}
	return nil
}
