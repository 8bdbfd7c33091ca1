package dll

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Source reads the queues of one process through a vendor's DLL.
type Source struct {
	ctx     context.Context
	host    *hostProcess
	process Process
	limit   time.Duration
	log     zerolog.Logger

	// ignored is true if the program asks that its queues not be shown.
	ignored  bool
	world    *mqs.Communicator
	remarks  []string
	missing  []string
	unread   int
	odd      int // operations with values that can't be
	faults   map[string]int
	received int64 // bytes of queues
	broken   error // why the DLL can't go on
}

func newSource(ctx context.Context, h *hostProcess, p Process, limit time.Duration, log zerolog.Logger) *Source {
	s := &Source{ctx: ctx, host: h, process: p, limit: limit, log: log, faults: map[string]int{}}
	s.keep(h.early)
	return s
}

// do makes a request to the host, and keeps the remarks in its reply.
func (s *Source) do(request wire.ToHost) (*wire.Reply, error) {
	if s.broken != nil {
		return nil, s.broken
	}
	reply, err := s.host.do(s.ctx, s.process, s.limit, request)
	logWords(s.log, s.host)
	if reply == nil {
		s.broken = err
		return nil, err
	}
	s.keep(reply)
	if s.received += reply.Bytes(); s.received > maxReceived {
		s.giveUp("sent more than %d MiB of queues", maxReceived>>20)
		return nil, s.broken
	}
	return reply, err
}

// maxReceived bounds what a DLL may send for one process, in bytes. Ten million operations take less.
const maxReceived = 4 << 30

// most bounds the number of remarks, and of things of each other kind, that are kept.
const most = 100

// keep keeps the remarks in a reply.
func (s *Source) keep(reply *wire.Reply) {
	for _, n := range reply.Notes {
		s.remark("%s", n)
	}
	for _, m := range reply.Missing {
		if len(s.missing) < most && !slices.Contains(s.missing, m) {
			s.missing = append(s.missing, m)
		}
	}
	s.unread += reply.Unread
	for _, f := range reply.Faults {
		if n, known := s.faults[f.Text]; known || len(s.faults) < most {
			s.faults[f.Text] = n + f.Times
		}
	}
}

// remark adds a sentence for the user, once.
func (s *Source) remark(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(s.remarks) < most && !slices.Contains(s.remarks, text) {
		s.remarks = append(s.remarks, text)
	}
}

// giveUp ends a host whose replies make no sense.
func (s *Source) giveUp(format string, args ...any) {
	s.host.close()
	s.broken = s.host.fault(format, args...)
}

// Err says why the DLL has broken down. Nothing that it said counts then.
func (s *Source) Err() error { return s.broken }

// Confinement says what keeps the DLL from doing harm.
func (s *Source) Confinement() string {
	if s.host == nil {
		return ""
	}
	return s.host.loaded.Confinement
}

// Info fills in what the DLL has said of the process: its rank once its communicators were read.
func (s *Source) Info(p *mqs.Process) {
	p.Source = "dll"
	if s.ignored {
		return
	}
	p.DLL, p.DLLVersion = s.host.path, s.host.loaded.Version
	if s.world != nil {
		if s.world.LocalRank.Known {
			p.GlobalRank = s.world.LocalRank
		}
		if s.world.Size.Known {
			p.WorldSize = s.world.Size
		}
	}
}

// Notes are what the user should know of the DLL's work.
func (s *Source) Notes() []string {
	out := slices.Clone(s.remarks)
	if s.odd > 0 {
		out = append(out, fmt.Sprintf("%d operations of %s have ranks, lengths or states that can't be: what can't be is not shown",
			s.odd, s.host.name()))
	}
	if len(s.missing) > 0 {
		out = append(out, fmt.Sprintf("%s has asked for types or members of which nothing is known (%s), so what it shows may be wrong",
			s.host.name(), strings.Join(s.missing, ", ")))
	}
	if s.unread > 0 {
		out = append(out, fmt.Sprintf("%s has asked %d times for memory that can't be read, so what it shows may be wrong or not be all",
			s.host.name(), s.unread))
	}
	for _, fault := range slices.Sorted(maps.Keys(s.faults)) {
		text := s.host.name() + " " + fault
		if n := s.faults[fault]; n > 1 {
			text += fmt.Sprintf(" (%d times)", n)
		}
		out = append(out, text)
	}
	return out
}

