package simulate

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
)

// doing says how far a thread has come in its call.
type doing int

const (
	ready   doing = iota // it is about to call, or asks again and again
	entered              // it is inside, and has not started what it waits for
	waits
	joins     // it waits for its process's other threads to end
	computing // for ever
	over
)

// thread is a thread of a process.
type thread struct {
	proc  *proc
	calls []Call
	pc    int
	doing doing
	// requests are those for which it waits; outstanding are those for which it has yet to wait.
	requests, outstanding []*request
	stages                [][]collectiveMessage // of a collective, that are left
	held                  *message              // by MPI_Mprobe
}

func (t *thread) call() *Call {
	if t.pc < len(t.calls) {
		return &t.calls[t.pc]
	}
	return &Call{}
}

// isInside says whether a thread is in a waiting MPI call.
func (t *thread) isInside() bool { return t.doing == entered || t.doing == waits }

// canStep says whether a thread can make a step.
func (s *State) canStep(t *thread) bool {
	switch {
	case t.doing == over || t.doing == computing || t.proc.gone():
		return false
	case t.doing == ready && t.call().Name == "MPI_Test" && len(t.outstanding) > 0:
		return t.outstanding[0].status == mqs.Complete
	case t.doing == joins:
		return t.isAlone()
	case t.doing == waits:
		return s.isOver(t)
	}
	return true
}

// isAlone says whether the other threads of its process have ended.
func (t *thread) isAlone() bool {
	return !slices.ContainsFunc(t.proc.threads, func(o *thread) bool { return o != t && o.doing != over })
}

// isOver says whether what a thread waits for has come.
func (s *State) isOver(t *thread) bool {
	complete := func(r *request) bool { return r.status == mqs.Complete }
	switch c := t.call(); {
	case c.Name == "MPI_Finalize":
		return !slices.ContainsFunc(s.procs, func(p *proc) bool { return !p.finalizing })
	case c.probes():
		return t.probed() >= 0
	case c.Name == "MPI_Waitany" || c.Name == "MPI_Waitsome":
		return slices.ContainsFunc(t.requests, complete)
	}
	return !slices.ContainsFunc(t.requests, func(r *request) bool { return !complete(r) })
}

// probed returns the unexpected message that a probe finds; -1 if there is none.
func (t *thread) probed() int {
	c := t.call()
	r := &request{peer: c.From, tag: c.For}
	return slices.IndexFunc(t.proc.sides[c.Comm].unexpected, r.matches)
}

// step does what a thread does next.
func (s *State) step(t *thread) {
	switch t.doing {
	case ready:
		s.enter(t)
	case entered:
		s.start(t)
		t.doing = waits
	case joins:
		t.doing = ready
	case waits:
		s.leave(t)
	}
}

// enter begins a call. A call that does not wait ends with that.
func (s *State) enter(t *thread) {
	c := t.call()
	switch {
	case t.pc == len(t.calls):
		if t.doing = over; t == t.proc.threads[0] { // the program has ended without MPI_Finalize
			t.proc.phase = mqs.Exited
		}
		return
	case c.Name == forever:
		t.doing = computing
		return
	case c.Name == exits:
		t.proc.phase = mqs.Exited
		return
	case c.Name == "MPI_Finalize":
		if t.doing = waits; !t.isAlone() {
			t.doing = joins
		} else {
			t.proc.finalizing = true
		}
		return
	case strings.HasPrefix(c.Name, "MPI_Wait"):
		if len(t.outstanding) > 0 {
			t.doing, t.requests = waits, slices.Clone(t.outstanding)
			if c.Name == "MPI_Wait" {
				t.requests = t.requests[:1]
			}
			return
		}
	case c.Name == "MPI_Test":
		if len(t.outstanding) > 0 {
			t.release(t.outstanding[0])
		}
	case c.probes():
		t.doing = waits
		return
	case c.blocks() || isCollective(c.Name):
		t.doing = entered
		t.proc.begun[c.collective()]++
		return
	case c.Name == "MPI_Bsend":
		s.send(t, c.Comm, "bsend", c.To, c.Tag, false, eager).free()
	case c.sends():
		t.outstanding = append(t.outstanding, s.send(t, c.Comm, kindOf(c), c.To, c.Tag, false, c.protocol()))
	case c.receives():
		t.outstanding = append(t.outstanding, s.receive(t, c.Comm, kindOf(c), c.From, c.For, false))
	}
	t.pc++
}

