package waitfor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// How large a job can be. A snapshot that claims more than maxRanks is broken. More than claimedRanks
// are believed only as far as the snapshot has them: as the members of a group, or ranksForEach for
// each process. Each rank of a job costs memory, and claiming a number costs nothing.
const (
	maxRanks     = 1 << 22
	claimedRanks = 1 << 18
	ranksForEach = 64
	// Members of sets of ranks that others wait for, and so many more for each rank.
	maxMembers     = 1 << 20
	membersForEach = 8
)

// job is a snapshot with its processes by global rank, and by local rank in each communicator.
type job struct {
	ranks []rank // by global rank
	// worldKnown is false if there may be more ranks than these.
	worldKnown bool
	comms      []*communicator
	rankSets   []*rankSet                // that ranks wait for
	toStart    *rankSet                  // those that have yet to call MPI_Init, once somebody waits for them
	listed     int                       // members of those, and of who has not entered what
	windows    map[*communicator]*window // that calls work on
	notes      []string
	past       Past
	isMatched  bool // see match
	// then is the job at the previous look, nil without one.
	then *job
	// assumeNoTransit is true while the analysis assumes that no message is in transit.
	assumeNoTransit bool
	// vagueSend is true if the envelope of some rank's send is not known.
	vagueSend bool

	// nonBlockings are the non-blocking collectives that ranks wait for.
	nonBlockings map[nonBlockingKey]*nonBlocking

	// What is pending, by envelope.
	unexpected, sends messages
	receives          postedReceives
	wildReceives      bool // some of them are from any source or with any tag
	// rendezvous are the unexpected messages whose senders wait for a receive; buffered are the sends
	// that are complete for their program, and whose messages may have yet to be received.
	rendezvous, buffered messages
	// onTheWay are the messages between two processes by their traffic counts. Tags are not counted.
	onTheWay messages
}

// rank is one rank of the job.
type rank struct {
	number      int32
	process     *mqs.Process // nil if it was not read
	members     []*member    // its communicators in the process's order
	waits       []wait       // one for each thread in a call that waits
	reportGroup int          // in the report's groups
	mobility
	doubt string // what is not known of an uncertain rank, as a clause
	// held is the thread that waits outside of MPI in a rank of which no thread is in MPI; nil if there is none.
	held *mqs.Thread
	// Since the previous look: ran is true if it has run, moved if it has done something that is
	// counted or seen, gotOn if that was more than asking again, and confirmed if it is known to wait
	// for the same.
	ran, moved, gotOn, confirmed bool
	// same is true if its calls look as they did at the previous look; stays if it is known not to have
	// left them since, and so to have started nothing, or if it was gone by then.
	same, stays bool
	// loop is a thread that accesses other ranks' memory in a loop; nil if none is known to.
	loop *mqs.Thread
	// polled is the polling call in which it was at the previous look; empty if there was none.
	polled string
	// vague says of each queue whether it may hold something that can't be matched with the queues of
	// other ranks, since too little is known of it.
	vague [3]bool
}

// counts says whether the rank's MPI counts messages.
func (r *rank) counts() bool {
	return slices.ContainsFunc(r.process.Communicators, func(q *mqs.Queues) bool { return q.Traffic != nil })
}

// member is one process's side of a communicator.
type member struct {
	*mqs.Queues
	rank int32 // global
	comm *communicator
	// side is the group of an intercommunicator that it is in; else 0.
	side int
	// local is its rank in that group; -1 if that is not known.
	local int32
	// counts is its traffic, in the order of the peers.
	counts []mqs.Traffic
	// obscure is true if it is not known what one of its unexpected messages matches.
	obscure bool
}

// peers is the group in which the ranks of operations count.
func (m *member) peers() *side { return &m.comm.sides[m.comm.across(m.side)] }

// globalOf returns a peer's global rank, -1 if it is not known or not in this job.
func (m *member) globalOf(local int32) int32 {
	if p := m.peers(); local >= 0 && int(local) < len(p.group) {
		return p.group[local]
	}
	return -1
}

// at returns a rank; nil if the job has no such rank.
func (j *job) at(rank int32) *rank {
	if rank < 0 || int(rank) >= len(j.ranks) {
		return nil
	}
	return &j.ranks[rank]
}

// gone says whether a rank will never do anything again.
func (r *rank) gone() bool {
	return r.process != nil && (r.process.Phase == mqs.Finished || r.process.Phase == mqs.Exited || r.process.HasCrashed())
}

// unreadable says whether nothing is known of a rank's queues.
func (r *rank) unreadable() bool { return r.process == nil || r.process.Unavailable != "" }

// arriving says whether messages have reached the rank's process that its MPI, which does not count
// messages, has put into no queue yet.
func (r *rank) arriving() bool {
	return r.process.Arriving.Known && r.process.Arriving.Value && !r.counts()
}

// isStopped says whether a signal has stopped the rank.
func (r *rank) isStopped() bool { return r.process != nil && r.process.State == mqs.Stopped }

// in says whether one of the rank's threads is in a call.
func (r *rank) in(call string) bool {
	return r.process != nil && slices.ContainsFunc(r.process.Threads, func(t mqs.Thread) bool { return t.Call == call })
}

// member returns the rank's side of the communicator that has this id in its process.
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

// worldSize returns the number of ranks in the job. If no process tells, it is as many as it takes
// for those that are there.
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

// mostRanks returns how many ranks a job is believed to have, by what the snapshot has of them.
func mostRanks(s *mqs.Snapshot) int32 {
	most := max(claimedRanks, ranksForEach*len(s.Processes))
	for _, p := range s.Processes {
		for _, c := range p.Communicators {
			most = max(most, len(c.Group), len(c.RemoteGroup))
		}
	}
	return int32(min(most, maxRanks))
}

// worldOf returns the size of MPI_COMM_WORLD in a process; 0 if it is not known.
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

// note adds a sentence on something doubtful.
func (j *job) note(format string, args ...any) {
	j.notes = append(j.notes, fmt.Sprintf(format, args...))
}

// missing lists the ranks of which nothing is known: there is no process, or it could not be read
// and its threads are not known either. Of one that can't be stopped there is what the kernel shows.
func (j *job) missing() []Missing {
	var out []Missing
	for i := range j.ranks {
		switch p := j.ranks[i].process; {
		case p == nil:
			out = append(out, Missing{int32(i), notLookedAt})
		case p.Unavailable != "" && p.Threads == nil && p.Hold == "" && !j.ranks[i].gone():
			out = append(out, Missing{int32(i), strings.TrimSuffix(p.Unavailable, ".")})
		}
	}
	return out
}