// withRemarks adds the DLL's own remarks to an error: they may say more.
func (s *Source) withRemarks(err error) error {
	const most = 6
	errs := []error{err}
	notes := s.Notes()
	for _, n := range notes[:min(len(notes), most)] {
		errs = append(errs, errors.New(n))
	}
	return errors.Join(errs...)
}

// Communicators yields the communicators in the DLL's order.
func (s *Source) Communicators() iter.Seq2[mqs.Communicator, error] {
	return func(yield func(mqs.Communicator, error) bool) {
		failures := 0
		for !s.ignored {
			reply, err := s.do(wire.ToHost{Next: &wire.Next{}})
			if err != nil {
				if failures++; failures > maxFailures && s.broken == nil {
					s.giveUp("has failed on %d communicators: %v", failures, err)
				}
				if !yield(mqs.Communicator{}, err) || s.broken != nil {
					return
				}
				continue
			}
			if reply.Communicator.End {
				return
			}
			c, ok := communicator(reply.Communicator)
			if !ok {
				s.giveUp("sent half a communicator")
				return
			}
			s.check(&c, reply.Communicator)
			if s.world == nil && c.Name.Value == "MPI_COMM_WORLD" {
				s.world = &c
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// maxFailures bounds the number of communicators on which a DLL may fail: its list may be endless.
const maxFailures = 1 << 14

// mpiUndefined is MPI_UNDEFINED of LAM/MPI, MPICH and Open MPI: the rank of a process that is not in a group.
const mpiUndefined = -32766

// check remarks on impossible values of a communicator.
func (s *Source) check(c *mqs.Communicator, raw *wire.Communicator) {
	m := rawCommunicator(raw)
	rank, size := int32(m.LocalRank), int32(m.Size)
	if size == 0 {
		return // MPI_COMM_NULL, or one that this process has no part in
	}
	// MPICH 1's DLL returns the former where it does not know the process's rank in the job, and LAM/MPI's the latter for
	// an intercommunicator, of which it shows the remote group (dll_mpich.c, reverse_translate; dll_lam.c, build_comm_list).
	isNone := rank == abi.InvalidProcess || rank == mpiUndefined
	if !c.Size.Known || !c.LocalRank.Known && !isNone {
		s.remark("%s says that this process has rank %d of %d in %s, which can't be: what can't be is not shown",
			s.host.name(), rank, size, c.Label())
	}
}

// Operations yields a queue of the communicator that was yielded last, in the DLL's order.
func (s *Source) Operations(_ *mqs.Communicator, class mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
	return func(yield func(mqs.PendingOperation, error) bool) {
		for start := true; ; start = false {
			reply, err := s.do(wire.ToHost{Operations: &wire.Operations{Class: classes[class], Start: start}})
			if reply == nil {
				yield(mqs.PendingOperation{}, err)
				return
			}
			more := false
			if list := reply.Operations; list != nil {
				if list.NoInformation {
					yield(mqs.PendingOperation{}, fmt.Errorf("%s has no information on it", s.host.name()))
					return
				}
				if list.Endless {
					yield(mqs.PendingOperation{}, fmt.Errorf("%s in %s: %w", abi.NextOperation, s.host.name(), read.ErrEndless))
					return
				}
				raw := operations(list.Raw)
				for i := range raw {
					if impossible(&raw[i]) {
						s.odd++
					}
					if !yield(operation(&raw[i], class), nil) {
						return
					}
				}
				if more = list.More; more && len(raw) == 0 {
					s.giveUp("sends nothing, and more of it")
					yield(mqs.PendingOperation{}, s.broken)
					return
				}
			}
			if err != nil {
				yield(mqs.PendingOperation{}, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

var classes = map[mqs.OpClass]abi.OpClass{
	mqs.PendingSends:       abi.PendingSends,
	mqs.PendingReceives:    abi.PendingReceives,
	mqs.UnexpectedMessages: abi.UnexpectedMessages,
}
