package waitfor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A rank that can't be stopped is not read: whether it is inside MPI is unknown, and so is which ranks it waits for. What the
// kernel shows of it says why it can't be stopped.

// isUnstoppable reports whether the rank could not be stopped, so that it was not read.
func (r *rank) isUnstoppable() bool {
	return r.process != nil && r.process.Hold != "" && len(r.process.Threads) == 0 && !r.gone()
}

// holdWords says why such a rank can't be stopped, as the rest of "it is".
func (r *rank) holdWords() string { return mqs.HoldWords(r.process.Hold, r.process.KernelThreads) }

// whichUncertain says of a rank why too little is known of it, as a relative clause: "which is in uninterruptible
// sleep in openat on /data/mesh.h5".
func (a *analysis) whichUncertain(rank int32) string {
	if r := &a.ranks[rank]; r.isUnstoppable() {
		return "which is " + r.holdWords()
	}
	return "of which too little is known: " + a.whyUncertain(rank)
}

// whoIsUnstoppable names the ranks that could not be stopped, and says why; it is empty if there are none.
func (a *analysis) whoIsUnstoppable() string {
	by := map[string][]int32{}
	for _, rank := range a.which((*rank).isUnstoppable) {
		words := a.ranks[rank].holdWords()
		by[words] = append(by[words], rank)
	}
	var out []string
	for words, ranks := range by {
		out = append(out, fmt.Sprintf("%s %s %s.", capital(rankWords(ranks)), verb(ranks, "is", "are"), words))
	}
	slices.Sort(out)
	if len(out) > maxReasons {
		out = append(out[:maxReasons], "More ranks can't be stopped.")
	}
	return strings.Join(out, " ")
}

// unstoppableNotes returns what the kernel shows of ranks that could not be stopped.
func (a *analysis) unstoppableNotes() []string {
	var out []string
	for _, rank := range a.which((*rank).isUnstoppable) {
		threads := a.ranks[rank].process.KernelThreads
		if len(threads) == 0 {
			continue
		}
		if len(out) == maxReasons {
			return append(out, "More ranks could not be stopped: `mpi-queues dump --json' lists what the kernel shows of them.")
		}
		text := fmt.Sprintf("What the kernel shows of rank %d: %s", rank, threads[0].Words())
		switch more := len(threads) - 1; more {
		case 0:
		case 1:
			text += ", and 1 more thread"
		default:
			text += fmt.Sprintf(", and %d more threads", more)
		}
		out = append(out, text+".")
	}
	return out
}
