package cluster

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
)

// memory is what is kept of a node for the next look at it: the processes that stand are the same ones in both looks, and are
// read once.
type memory struct {
	seen *document.Seen
	// shared is a hash of what the processes have alike.
	shared [sha256.Size]byte
	// pids are those that the processes have on their machine.
	pids map[*mqs.Process]int
}

// opener reads what collectors have sent. Several goroutines may use it.
type opener struct {
	parser document.Parser
	groups groups

	mu     sync.Mutex
	before map[string]memory // by machine
}

// keep keeps what there is of a machine for the next look.
func (o *opener) keep(machine string, m memory) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.before == nil {
		o.before = map[string]memory{}
	}
	if machine != "" {
		o.before[machine] = m
	}
}

// take returns what was kept of a machine, once: another host that says that it is this machine gets nothing.
func (o *opener) take(machine string) memory {
	o.mu.Lock()
	defer o.mu.Unlock()
	m := o.before[machine]
	delete(o.before, machine)
	return m
}

var errNoDocument = errors.New("what it has sent is no document")

// open reads what a collector has sent.
func (o *opener) open(c *wire.Collector) (*part, error) {
	from, err := c.Document()
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(from)
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) > maxHeader {
			return nil, errNoDocument
		}
	}
	p := &part{}
	if err := json.Unmarshal(line, &p.header); err != nil {
		return nil, errNoDocument
	}
	before := o.take(c.Machine)
	alike, _ := json.Marshal(p.header.shared) // texts and numbers
	if p.memory.shared = sha256.Sum256(alike); p.memory.shared != before.shared {
		before = memory{} // a process would not be the same with other groups
	}
	if p.Snapshot, p.seen, err = o.parser.ReadAgain(in, before.seen); err != nil {
		return nil, err
	}
	p.pids = make(map[*mqs.Process]int, len(p.Processes))
	for _, process := range p.Processes {
		pid, isKnown := before.pids[process]
		if !isKnown {
			pid = process.PID
		}
		p.pids[process] = pid
	}
	p.seen.Drop(isToBeInferred)
	err = p.give(p.Processes, &o.groups)
	p.header.shared = shared{}
	return p, err
}

// isToBeInferred says whether other processes may tell more of a process than it knows itself, which may differ at the next look.
func isToBeInferred(p *mqs.Process) bool {
	return slices.ContainsFunc(p.Communicators, func(q *mqs.Queues) bool {
		sends := q.Queue[mqs.PendingSends]
		return sends != nil && slices.ContainsFunc(sends.Operations, func(o mqs.PendingOperation) bool { return o.MessageID.Known && !o.DesiredLocalRank.Known })
	})
}
