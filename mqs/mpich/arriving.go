package mpich

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// arrivalTypes are the shared memory through which the processes of a node send
// each other messages: of ch3's channel nemesis, and of ch4's module posix (4.0).
type arrivalTypes struct {
	Region  inferior.Struct[nemRegion]  `c:"MPID_nem_mem_region_t,optional"`
	Queue   inferior.Struct[nemQueue]   `c:"MPID_nem_queue_t,optional"`
	Fastbox inferior.Struct[nemFastbox] `c:"MPID_nem_fastbox_t,optional"`

	Transports inferior.Struct[posixTransports] `c:"MPIDI_POSIX_eager_iqueue_global_t,optional"`
	Transport  inferior.Struct[posixTransport]  `c:"MPIDI_POSIX_eager_iqueue_transport_t,optional"`
	Terminal   inferior.Struct[posixTerminal]   `c:"MPIDU_genq_shmem_queue_u,optional"`
}

// nemRegion is MPID_nem_mem_region (mpid_nem_defs.h).
type nemRegion struct {
	Locals int32         `c:"num_local"`
	Local  int32         `c:"local_rank"`
	Boxes  inferior.Addr `c:"mailboxes.in"`
	Queue  inferior.Addr `c:"my_recvQ"`
}

// nemQueue is empty if both pointers, which are relative, are 0.
type nemQueue struct {
	Head inferior.Place `c:"head"`
	Mine inferior.Place `c:"my_head"`
}

// nemFastbox holds a message if its flag is set.
type nemFastbox struct {
	Flag int32 `c:"flag.v|flag"`
}

type posixTransports struct {
	First inferior.Place `c:"transports"`
}

type posixTransport struct {
	Mine inferior.Addr `c:"my_terminal"`
}

// posixTerminal is empty if both are 0.
type posixTerminal struct {
	Head inferior.Place `c:"q.head"`
	Tail inferior.Place `c:"q.tail"`
}

const maxLocals = 1 << 16 // processes of a node

// arriving says whether messages lie before the process that its library has
// not looked at yet. Of what comes from other nodes it knows nothing.
func (s *source) arriving() mqs.Maybe[bool] {
	if s.process.Nodes > 1 {
		return mqs.Maybe[bool]{}
	}
	if at, ok := s.symbols[symRegion]; ok && s.arrivals.Region.Bound() && s.arrivals.Queue.Bound() && s.arrivals.Fastbox.Bound() {
		return s.inNemesis(at.Addr)
	}
	if at, ok := s.symbols[symTransports]; ok && s.arrivals.Transports.Bound() && s.arrivals.Transport.Bound() && s.arrivals.Terminal.Bound() {
		return s.inPosix(at.Addr)
	}
	return mqs.Maybe[bool]{}
}

// anySet says whether one of some pointers is not 0.
func (s *source) anySet(places ...inferior.Place) mqs.Maybe[bool] {
	for _, at := range places {
		p, err := s.r.Pointers(inferior.Addr(at), 1)
		if err != nil {
			return mqs.Maybe[bool]{}
		}
		if p[0] != 0 {
			return mqs.Known(true)
		}
	}
	return mqs.Known(false)
}

func (s *source) inNemesis(at inferior.Addr) mqs.Maybe[bool] {
	region, err := s.arrivals.Region.ReadAt(s.r, at)
	if err != nil || region.Locals < 1 || region.Locals > maxLocals || region.Queue == 0 {
		return mqs.Maybe[bool]{}
	}
	q, err := s.arrivals.Queue.ReadAt(s.r, region.Queue)
	if err != nil {
		return mqs.Maybe[bool]{}
	}
	if set := s.anySet(q.Head, q.Mine); !set.Known || set.Value || region.Boxes == 0 {
		return set
	}
	boxes, err := s.r.Pointers(region.Boxes, int(region.Locals))
	if err != nil {
		return mqs.Maybe[bool]{}
	}
	for i, box := range boxes {
		if i == int(region.Local) {
			continue
		}
		b, err := s.arrivals.Fastbox.ReadAt(s.r, box)
		if err != nil {
			return mqs.Maybe[bool]{}
		}
		if b.Flag != 0 {
			return mqs.Known(true)
		}
	}
	return mqs.Known(false)
}

func (s *source) inPosix(at inferior.Addr) mqs.Maybe[bool] {
	all, err := s.arrivals.Transports.ReadAt(s.r, at)
	if err != nil {
		return mqs.Maybe[bool]{}
	}
	t, err := s.arrivals.Transport.ReadAt(s.r, inferior.Addr(all.First))
	if err != nil || t.Mine == 0 || s.arrivals.Transports.Size() != s.arrivals.Transport.Size() {
		return mqs.Maybe[bool]{} // with several virtual interfaces there are several
	}
	q, err := s.arrivals.Terminal.ReadAt(s.r, t.Mine)
	if err != nil {
		return mqs.Maybe[bool]{}
	}
	return s.anySet(q.Head, q.Tail)
}
