package dll

import (
	"encoding/binary"
	"strings"
	"unsafe"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// What a DLL writes into the standard's structures is read with care. Ranks and tags are 32-bit values
// whose upper half may be anything; members that make no sense for an operation may be left over from
// another one; and what can't be a rank or a size is not shown.

// rankOf returns a rank, or [mqs.AnyRank] if that makes sense.
func rankOf(w abi.TwordT, any bool) mqs.Maybe[int32] {
	r := int32(w)
	if r >= 0 && r < wire.MaxRank || r == mqs.AnyRank && any {
		return mqs.Known(r)
	}
	return mqs.Maybe[int32]{}
}

// lengthOf returns a length in bytes.
func lengthOf(w abi.TwordT) mqs.Maybe[int64] {
	if w < 0 {
		return mqs.Maybe[int64]{}
	}
	return mqs.Known(int64(w))
}

// The host fills the structures with bytes of 0xa5 before a DLL writes to them. A value that still
// reads so was not written.
const (
	unwrittenInt32 = -0x5a5a5a5b
	unwrittenAddr  = ^abi.TaddrT(0) / 0xff * 0xa5
)

// flagOf returns a C truth value.
func flagOf(v int32) mqs.Maybe[bool] {
	if v == unwrittenInt32 {
		return mqs.Maybe[bool]{}
	}
	return mqs.Known(v != 0)
}

// tagOf returns a tag.
func tagOf(w abi.TwordT) mqs.Maybe[int32] {
	if int32(w) == unwrittenInt32 {
		return mqs.Maybe[int32]{}
	}
	return mqs.Known(int32(w))
}

// addrOf returns an address.
func addrOf(a abi.TaddrT) mqs.Maybe[inferior.Addr] {
	if a == unwrittenAddr {
		return mqs.Maybe[inferior.Addr]{}
	}
	return mqs.Known(inferior.Addr(a))
}

// textOf returns a text. Its bytes may be in an unknown encoding.
func textOf(array []byte) string { return strings.ToValidUTF8(abi.Text(array), "\uFFFD") }

// communicator translates mqs_communicator and its group.
func communicator(raw *wire.Communicator) (c mqs.Communicator, ok bool) {
	if len(raw.Raw) != int(unsafe.Sizeof(abi.Communicator{})) {
		return c, false
	}
	m := rawCommunicator(raw)
	c.UniqueID = inferior.Addr(m.UniqueID)
	c.LocalRank = rankOf(m.LocalRank, false)
	if size := rankOf(m.Size, false); size.Known && size.Value > 0 {
		c.Size = size
	}
	if name := textOf(m.Name[:]); name != "" {
		c.Name = mqs.Known(name)
	}
	group := raw.Group[:len(raw.Group)-len(raw.Group)%4]
	for i := 0; i < len(group); i += 4 {
		r := int32(binary.NativeEndian.Uint32(group[i:]))
		c.Group = append(c.Group, rankOf(abi.TwordT(r), false))
	}
	return c, c.Group == nil || c.Size.Known && len(c.Group) == int(c.Size.Value)
}

// operations returns the structures that a host has sent.
func operations(raw []byte) []abi.PendingOperation {
	n := len(raw) / int(unsafe.Sizeof(abi.PendingOperation{}))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*abi.PendingOperation)(unsafe.Pointer(&raw[0])), n)
}

// operation translates mqs_pending_operation of a queue.
func operation(m *abi.PendingOperation, class mqs.OpClass) mqs.PendingOperation {
	receive := class == mqs.PendingReceives
	op := mqs.PendingOperation{
		Status:            status(m.Status),
		DesiredLocalRank:  rankOf(m.DesiredLocalRank, receive),
		DesiredGlobalRank: rankOf(m.DesiredGlobalRank, false),
		TagWild:           flagOf(m.TagWild),
		DesiredLength:     lengthOf(m.DesiredLength),
		SystemBuffer:      flagOf(m.SystemBuffer),
		Buffer:            addrOf(m.Buffer),
	}
	if op.DesiredLocalRank.Known && op.DesiredLocalRank.Value == mqs.AnyRank {
		op.DesiredGlobalRank = op.DesiredLocalRank
	}
	// LAM/MPI 7.1's DLL looks for MPI_ANY_TAG in a word that holds an int without its sign, and so never sets tag_wild (dll_lam.c,
	// fetch_request). MPI_ANY_TAG is -1 in all MPIs that have a DLL, and no message has it.
	if receive && int32(m.DesiredTag) == mpiAnyTag {
		op.TagWild = mqs.Known(true)
	}
	if !op.TagWild.Value {
		op.DesiredTag = tagOf(m.DesiredTag)
	}
	if isTooWide(m.DesiredTag) && isTooWide(m.DesiredLength) {
		op.DesiredLength = mqs.Maybe[int64]{}
	}
	// These are valid "if status >= matched or it's a send" (mpi_interface.h).
	if !receive || op.Status != mqs.Pending {
		op.ActualLocalRank = rankOf(m.ActualLocalRank, false)
		op.ActualGlobalRank = rankOf(m.ActualGlobalRank, false)
		op.ActualTag = tagOf(m.ActualTag)
		op.ActualLength = lengthOf(m.ActualLength)
	}
	for i := range m.ExtraText {
		line := textOf(m.ExtraText[i][:])
		if line == "" {
			break
		}
		op.ExtraText = append(op.ExtraText, line)
	}
	return op
}

// mpiAnyTag is MPI_ANY_TAG.
const mpiAnyTag = -1

// isTooWide reports whether a DLL has read a whole word where the process has an int: the upper half then is whatever follows the
// int in memory. LAM/MPI 7.1's DLL reads tags and lengths of unexpected messages so (dll_lam.c, fetch_unexpected). The lower
// half of such a tag is still right. A length may need its upper half, so such a length is unknown.
func isTooWide(w abi.TwordT) bool {
	upper := int32(int64(w) >> 32)
	return upper != 0 && upper != -1 && upper != unwrittenInt32
}

// impossible says whether a DLL has written an impossible value.
func impossible(m *abi.PendingOperation) bool {
	for _, rank := range []abi.TwordT{m.DesiredLocalRank, m.DesiredGlobalRank} {
		if r := int32(rank); r < mqs.AnyRank && r != unwrittenInt32 || r >= wire.MaxRank {
			return true
		}
	}
	return status(m.Status) == "" && m.Status != unwrittenInt32 || m.DesiredLength < 0 && int32(m.DesiredLength) != unwrittenInt32
}

// status translates enum mqs_status. It is empty if the value is none of the enum's.
func status(s int32) mqs.Status {
	switch s {
	case abi.StPending:
		return mqs.Pending
	case abi.StMatched:
		return mqs.Matched
	case abi.StComplete:
		return mqs.Complete
	}
	return ""
}

// rawCommunicator returns mqs_communicator. Its size has been checked.
func rawCommunicator(raw *wire.Communicator) *abi.Communicator {
	return (*abi.Communicator)(unsafe.Pointer(&raw.Raw[0]))
}
