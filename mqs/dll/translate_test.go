package dll

import (
	"testing"
	"unsafe"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
)

// word is a word as a DLL writes it, cut to what a word has here.
func word(v uint64) abi.TwordT { return abi.TwordT(v) }

// TestAnyTagWithoutSign checks that a receive for any tag is shown as one where the DLL has lost the sign of MPI_ANY_TAG, as LAM/MPI
// 7.1's does: such a tag matches no message that could be named.
func TestAnyTagWithoutSign(t *testing.T) {
	t.Parallel()
	m := &abi.PendingOperation{DesiredTag: word(0xffffffff)}
	if op := operation(m, mqs.PendingReceives); op.TagWild != mqs.Known(true) || op.DesiredTag.Known {
		t.Errorf("the receive is %+v", op)
	}
	if op := operation(m, mqs.PendingSends); op.TagWild != mqs.Known(false) || op.DesiredTag != mqs.Known[int32](-1) {
		t.Errorf("the send is %+v", op)
	}
}

// TestLengthOfTooWideWords checks that a length is unknown if the DLL reads whole words where the process has ints, as LAM/MPI 7.1's
// does of unexpected messages: its upper half is then the next member, here the tag.
func TestLengthOfTooWideWords(t *testing.T) {
	t.Parallel()
	if unsafe.Sizeof(abi.TwordT(0)) < 8 {
		t.Skip("an int fills a word here")
	}
	m := &abi.PendingOperation{DesiredLength: word(11<<32 | 800), DesiredTag: word(2<<32 | 11), DesiredLocalRank: word(3<<32 | 1)}
	op := operation(m, mqs.UnexpectedMessages)
	if op.DesiredLength.Known || op.DesiredTag != mqs.Known[int32](11) || op.DesiredLocalRank != mqs.Known[int32](1) {
		t.Errorf("the message is %+v", op)
	}
	m.DesiredLength = 800
	if op := operation(m, mqs.UnexpectedMessages); op.DesiredLength != mqs.Known[int64](800) {
		t.Errorf("where the next member is 0, the length is %+v", op.DesiredLength)
	}
	for _, tag := range []abi.TwordT{11, -1, unwrittenInt32, word(0xffffffff)} {
		m := &abi.PendingOperation{DesiredLength: word(1 << 33), DesiredTag: tag}
		if op := operation(m, mqs.UnexpectedMessages); op.DesiredLength != mqs.Known[int64](1<<33) {
			t.Errorf("with tag %#x the length is %+v", tag, op.DesiredLength)
		}
	}
}
