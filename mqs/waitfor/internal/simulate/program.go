// Package simulate makes up small MPI programs and runs them by MPI's rules of matching, so that what
// an analysis says of a moment of a job can be compared with what becomes of the job.
package simulate

import (
	"fmt"
	"strings"
)

// What a made-up program does besides calling MPI.
const (
	forever = "compute for ever"
	exits   = "exit" // without MPI_Finalize
)

// Any is MPI_ANY_SOURCE and MPI_ANY_TAG.
const Any = -1

// Call is one call of a program. Its ranks are local ranks on the communicator's other side.
type Call struct {
	Name      string
	Comm      int   // among the job's communicators
	To, Tag   int32 // of a send
	From, For int32 // of a receive or a probe: the source and the tag, either of which may be [Any]
	Root      int32 // of a collective
	// Rendezvous is true if the message waits for its receive. The program can't tell it from an eager
	// one.
	Rendezvous bool
}

// Comm is a communicator. Its groups are global ranks by local rank; only an intercommunicator has
// the second one.
type Comm struct {
	Name, Context string
	Groups        [2][]int32
	Inter         bool
}

// Job is a made-up program, with how its MPI works and what can be seen of it.
type Job struct {
	Comms []Comm
	// Ranks are the calls of each rank's threads. Those of the first thread end with MPI_Finalize.
	Ranks [][][]Call

	// CountsMessages: messages are counted by peer. Else a process counts all completed requests, or,
	// if OnlyReceives, the receives that had to wait.
	CountsMessages, OnlyReceives bool
	// Dissemination: members of a synchronising collective exchange messages with each other, and those
	// of a broadcast hand on what they have received. Else all goes through the first member or the
	// root.
	Dissemination bool
	// ReceiverFetches: the receiver of a rendezvous message fetches the data, and then answers. Else it
	// answers first, and the sender sends the data.
	ReceiverFetches bool
	// ReusesLines: all calls of a name are at one line, as in a loop, and the library gives a request
	// the address of one that is over.
	ReusesLines bool
	// AnonymousSends: neither that a send is the library's own nor its tag can be seen.
	AnonymousSends bool
	// ShowsInternal: the library's own operations can be seen.
	ShowsInternal bool
	// DropsComplete: a complete operation is in no queue.
	DropsComplete bool
	// QueuesProbes: probes are in the queue of receives. Else they are only in the call's arguments.
	QueuesProbes bool
	// IgnoresInFinalize: the library receives no messages inside MPI_Finalize.
	IgnoresInFinalize bool
	// CountsBeforeMatching: a message may have been counted and not matched yet.
	CountsBeforeMatching bool
	// ReportsArriving: it can be seen that there are messages in no queue.
	ReportsArriving bool
}

// String returns the job as a table with a line for each thread.
func (j *Job) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "counted %v, only receives %v, dissemination %v, shown %v, dropped %v, probes queued %v, deaf %v, halves %v, arriving %v, fetched %v, untold %v, loops %v\n",
		j.CountsMessages, j.OnlyReceives, j.Dissemination, j.ShowsInternal, j.DropsComplete, j.QueuesProbes, j.IgnoresInFinalize, j.CountsBeforeMatching, j.ReportsArriving, j.ReceiverFetches, j.AnonymousSends, j.ReusesLines)
	for i, c := range j.Comms {
		fmt.Fprintf(&b, "communicator %d: %s %v\n", i, c.Name, c.Groups)
	}
	for rank, threads := range j.Ranks {
		for i, calls := range threads {
			fmt.Fprintf(&b, "rank %d, thread %d:", rank, i+1)
			for k := range calls {
				b.WriteString(" " + calls[k].String() + ";")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// String returns a call in short.
func (c *Call) String() string {
	name := strings.TrimPrefix(c.Name, "MPI_")
	if c.Rendezvous {
		name += " (rendezvous)"
	}
	switch {
	case c.sends() && c.receives():
		return fmt.Sprintf("%s to %d tag %d, from %d tag %d, on %d", name, c.To, c.Tag, c.From, c.For, c.Comm)
	case c.sends():
		return fmt.Sprintf("%s to %d tag %d on %d", name, c.To, c.Tag, c.Comm)
	case c.receives() || c.probes():
		return fmt.Sprintf("%s from %d tag %d on %d", name, c.From, c.For, c.Comm)
	case isCollective(c.Name):
		return fmt.Sprintf("%s root %d on %d", name, c.Root, c.Comm)
	}
	return name
}

func (c *Call) sends() bool {
	switch c.Name {
	case "MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend", "MPI_Isend", "MPI_Issend", "MPI_Sendrecv":
		return true
	}
	return false
}

func (c *Call) receives() bool {
	return c.Name == "MPI_Recv" || c.Name == "MPI_Irecv" || c.Name == "MPI_Sendrecv"
}

func (c *Call) probes() bool { return c.Name == "MPI_Probe" || c.Name == "MPI_Mprobe" }

// blocks says whether a call waits for operations of its own.
func (c *Call) blocks() bool {
	switch c.Name {
	case "MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Recv", "MPI_Sendrecv", "MPI_Mrecv":
		return true
	}
	return false
}

// side returns the group of a communicator that a rank is in, and its local rank there; -1 if it is
// in none.
func (c *Comm) side(rank int32) (side int, local int32) {
	for s, group := range c.Groups {
		for i, r := range group {
			if r == rank {
				return s, int32(i)
			}
		}
	}
	return -1, -1
}

// peers returns the group in which the ranks of operations of a side's members count.
func (c *Comm) peers(side int) []int32 {
	if c.Inter {
		return c.Groups[1-side]
	}
	return c.Groups[0]
}
