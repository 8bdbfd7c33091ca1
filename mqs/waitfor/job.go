package waitfor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// How large a job can be. A snapshot that claims more than maxRanks is broken. More than
// claimedRanks are believed as far as the snapshot has them: as the members of a group, or
// at ranksForEach to a process. Each rank of a job costs memory, and a number does not.
const (
	maxRanks     = 1 << 22
	claimedRanks = 1 << 18
	ranksForEach = 64
	// Members of groups that ranks wait for, beside as many for each rank.
	maxMembers     = 1 << 20
	membersForEach = 8
)

// job is a snapshot with its processes in their places: by rank, and by their
// ranks in each communicator.
type job struct {
	ranks []rank // by global rank
	// worldKnown is false if there may be more ranks than these.
	worldKnown bool
	comms      []*communicator
	groups     []*group // that ranks wait for
	listed     int      // members of those, and of who has not entered what
	notes      []string
	past       Past
	// assumed is true if it is taken that no message is in transit.
	assumed bool
	// vague is true if the envelope of some rank's send is not known.
	vague bool

	// What is pending, by envelope.
	unexpected, sends messages
	receives          posted
	// asking are the unexpected messages whose senders wait for a receive, buffered the sends
	// that are complete for their program and may have yet to be received.
	asking, buffered messages
	// onTheWay has what traffic counts say is between two processes. Tags are not counted.
	onTheWay messages
}

// rank is one rank of the job.
type rank struct {
	number  int32
	process *mqs.Process // nil if it was not looked at
	members []*member    // its communicators in the process's order
	waits   []wait       // one for each thread in a call that waits
	place   int          // in the report's groups
	mobility
	doubt string // of an uncertain one: what is not known, as a clause
	// Whether it has run since it was looked at before, has done anything that is counted or
	// seen, has got on by that, or is known to wait for the same as then.
	ran, moved, gotOn, confirmed bool
	// same is true if its calls look as they did then, stays if it is known not to have left
	// them since and so has started nothing, or was gone by then.
	same, stays bool
	// polled is the call that asks for messages in which it was seen before, empty if there is none.
	polled string
	// vague says of each queue whether there may be something in it that can't be matched
	// with what is elsewhere, since too little is known of it.
	vague [3]bool
}

// counts says whether the MPI of a rank that was looked at counts messages.
func (r *rank) counts() bool {
	return slices.ContainsFunc(r.process.Communicators, func(q *mqs.Queues) bool { return q.Traffic != nil })
}

// member is one process's side of a communicator.
type member struct {
	*mqs.Queues
	rank int32 // global
	comm *communicator
	// side is which of an intercommunicator's groups it is in, else 0.
	side int
	// local is its rank in that group, -1 if not known.
	local int32
	// counts is its traffic by peer, in order.
	counts []mqs.Traffic
	// obscure is true if a message lies there of which it is not known what it matches.
	obscure bool
}

// peers is the group that ranks of operations count in.
func (m *member) peers() *side { return &m.comm.sides[m.comm.across(m.side)] }

// globalOf returns a peer's global rank, -1 if it is not known or not in this job.
func (m *member) globalOf(local int32) int32 {
	if p := m.peers(); local >= 0 && int(local) < len(p.group) {
		return p.group[local]
	}
	return -1
}

// at returns a rank, nil for one that is none of the job.
func (j *job) at(rank int32) *rank {
	if rank < 0 || int(rank) >= len(j.ranks) {
		return nil
	}
	return &j.ranks[rank]
}

// gone says whether a rank will never do anything again.
func (r *rank) gone() bool {
	return r.process != nil && (r.process.Phase == mqs.Finished || r.process.Phase == mqs.Exited)
}

// unreadable says whether nothing is known of a rank's queues.
func (r *rank) unreadable() bool { return r.process == nil || r.process.Unavailable != "" }

// arriving says whether messages lie before a rank, whose MPI does not count them, that no
// queue has yet.
func (r *rank) arriving() bool {
	return r.process.Arriving.Known && r.process.Arriving.Value && !r.counts()
}

// isStopped says whether a signal has stopped the rank.
func (r *rank) isStopped() bool { return r.process != nil && r.process.State == mqs.Stopped }

