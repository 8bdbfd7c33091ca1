package simulate

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// State is a moment of a job.
type State struct {
	Job *Job
	// procs by rank; net is what is under way between them, in the order of sending.
	procs []*proc
	net   []*packet
	// looks is how often the job was looked at so far.
	looks int
	next  uint64 // address of a request
	log   []move
}

// proc is a process.
type proc struct {
	rank       int32
	threads    []*thread
	sides      []*side // by communicator, nil where it is no member
	phase      mqs.Phase
	finalizing bool
	// left is how many calls that wait its threads have left.
	left              int
	completed, waited uint64
	spare             []uint64 // addresses of requests that are over
	// begun counts the collectives that it has entered.
	begun map[collective]int
}

// collective is one of a communicator's: calls of different roots are different ones.
type collective struct {
	comm int
	name string
	root int32 // 0 of one that has none
}

func (p *proc) gone() bool { return p.phase == mqs.Finished || p.phase == mqs.Exited }

// side is what a process has of a communicator.
type side struct {
	of       *Comm
	id       int
	at       int
	local    int32
	requests []*request // in the order of posting
	// half are messages that are counted, and not matched yet.
	unexpected, half []*message
	sent, arrived    map[int32]uint16
}

// request is a send or a receive.
type request struct {
	address  uint64
	proc     *proc
	side     *side
	class    mqs.OpClass
	kind     string
	peer     int32
	tag      int32
	internal bool
	status   mqs.Status
	message  *message // a send's own, or the one that a receive has matched
	waited   bool     // it has not matched at once
}

// protocol is how a message is sent.
type protocol int

const (
	eager       protocol = iota
	synchronous          // its send waits for the match
	rendezvous           // and the data follows then, or has been fetched
)

// message is one from one rank to another.
type message struct {
	comm       int
	side       int   // of the receiver
	from, to   int32 // local
	source     *proc
	target     *proc
	tag        int32
	internal   bool
	how        protocol
	send       *request
	id         uint64 // its send's address
	receive    *request
	at         place
	length     int64
	sinceLooks int
}

// place is where a message is.
type place int

const (
	underWay place = iota
	halfWay
	unexpected
	taken // it has matched, or a probe holds it
)

// packetKind is what travels between processes.
type packetKind int

const (
	envelope packetKind = iota
	answer
	data
)

type packet struct {
	kind    packetKind
	message *message
	// sent is how often the job had been looked at when it was.
	sent int
}

func (p *packet) from() *proc {
	if p.kind == answer {
		return p.message.target
	}
	return p.message.source
}

func (p *packet) to() *proc {
	if p.kind == answer {
		return p.message.source
	}
	return p.message.target
}

// Start is the first moment of a job.
func Start(j *Job) *State {
	s := &State{Job: j, next: 0x1000}
	for rank := range j.Ranks {
		p := &proc{rank: int32(rank), phase: mqs.Active, begun: map[collective]int{}}
		for _, calls := range j.Ranks[rank] {
			p.threads = append(p.threads, &thread{calls: calls, proc: p})
		}
		for i := range j.Comms {
			c := &j.Comms[i]
			at, local := c.side(int32(rank))
			if at < 0 {
				p.sides = append(p.sides, nil)
				continue
			}
			p.sides = append(p.sides, &side{of: c, id: i, at: at, local: local, sent: map[int32]uint16{}, arrived: map[int32]uint16{}})
		}
		s.procs = append(s.procs, p)
	}
	return s
}

// fork is the same moment again: the job is run once more.
func (s *State) fork() *State {
	out := Start(s.Job)
	for _, m := range s.log {
		if m.kind == looks {
			out.looks++
		} else {
			out.do(m)
		}
	}
	out.log = slices.Clone(s.log)
	return out
}

