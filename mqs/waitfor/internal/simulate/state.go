package simulate

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// State is a moment of a job.
type State struct {
	Job *Job
	// procs are the processes by rank; net is what is in transit between them, in the order of sending.
	procs []*proc
	net   []*packet
	// looks is the number of looks so far.
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
	// left is the number of waiting calls that its threads have left.
	left              int
	completed, waited uint64
	spare             []uint64 // addresses of requests that are over
	// begun counts the collectives that the process has entered.
	begun map[collective]int
}

// collective is one collective call on a communicator. Calls with different roots are different.
type collective struct {
	comm int
	name string
	root int32 // 0 of one that has none
}

func (p *proc) gone() bool { return p.phase == mqs.Finished || p.phase == mqs.Exited }

// side is a process's part of a communicator.
type side struct {
	of       *Comm
	id       int
	at       int
	local    int32
	requests []*request // in the order of posting
	// half are the messages that are counted and not matched yet.
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

// message is a message from one rank to another.
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
	state      messageState
	length     int64
	sinceLooks int
}

// messageState says where a message is.
type messageState int

const (
	underWay messageState = iota
	halfWay
	unexpected
	taken // it has matched, or a probe holds it
)

// packetKind is a kind of packet between processes.
type packetKind int

const (
	envelope packetKind = iota
	answer
	data
)

type packet struct {
	kind    packetKind
	message *message
	// sent is the number of looks before it was sent.
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

// Start returns the first moment of a job.
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

// fork returns a copy of the moment, from which the job can be run once more.
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
	if spare := t.proc.spare; s.Job.ReusesLines && len(spare) > 0 {
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

// post sends a packet. What a process sends to itself arrives at once.
func (s *State) post(p *packet) {
	p.sent = s.looks
	if p.message.source == p.message.target {
		s.take(p)
		return
	}
	s.net = append(s.net, p)
}

// take makes a process take a packet.
func (s *State) take(p *packet) {
	m := p.message
	switch {
	case p.to().gone():
	case p.kind == answer:
		s.complete(m.send)
		if m.how == rendezvous && !s.Job.ReceiverFetches {
			s.post(&packet{kind: data, message: m})
		}
	case p.kind == data:
		s.complete(m.receive)
		if s.Job.ReceiverFetches {
			s.post(&packet{kind: answer, message: m})
		}
	default:
		to := m.target.sides[m.comm]
		to.arrived[m.from]++
		if s.Job.CountsBeforeMatching && m.source != m.target {
			m.state, m.sinceLooks = halfWay, p.sent
			to.half = append(to.half, m)
			return
		}
		s.arrive(m, to)
	}
}

// arrive matches a message with the posted receives.
func (s *State) arrive(m *message, to *side) {
	for _, r := range to.requests {
		if r.class == mqs.PendingReceives && r.status == mqs.Pending && r.matches(m) {
			s.match(m, r)
			return
		}
	}
	m.state = unexpected
	to.unexpected = append(to.unexpected, m)
}

// match makes a message and a receive match.
func (s *State) match(m *message, r *request) {
	m.state, m.receive, r.message = taken, r, m
	if m.how == rendezvous {
		r.status = mqs.Matched
	} else {
		s.complete(r)
	}
	switch {
	case m.how == rendezvous && s.Job.ReceiverFetches:
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

// free removes a request.
func (r *request) free() {
	if at := slices.Index(r.side.requests, r); at >= 0 {
		r.side.requests = slices.Delete(r.side.requests, at, at+1)
		r.proc.spare = append(r.proc.spare, r.address)
	}
}
