package waitfor

import (
	"fmt"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// groupKey is what the ranks of one [Group] have in common.
type groupKey struct {
	state          State
	call, comm     string // comm in quotes if it is a name
	function, file string
	line           int
	callers        string // in words, where a wrapper has made the call
	outside        string // for what it waits outside of MPI
	isStopped      bool   // by a signal, in a state that does not say so
	text           string // in place of all that, if it is not empty
}

// state returns what a rank does.
func (a *analysis) state(rank int32) State {
	r := &a.ranks[rank]
	switch {
	case r.gone():
		return Ended
	case a.inDeadlock[rank]:
		return InDeadlock
	case !a.releasable[rank]:
		return Stuck
	case r.isStopped() && !r.isUnstoppable():
		return Stopped
	case r.mobility == uncertain && r.held != nil:
		return BlockedOutside
	case r.process != nil && r.mobility == uncertain && r.process.Threads != nil:
		return Uncertain
	case r.process == nil || r.mobility == uncertain:
		return Unreadable
	case r.mobility == mobile:
		return Running
	case r.unreadable() && r.process.Phase != mqs.Starting:
		return Unreadable
	}
	return Waiting
}

// groups puts all ranks into groups.
func (a *analysis) groups(r *Report) {
	index := map[groupKey]int{}
	r.Ranks = make([]Rank, 0, len(a.ranks))
	for i := range a.ranks {
		key, comm, callers := a.groupKey(int32(i))
		at, ok := index[key]
		if !ok {
			at = len(r.Groups)
			index[key] = at
			g := Group{State: key.state, Call: key.call, Function: key.function, File: key.file, Line: key.line, Callers: callers, Text: key.words()}
			if comm != nil {
				g.Communicator = comm.title()
			}
			r.Groups = append(r.Groups, g)
		}
		r.Groups[at].Ranks = append(r.Groups[at].Ranks, int32(i))
		a.ranks[i].reportGroup = at
		if p := a.ranks[i].process; p != nil {
			r.Ranks = append(r.Ranks, Rank{int32(i), at, p})
		}
	}
	a.unread()
}

// unread notes why the queues of ranks could not be read of which the calls alone are known.
func (a *analysis) unread() {
	byReason := map[string][]int32{}
	var order []string
	for i := range a.ranks {
		p := a.ranks[i].process
		if p == nil || p.Unavailable == "" || p.Threads == nil && p.Hold == "" || a.ranks[i].gone() {
			continue
		}
		if byReason[p.Unavailable] == nil {
			order = append(order, p.Unavailable)
		}
		byReason[p.Unavailable] = append(byReason[p.Unavailable], int32(i))
	}
	for i, why := range order {
		if i == maxReasons {
			a.note("There are %d more reasons why queues can't be read.", len(order)-i)
			break
		}
		a.note("The queues of %s can't be read: %s.", rankWords(byReason[why]), strings.TrimSuffix(why, "."))
	}
}

// groupKey returns the group of a rank; the communicator of its call, nil if that is not known or there are several; and
// the functions that lead from the program to its call.
func (a *analysis) groupKey(rank int32) (groupKey, *communicator, []mqs.Caller) {
	r := &a.ranks[rank]
	key := groupKey{state: a.state(rank)}
	switch {
	case r.process == nil:
		key.text = notLookedAt
		return key, nil, nil
	case r.gone():
		key.text = a.now(rank)
		return key, nil, nil
	case r.isUnstoppable():
		key.text = r.holdWords()
		return key, nil, nil
	}
	t := r.thread()
	var callers []mqs.Caller
	if t != nil {
		key.call, key.function, key.file, key.line, key.callers = t.Call, t.Function, t.File, t.Line, mqs.CallersText(t.Callers)
		callers = t.Callers
	}
	if r.held != nil {
		key.outside = "where it " + outsideWords(r.held)
	}
	c := a.commOfCall(r, t)
	if c != nil {
		key.comm = c.label()
	}
	key.isStopped = r.isStopped() && key.state != Stopped
	switch {
	case t == nil && len(r.waits) > 0 && len(r.waits[0].deps) > 0:
		w := &r.waits[0]
		key.text = a.operation(w, &w.deps[0])
	case t == nil || t.Call == "" && !t.Placed && t.Function == "" && t.File == "":
		key.text = "somewhere that is not known"
	}
	return key, c, callers
}

// commOfCall returns the communicator of a rank's call; nil if it is not known or there are several.
func (a *analysis) commOfCall(r *rank, t *mqs.Thread) *communicator {
	if t != nil {
		if m := r.member(t.Comm); m != nil {
			return m.comm
		}
	}
	var c *communicator
	for i := range r.waits {
		if w := &r.waits[i]; w.thread == t {
			for k := range w.deps {
				switch g := &w.deps[k]; {
				case g.member == nil:
				case c == nil:
					c = g.member.comm
				case c != g.member.comm:
					return nil
				}
			}
		}
	}
	return c
}

// words returns the place in one line.
func (k groupKey) words() string {
	if k.isStopped {
		k.isStopped = false
		return k.words() + ", stopped by a signal"
	}
	if k.text != "" {
		return k.text
	}
	t := &mqs.Thread{Call: k.call, Function: k.function, File: k.file, Line: k.line}
	if k.call == "" {
		switch {
		case k.file == "" && k.function == "":
			return strings.TrimSuffix("in no MPI call"+k.beside(), " (no MPI call)")
		case k.file == "":
			return fmt.Sprintf("in %s%s", k.function, k.beside())
		case k.function == "":
			return fmt.Sprintf("at %s%s", at(t), k.beside())
		}
		return fmt.Sprintf("in %s at %s%s", k.function, at(t), k.beside())
	}
	text := k.call
	if k.comm != "" {
		text += " on " + k.comm
	}
	switch {
	case k.callers != "":
		text += ", called by " + k.callers
	case k.file != "":
		text += " at " + at(t)
	case k.function != "":
		text += " in " + k.function
	}
	if k.outside != "" {
		text += ", " + k.outside
	}
	return text
}

// beside says what ranks outside of MPI do at their place.
func (k groupKey) beside() string {
	if k.outside == "" {
		return " (no MPI call)"
	}
	return ", " + k.outside
}
