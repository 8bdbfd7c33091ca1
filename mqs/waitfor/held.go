package waitfor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A rank that can't be stopped is not read: whether it is inside MPI is unknown, and whom it waits for. What the kernel
// shows of it says why it does not answer.

// isHeld says whether the rank could not be stopped.
func (r *rank) isHeld() bool {
	return r.process != nil && r.process.Hold != "" && len(r.process.Threads) == 0 && !r.gone()
}

// holdWords says what holds such a rank, as the rest of "it is".
func (r *rank) holdWords() string { return mqs.HoldWords(r.process.Hold, r.process.KernelThreads) }

// whichUncertain says of a rank why too little is known of it, as a relative clause: "which is in uninterruptible
// sleep in openat on /data/mesh.h5".
func (a *analysis) whichUncertain(rank int32) string {
	if r := &a.ranks[rank]; r.isHeld() {
		return "which is " + r.holdWords()
	}
	return "of which too little is known: " + a.whyUncertain(rank)
}

// whoIsHeld names the ranks that could not be stopped, and what holds them; empty if there are none.
func (a *analysis) whoIsHeld() string {
	by := map[string][]int32{}
	for _, rank := range a.which((*rank).isHeld) {
		words := a.ranks[rank].holdWords()
		by[words] = append(by[words], rank)
	}
	var out []string
	for words, ranks := range by {
		out = append(out, fmt.Sprintf("%s %s %s.", capital(rankWords(ranks)), verb(ranks, "is", "are"), words))
	}
	slices.Sort(out)
	if len(out) > maxReasons {
		out = append(out[:maxReasons], "Others are held elsewhere.")
	}
	return strings.Join(out, " ")
}

// heldNotes says what the kernel shows of ranks that could not be stopped.
func (a *analysis) heldNotes() []string {
	var out []string
	for _, rank := range a.which((*rank).isHeld) {
		threads := a.ranks[rank].process.KernelThreads
		if len(threads) == 0 {
			continue
		}
		if len(out) == maxReasons {
			return append(out, "There are more ranks that could not be stopped: the JSON report has what the kernel shows of them.")
		}
		text := fmt.Sprintf("What the kernel shows of rank %d: %s", rank, threads[0].Words())
		if len(threads) > 1 {
			text += fmt.Sprintf(", and %d more threads", len(threads)-1)
		}
		out = append(out, text+".")
	}
	return out
}
