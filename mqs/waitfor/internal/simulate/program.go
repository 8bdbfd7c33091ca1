// Package simulate makes up small MPI programs and runs them by MPI's rules of matching, so
// that what an analysis says of a moment of a job can be held against what becomes of it.
package simulate

import (
	"fmt"
	"strings"
)

// What a made-up program does besides MPI's calls.
const (
	forever = "compute for ever"
	exits   = "exit" // without MPI_Finalize
)

// Any is MPI_ANY_SOURCE and MPI_ANY_TAG.
const Any = -1

// Call is one call of a program. Ranks are local ones of the communicator's other side.
type Call struct {
	Name      string
	Comm      int   // among the job's communicators
	To, Tag   int32 // of a send
	From, For int32 // of a receive or a probe: the source and the tag, either of which may be [Any]
	Root      int32 // of a collective
	// Rendezvous messages, which the program can't tell from eager ones, wait for their receive.
	Rendezvous bool
}

// Comm is a communicator: its groups are global ranks by local rank, the second one of an
// intercommunicator only.
type Comm struct {
	Name, Context string
	Groups        [2][]int32
	Inter         bool
}

// Job is a made-up program, and how its MPI works and shows itself.
type Job struct {
	Comms []Comm
	// Ranks are the calls of each rank's threads: the first one ends with MPI_Finalize.
	Ranks [][][]Call

	// Counted messages have counts by peer. Else a process counts what it has done: all
	// requests that were over, or receives that had to wait.
	Counted, OnlyReceives bool
	// Dissemination says how collectives that synchronise go: else over the first member. A
	// broadcast's members hand on what they have got: else they get it from the root.
	Dissemination bool
	// Fetched are the data of rendezvous messages: the receiver does that, for as long as it
	// takes, and answers then. Else it answers first, and the sender sends them.
	Fetched bool
	// Loops are programs in which all calls of a name stand in one line, and a library that
	// gives a request the address of one that is over.
	Loops bool
	// Untold are the library's own sends: neither that they are, nor their tags are known.
	Untold bool
	// Shown are the library's own operations.
	Shown bool
	// Dropped are operations that are complete: they are in no queue.
	Dropped bool
	// ProbesQueued are in the queue of receives, else in the call's arguments.
	ProbesQueued bool
	// Deaf is a library that takes no messages inside MPI_Finalize.
	Deaf bool
	// Halves are messages that have been counted, and not matched yet.
	Halves bool
	// Arriving tells of messages that no queue has.
	Arriving bool
}

// String is the job as a table, a line for each thread.
func (j *Job) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "counted %v, only receives %v, dissemination %v, shown %v, dropped %v, probes queued %v, deaf %v, halves %v, arriving %v, fetched %v, untold %v, loops %v\n",
		j.Counted, j.OnlyReceives, j.Dissemination, j.Shown, j.Dropped, j.ProbesQueued, j.Deaf, j.Halves, j.Arriving, j.Fetched, j.Untold, j.Loops)
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

// String is a call in short.
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

// side is which group of a communicator a rank is in, and its local rank there; -1 if none.
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

// peers are the group that the ranks of operations of a side's members count in.
func (c *Comm) peers(side int) []int32 {
	if c.Inter {
		return c.Groups[1-side]
	}
	return c.Groups[0]
}
