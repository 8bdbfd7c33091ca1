package waitfor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// initUnknown says what is not known of the start of a job: an MPI need not let ranks wait there for
// each other, so that nothing is proved by it.
const initUnknown = "how far the start of the job has come is not known"

// initWithout says why the wait of a rank in MPI_Init is unknown where other ranks did not join its job.
const initWithout = "other ranks have left MPI_Init without joining the launcher's job"

// hasNotStarted says whether a rank is known not to have called MPI_Init yet.
func (r *rank) hasNotStarted() bool {
	return r.process != nil && r.process.Phase == mqs.Starting && isPlaced(r.process) &&
		!slices.ContainsFunc(r.process.Threads, func(t mqs.Thread) bool { return behaviours[t.Call] == starts })
}

// hasLeftInit says whether MPI_Init is known to have returned on a rank.
func (r *rank) hasLeftInit() bool {
	return r.process != nil && (r.process.Phase == mqs.Active || r.process.Phase == mqs.Finished) &&
		!slices.ContainsFunc(r.process.Threads, func(t mqs.Thread) bool { return behaviours[t.Call] == starts })
}

// waitInInit is the wait of a rank in MPI_Init for those that have yet to call it. That these can move is
// known of each: a rank that is blocked before it calls MPI_Init waits for nothing that is seen here.
func (j *job) waitInInit(t *mqs.Thread) wait {
	if len(j.which(isAlone)) > 0 {
		return wait{thread: t, unknown: initWithout}
	}
	if j.toStart == nil {
		j.toStart = j.newRankSet(rankSet{all: true, ranks: j.which((*rank).hasNotStarted), call: t.Call})
		exited := j.which(func(r *rank) bool { return r.process != nil && r.process.Phase == mqs.Exited })
		switch {
		case !j.worldKnown || slices.ContainsFunc(j.ranks, func(r rank) bool { return r.process == nil || r.process.Phase == "" }):
			j.toStart.unknown = initUnknown
		case len(exited) > 0:
			j.toStart.unknown = fmt.Sprintf("%s %s exited, and whether %s had called MPI_Init is unknown", rankWords(exited), verb(exited, "has", "have"), verb(exited, "it", "they"))
		case j.hasRank((*rank).gone):
			j.toStart.unknown = initUnknown
		}
	}
	g := j.toStart
	if len(g.ranks) == 0 {
		return wait{thread: t, unknown: cmp.Or(g.unknown, initUnknown)}
	}
	return wait{thread: t, all: true, unknown: g.unknown, deps: []dependency{{rank: -1, set: g}}}
}

// whoStarts says how far the start of a job has come: which ranks have not called MPI_Init, and where they
// are.
func (a *analysis) whoStarts() string {
	late := a.which((*rank).hasNotStarted)
	if len(late) == 0 {
		return "The job is starting: no rank has left MPI_Init."
	}
	return joined(fmt.Sprintf("The job is starting: no rank has left MPI_Init, and %s %s not called it.", rankWords(late), verb(late, "has", "have")), a.whoMoves(late))
}