// collective returns the collective that the members of a communicator have to call together.
func (c *Call) collective() collective {
	if !slices.Contains(rooted, c.Name) {
		return collective{comm: c.Comm, name: c.Name}
	}
	return collective{c.Comm, c.Name, c.Root}
}

// kindOf returns the kind of a call's operations.
func kindOf(c *Call) string {
	if c.Name == "MPI_Sendrecv" {
		return callstack.KindNotKnown
	}
	return strings.ToLower(strings.TrimPrefix(c.Name, "MPI_"))
}

func (c *Call) protocol() protocol {
	switch {
	case c.Rendezvous:
		return rendezvous
	case c.Name == "MPI_Ssend" || c.Name == "MPI_Issend":
		return synchronous
	}
	return eager
}

// start starts the operations for which a call waits.
func (s *State) start(t *thread) {
	c := t.call()
	switch {
	case isCollective(c.Name):
		t.stages = s.Job.stages(c, t.proc.sides[c.Comm])
		s.stage(t)
	case c.Name == "MPI_Mrecv":
		r := s.request(t, c.Comm, mqs.PendingReceives, "mrecv", t.held.from, t.held.tag, false)
		s.match(t.held, r)
		t.held, t.requests = nil, []*request{r}
	default:
		if c.receives() {
			t.requests = append(t.requests, s.receive(t, c.Comm, kindOf(c), c.From, c.For, false))
		}
		if c.sends() {
			t.requests = append(t.requests, s.send(t, c.Comm, kindOf(c), c.To, c.Tag, false, c.protocol()))
		}
	}
}

// leave ends the call of a thread that has waited.
func (s *State) leave(t *thread) {
	c := t.call()
	switch {
	case isCollective(c.Name):
		for _, r := range t.requests {
			r.free()
		}
		if t.requests = nil; len(t.stages) > 0 {
			s.stage(t)
			return
		}
	case c.Name == "MPI_Finalize":
		t.proc.phase = mqs.Finished
	case c.Name == "MPI_Mprobe":
		of, at := t.proc.sides[c.Comm], t.probed()
		t.held = of.unexpected[at]
		t.held.state = taken
		of.unexpected = slices.Delete(of.unexpected, at, at+1)
		// The message that was found is received next.
		t.calls = slices.Insert(slices.Clone(t.calls), t.pc+1, Call{Name: "MPI_Mrecv", Comm: c.Comm, From: t.held.from, For: t.held.tag})
	}
	for _, r := range t.requests {
		if r.status == mqs.Complete {
			t.release(r)
			if c.Name == "MPI_Waitany" {
				break
			}
		}
	}
	t.requests, t.doing = nil, ready
	t.pc++
	t.proc.left++
}

// release frees a complete request.
func (t *thread) release(r *request) {
	r.free()
	t.outstanding = slices.DeleteFunc(t.outstanding, func(o *request) bool { return o == r })
}

// stage starts the next stage of a collective.
func (s *State) stage(t *thread) {
	if len(t.stages) == 0 {
		return
	}
	c, how := t.call(), eager
	if c.Rendezvous && s.Job.ShowsInternal { // no count has its answer
		how = rendezvous
	}
	for _, p := range t.stages[0] {
		if p.send {
			t.requests = append(t.requests, s.send(t, c.Comm, "isend", p.peer, tagOf(c.Name), true, how))
		} else {
			t.requests = append(t.requests, s.receive(t, c.Comm, "irecv", p.peer, tagOf(c.Name), true))
		}
	}
	t.stages = t.stages[1:]
}
