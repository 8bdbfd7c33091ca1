package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A message is too long for the receive that it matches, whichever of those that are posted that is; what is not known of
// it, of a receive that may match it too, or of who has sent it, leaves that open.
func TestTruncations(t *testing.T) {
	posted := func(r *madeRank, from, tag int32, room int64) *mqs.PendingOperation {
		r.irecv(worldID, from, tag)
		ops := r.on(worldID).Queue[mqs.PendingReceives].Operations
		op := &ops[len(ops)-1]
		op.DesiredLength = mqs.Known(room)
		return op
	}
	comes := func(m *made, from int, length int64) *mqs.PendingOperation {
		op := m.rank(from).message(worldID, 0, 7)
		op.ActualLength = mqs.Known(length)
		return op
	}
	matched := func(m *made, from int32, length, room int64) *mqs.PendingOperation {
		op := posted(m.rank(0), from, 7, room)
		op.Status, op.ActualLocalRank, op.ActualTag, op.ActualLength = mqs.Matched, mqs.Known(from), mqs.Known[int32](7), mqs.Known(length)
		return op
	}
	for name, c := range map[string]struct {
		make func(m *made)
		is   bool
	}{
		"it has room":      {func(m *made) { posted(m.rank(0), 1, 7, 8); comes(m, 1, 8) }, false},
		"it has not":       {func(m *made) { posted(m.rank(0), 1, 7, 8); comes(m, 1, 9) }, true},
		"it has none":      {func(m *made) { posted(m.rank(0), 1, 7, 0); comes(m, 1, 1) }, true},
		"an empty message": {func(m *made) { posted(m.rank(0), 1, 7, 0); comes(m, 1, 0) }, false},
		"another one has":  {func(m *made) { posted(m.rank(0), 1, 7, 8); posted(m.rank(0), wild, 7, 9); comes(m, 1, 9) }, false},
		"another one may have": {func(m *made) {
			posted(m.rank(0), 1, 7, 8)
			posted(m.rank(0), wild, 7, 0).DesiredLength.Known = false
			comes(m, 1, 9)
		}, false},
		"one from another rank has": {func(m *made) { posted(m.rank(0), 1, 7, 8); posted(m.rank(0), 2, 7, 9); comes(m, 1, 9) }, true},
		"one for another tag has":   {func(m *made) { posted(m.rank(0), 1, 7, 8); posted(m.rank(0), 1, 8, 9); comes(m, 1, 9) }, true},
		"one for any tag has":       {func(m *made) { posted(m.rank(0), 1, 7, 8); posted(m.rank(0), 1, -1, 9); comes(m, 1, 9) }, false},
		"one that has matched has": {func(m *made) {
			posted(m.rank(0), 1, 7, 8)
			posted(m.rank(0), 1, 7, 9).Status = mqs.Complete
			comes(m, 1, 9)
		}, true},
		"one from nobody knows whom has": {func(m *made) {
			posted(m.rank(0), 1, 7, 8)
			posted(m.rank(0), 1, 7, 9).DesiredLocalRank.Known = false
			comes(m, 1, 9)
		}, true},
		"the first of two has":  {func(m *made) { posted(m.rank(0), 1, 7, 8); comes(m, 1, 8); comes(m, 1, 9) }, false},
		"the second of two has": {func(m *made) { posted(m.rank(0), 1, 7, 8); comes(m, 1, 9); comes(m, 1, 8) }, false},
		"neither of two has":    {func(m *made) { posted(m.rank(0), 1, 7, 8); comes(m, 1, 9); comes(m, 1, 10) }, true},
		"its length is not known": {func(m *made) {
			posted(m.rank(0), 1, 7, 8)
			op := comes(m, 1, 9)
			op.ActualLength.Known, op.DesiredLength.Known = false, false
		}, false},
		"it has matched":      {func(m *made) { posted(m.rank(0), 1, 7, 8); comes(m, 1, 9).Status = mqs.Matched }, false},
		"it is the library's": {func(m *made) { posted(m.rank(0), 1, 7, 8); comes(m, 1, 9).Internal = true }, false},
		"of rank 0 itself":    {func(m *made) { posted(m.rank(0), 0, 7, 8); comes(m, 0, 9) }, true},
		"of nobody knows whom": {func(m *made) {
			posted(m.rank(0), wild, 7, 8)
			op := comes(m, 1, 9)
			op.ActualLocalRank.Known, op.DesiredLocalRank.Known = false, false
		}, false},
		"a match has room":                {func(m *made) { matched(m, 1, 8, 8) }, false},
		"a match has none":                {func(m *made) { matched(m, 1, 9, 8) }, true},
		"a match with rank 0 itself":      {func(m *made) { matched(m, 0, 9, 8) }, true},
		"a match that is complete":        {func(m *made) { matched(m, 1, 9, 8).Status = mqs.Complete }, true},
		"a match that is none":            {func(m *made) { matched(m, 1, 9, 8).Status = mqs.Pending }, false},
		"a match of the library's":        {func(m *made) { matched(m, 1, 9, 8).Internal = true }, false},
		"a match of an unknown length":    {func(m *made) { matched(m, 1, 9, 8).ActualLength.Known = false }, false},
		"a match for an unknown length":   {func(m *made) { matched(m, 1, 9, 8).DesiredLength.Known = false }, false},
		"a match with nobody knows whom":  {func(m *made) { matched(m, 1, 9, 8).ActualLocalRank.Known = false }, false},
		"a match with a rank that's none": {func(m *made) { matched(m, 1, 9, 8).ActualLocalRank.Value = 5 }, false},
	} {
		m := newMade(3)
		c.make(m)
		for i := range 3 {
			m.rank(i).enters(worldID, "MPI_Win_wait") // whether they hang is not known
		}
		j := newJob(m.Snapshot)
		j.communicators()
		j.messages()
		n := newMisses(&analysis{job: j}, nil)
		n.checkLengths()
		if got := len(n.found); got != map[bool]int{true: 1}[c.is] {
			t.Errorf("%s: %d are told of", name, got)
		}
	}
}
