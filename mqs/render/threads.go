package render

import (
	"bufio"
	"cmp"
	"fmt"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// threadsText says in which call each thread is, and where in the program. A thread in no call is
// left out if others are in one.
func threadsText(w *bufio.Writer, p *mqs.Process) {
	in := 0
	for i := range p.Threads {
		if p.Threads[i].Call != "" {
			in++
		}
	}
	for i := range p.Threads {
		t := &p.Threads[i]
		if t.Call == "" && (in > 0 || i > 0 || t.Function == "") {
			continue
		}
		prefix := "In "
		if in > 1 {
			prefix = fmt.Sprintf("Thread %d in ", t.Number)
		}
		fmt.Fprintln(w, prefix+printable.Line(whereabouts(p, t)))
	}
}

// quoted puts quotes around names that programs have given.
func quoted(label string) string {
	if strings.HasPrefix(label, "MPI_COMM_") || strings.HasPrefix(label, "communicator ") {
		return label
	}
	return `"` + label + `"`
}

// whereabouts describes where a thread is: "MPI_Bcast on \"halo\" with root 2, called by exchange at halo.c:88".
func whereabouts(p *mqs.Process, t *mqs.Thread) string {
	place := t.Function
	if t.File != "" {
		place += fmt.Sprintf(" at %s:%d", t.File, t.Line)
	}
	if t.Call == "" {
		return place + outside(t)
	}
	on := ""
	for _, c := range p.Communicators {
		if t.Comm.Known && c.UniqueID == t.Comm.Value {
			on = " on " + cmp.Or(c.Serves(), quoted(c.Label()))
		}
	}
	if t.Root.Known {
		on += fmt.Sprintf(" with root %d", t.Root.Value)
	}
	if len(t.Callers) > 0 {
		place = mqs.CallersText(t.Callers)
	}
	if place != "" {
		on += ", called by " + place
	}
	if t.Collection == mqs.InCollection {
		on += ", in a garbage collection of Python"
		if t.CollectionFile != "" {
			on += fmt.Sprintf(" that began at %s:%d", t.CollectionFile, t.CollectionLine)
		}
	}
	if t.BlockedOn != "" {
		on += ", where it " + blocked[t.Activity] + blockedIn(t)
	}
	return t.Call + on
}

// outside says what a thread does that is in no known call.
func outside(t *mqs.Thread) string {
	switch {
	case !t.Placed:
		return "; whether in an MPI call is not known"
	case t.Activity == mqs.Sleeps:
		return ", outside MPI, where it sleeps"
	case t.Activity == mqs.Locks && t.Holder.Known:
		return ", outside MPI, where it waits for " + t.HeldLock()
	case t.Activity == mqs.Teams:
		return ", outside MPI, where it waits for its OpenMP team"
	case blocked[t.Activity] != "":
		return ", outside MPI, where it " + blocked[t.Activity] + blockedIn(t)
	case t.Activity == mqs.Joins && t.Joined.Known:
		return fmt.Sprintf(", outside MPI, where it waits for thread %d to end", t.Joined.Value)
	case t.Activity == mqs.Joins:
		return ", outside MPI, where it waits for another thread to end"
	}
	return ", outside MPI"
}

// blocked says for what threads wait outside of MPI.
var blocked = map[mqs.Activity]string{mqs.Blocks: "waits for something else", mqs.Locks: "waits for a lock", mqs.UsesGPU: "waits for a GPU",
	mqs.UsesFile: "waits for a file", mqs.InKernel: "is in the kernel"}

// blockedIn names the function or system call in which a thread waits, and its file.
func blockedIn(t *mqs.Thread) string {
	switch {
	case t.BlockedIn == "":
		return ""
	case t.BlockedOn == "":
		return " (" + t.BlockedIn + ")"
	}
	return " (" + t.BlockedIn + " on " + t.BlockedOn + t.HeldBy() + ")"
}