// in says whether one of the rank's threads is in a call.
func (r *rank) in(call string) bool {
	return r.process != nil && slices.ContainsFunc(r.process.Threads, func(t mqs.Thread) bool { return t.Call == call })
}

// member returns the rank's side of a communicator that it calls by this id.
func (r *rank) member(id mqs.Maybe[inferior.Addr]) *member {
	if !id.Known {
		return nil
	}
	for _, m := range r.members {
		if m.UniqueID == id.Value {
			return m
		}
	}
	return nil
}

// newJob puts the processes of a snapshot into their places.
func newJob(s *mqs.Snapshot) *job {
	j := &job{}
	size := j.worldSize(s)
	j.ranks = make([]rank, size)
	var twice []int32
	for _, p := range s.Processes {
		switch {
		case !p.GlobalRank.Known:
			j.note("Process %d is left out: its rank is not known.", p.PID)
		case p.GlobalRank.Value < 0 || int(p.GlobalRank.Value) >= size:
			j.note("Process %d is left out: it claims to be rank %d of a job of %d.", p.PID, p.GlobalRank.Value, size)
		case j.ranks[p.GlobalRank.Value].process != nil:
			twice = append(twice, p.GlobalRank.Value)
		default:
			j.ranks[p.GlobalRank.Value].process = p
		}
	}
	if len(twice) > 0 {
		slices.Sort(twice)
		j.note("More than one process claims to be %s: the first is taken.", rankWords(slices.Compact(twice)))
	}
	return j
}

// worldSize finds how many ranks the job has; if no process tells, as many as
// it takes for those that are there.
func (j *job) worldSize(s *mqs.Snapshot) int {
	var world, seen int32
	most := mostRanks(s)
	differ := false
	for _, p := range s.Processes {
		size := worldOf(p)
		if size > maxRanks {
			j.note("Process %d claims to be one of %d ranks, which can't be right.", p.PID, size)
			continue
		}
		if size > most {
			j.note("Process %d claims to be one of %d ranks, of which the snapshot has too few for more than %d.", p.PID, size, most)
			continue
		}
		if size > 0 {
			differ = differ || world > 0 && world != size
			world = max(world, size)
		}
		if p.GlobalRank.Known && p.GlobalRank.Value < most {
			seen = max(seen, p.GlobalRank.Value+1)
		}
	}
	if differ {
		j.note("The processes do not agree on how many ranks the job has, so they may be of different jobs: the largest number, %d, is taken.", world)
	}
	if world > 0 && seen > world {
		j.note("There is a rank %d in a job of %d.", seen-1, world)
	}
	j.worldKnown = world > 0
	return int(max(world, seen))
}

// mostRanks is how many ranks are believed of a job by what the snapshot has of them.
func mostRanks(s *mqs.Snapshot) int32 {
	most := max(claimedRanks, ranksForEach*len(s.Processes))
	for _, p := range s.Processes {
		for _, c := range p.Communicators {
			most = max(most, len(c.Group), len(c.RemoteGroup))
		}
	}
	return int32(min(most, maxRanks))
}

// worldOf is how large MPI_COMM_WORLD is for a process, 0 if not known.
func worldOf(p *mqs.Process) int32 {
	if p.WorldSize.Known {
		return p.WorldSize.Value
	}
	for _, c := range p.Communicators {
		if c.Name.Known && c.Name.Value == world {
			if c.Size.Known {
				return c.Size.Value
			}
			return int32(len(c.Group))
		}
	}
	return 0
}

// note adds a sentence on what is doubtful.
func (j *job) note(format string, args ...any) {
	j.notes = append(j.notes, fmt.Sprintf(format, args...))
}

// missing lists the ranks that nothing is known of. Why a rank could not be
// read is a sentence of its own: only what does not go on with a place counts.
func (j *job) missing() []Missing {
	var out []Missing
	for i := range j.ranks {
		switch p := j.ranks[i].process; {
		case p == nil:
			out = append(out, Missing{int32(i), notLookedAt})
		case p.Unavailable != "" && p.Threads == nil && !j.ranks[i].gone():
			out = append(out, Missing{int32(i), strings.TrimSuffix(p.Unavailable, ".")})
		}
	}
	return out
}