// request makes a send or a receive, without starting it.
func (s *State) request(t *thread, on int, class mqs.OpClass, kind string, peer, tag int32, internal bool) *request {
	address := s.next
	if spare := t.proc.spare; s.Job.Loops && len(spare) > 0 {
		address, t.proc.spare = spare[len(spare)-1], spare[:len(spare)-1]
	} else {
		s.next += 0x10
	}
	r := &request{address: address, proc: t.proc, side: t.proc.sides[on], class: class, kind: kind, peer: peer, tag: tag,
		internal: internal, status: mqs.Pending}
	r.side.requests = append(r.side.requests, r)
	return r
}

// send starts a send.
func (s *State) send(t *thread, on int, kind string, to, tag int32, internal bool, how protocol) *request {
	r := s.request(t, on, mqs.PendingSends, kind, to, tag, internal)
	m := &message{comm: on, from: r.side.local, to: to, source: t.proc, tag: tag, internal: internal, how: how, send: r, id: r.address, length: 8}
	m.side = r.side.at
	if r.side.of.Inter {
		m.side = 1 - m.side
	}
	if how == rendezvous {
		m.length = 100_000
	}
	m.target = s.procs[r.side.of.Groups[m.side][to]]
	r.message = m
	r.side.sent[to]++
	if how == eager {
		s.complete(r)
	}
	s.post(&packet{kind: envelope, message: m})
	return r
}

// receive posts a receive.
func (s *State) receive(t *thread, on int, kind string, from, tag int32, internal bool) *request {
	r := s.request(t, on, mqs.PendingReceives, kind, from, tag, internal)
	if at := slices.IndexFunc(r.side.unexpected, r.matches); at >= 0 {
		m := r.side.unexpected[at]
		r.side.unexpected = slices.Delete(r.side.unexpected, at, at+1)
		s.match(m, r)
	} else {
		r.waited = true
	}
	return r
}

// matches says whether a receive asks for a message.
func (r *request) matches(m *message) bool {
	return r.internal == m.internal && (r.peer == Any || r.peer == m.from) && (r.tag == Any && !m.internal || r.tag == m.tag)
}

// post sends a packet on its way. What a process sends to itself is there at once.
func (s *State) post(p *packet) {
	p.sent = s.looks
	if p.message.source == p.message.target {
		s.take(p)
		return
	}
	s.net = append(s.net, p)
}

// take is that a process takes what has come.
func (s *State) take(p *packet) {
	m := p.message
	switch {
	case p.to().gone():
	case p.kind == answer:
		s.complete(m.send)
		if m.how == rendezvous && !s.Job.Fetched {
			s.post(&packet{kind: data, message: m})
		}
	case p.kind == data:
		s.complete(m.receive)
		if s.Job.Fetched {
			s.post(&packet{kind: answer, message: m})
		}
	default:
		to := m.target.sides[m.comm]
		to.arrived[m.from]++
		if s.Job.Halves && m.source != m.target {
			m.at, m.sinceLooks = halfWay, p.sent
			to.half = append(to.half, m)
			return
		}
		s.arrive(m, to)
	}
}

// arrive is that a message is held against the receives that are posted.
func (s *State) arrive(m *message, to *side) {
	for _, r := range to.requests {
		if r.class == mqs.PendingReceives && r.status == mqs.Pending && r.matches(m) {
			s.match(m, r)
			return
		}
	}
	m.at = unexpected
	to.unexpected = append(to.unexpected, m)
}

// match is that a message and a receive have found each other.
func (s *State) match(m *message, r *request) {
	m.at, m.receive, r.message = taken, r, m
	if m.how == rendezvous {
		r.status = mqs.Matched
	} else {
		s.complete(r)
	}
	switch {
	case m.how == rendezvous && s.Job.Fetched:
		s.post(&packet{kind: data, message: m})
	case m.how != eager:
		s.post(&packet{kind: answer, message: m})
	}
}

func (s *State) complete(r *request) {
	r.status = mqs.Complete
	r.proc.completed++
	if r.class == mqs.PendingReceives && r.waited {
		r.proc.waited++
	}
}

// free forgets a request.
func (r *request) free() {
	if at := slices.Index(r.side.requests, r); at >= 0 {
		r.side.requests = slices.Delete(r.side.requests, at, at+1)
		r.proc.spare = append(r.proc.spare, r.address)
	}
}
