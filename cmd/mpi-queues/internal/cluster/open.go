package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
)

// memory is what is kept of a node for the next look at it: the processes that stand are the same ones in both looks, and are
// read once.
type memory struct {
	source source
	seen   *document.Seen
	// pids are those that the processes have on their machine.
	pids map[*mqs.Process]int
}

// source identifies the sender of a document. host is the name by which the node was asked or, if one engine asks all nodes, the
// name that the node reports. machine is the node's own identifier, which changes when host comes to refer to another machine.
type source struct{ host, machine string }

// opener reads what collectors have sent. Several goroutines may use it.
type opener struct {
	parser document.Parser
	// budget is for all that is kept of a look.
	budget *document.Budget

	mu sync.Mutex
	// What was kept in the last look and in this one.
	before, now map[source]memory
}

// again prepares for the next look.
func (o *opener) again() {
	o.parser.Forget()
	o.budget = new(document.Budget)
	o.before, o.now = o.now, map[source]memory{}
}

// keep keeps what there is of a node for the next look.
func (o *opener) keep(m memory) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m.source.machine != "" {
		o.now[m.source] = m
	}
}

// take returns what was kept of a node, once.
func (o *opener) take(from source) memory {
	o.mu.Lock()
	defer o.mu.Unlock()
	m := o.before[from]
	delete(o.before, from)
	return m
}

// maxRanks is how many ranks a node may have: the largest machines run some thousand threads.
const maxRanks = 1 << 14

var (
	errNoDocument = errors.New("it has not sent a valid document")
	errTooMany    = fmt.Errorf("it has sent more than %d ranks", maxRanks)
)

// open reads what a collector of a host has sent.
func (o *opener) open(host string, c *wire.Collector, account *document.Account) (*part, error) {
	from, err := c.Document()
	if err != nil {
		return nil, err
	}
	account.Add(c.Packed())
	p, err := o.read(source{host, c.Machine}, bufio.NewReader(from), account)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errNoDocument
	}
	return p, err
}

// read reads what a collector has sent.
func (o *opener) read(from source, in *bufio.Reader, account *document.Account) (p *part, err error) {
	p = &part{memory: memory{source: from}}
	if err := p.read(in, account); err != nil {
		return nil, err
	}
	before := o.take(from)
	if p.Snapshot, p.seen, err = o.parser.ReadMerged(in, account, before.seen); err != nil {
		return nil, err
	}
	if len(p.Processes) > maxRanks {
		return nil, errTooMany
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
	return p, nil
}

// isToBeInferred says whether other processes may tell more of a process than it knows itself, which may differ at the next look.
func isToBeInferred(p *mqs.Process) bool {
	return slices.ContainsFunc(p.Communicators, func(q *mqs.Queues) bool {
		sends := q.Queue[mqs.PendingSends]
		return sends != nil && slices.ContainsFunc(sends.Operations, func(o mqs.PendingOperation) bool { return o.MessageID.Known && !o.DesiredLocalRank.Known })
	})
}
