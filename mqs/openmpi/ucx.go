package openmpi

import (
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/transport"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ucx"
)

// ucxPML is the pml that leaves matching to UCX.
const ucxPML = "ucx"

// Its symbols, all of them in .dynsym of stripped libraries too: the module, the
// functions that UCX calls when a send is complete, and the messages that programs have
// taken out of the queues.
const (
	symUCX           = "ompi_pml_ucx" // mca_pml_ucx_module_t
	symBsendDone     = "mca_pml_ucx_bsend_completion"
	symBsendDoneNbx  = "mca_pml_ucx_bsend_nbx_completion"
	symPsendDone     = "mca_pml_ucx_psend_completion"
	symPrecvDone     = "mca_pml_ucx_precv_completion"
	symSendDone      = "mca_pml_ucx_send_completion"
	symSendDoneNbx   = "mca_pml_ucx_send_nbx_completion"
	symSendDoneEmpty = "mca_pml_ucx_send_completion_empty"
	symMessages      = "ompi_message_free_list" // opal_free_list_t
)

// sendsDone are called for all sends of the program but those that a call keeps on its
// stack; requestsDone for those of which the program has the request.
var (
	requestsDone = []string{symSendDone, symSendDoneNbx}
	sendsDone    = append([]string{symBsendDone, symBsendDoneNbx, symPsendDone, symSendDoneEmpty}, requestsDone...)
)

var ucxSymbols = slices.Concat(ucx.Symbols, sendsDone, []string{symUCX, symPrecvDone, symMessages})

// How pml ucx puts an MPI message's envelope into a tag of UCX, and what receives
// with wildcards look at (ompi/mca/pml/ucx/pml_ucx_request.h, 4.1 to 6.0). The tag
// stands in the upper 24 bits with its sign, below it the source's rank in the
// communicator and the communicator's index in the process that receives.
const (
	ucxContextBits  = 20
	ucxRankBits     = 20
	ucxContextMask  = 1<<ucxContextBits - 1
	ucxRankMask     = (1<<ucxRankBits - 1) << ucxContextBits
	ucxTagShift     = ucxContextBits + ucxRankBits
	ucxTagValueMask = 0x7fffff << ucxTagShift
)

// envelope is what a tag of UCX says.
type envelope struct {
	context uint64
	source  int32
	tag     int32
}

func envelopeOf(tag uint64) envelope {
	return envelope{tag & ucxContextMask, int32(tag & ucxRankMask >> ucxContextBits), int32(int64(tag) >> ucxTagShift)}
}

// ucxQueues are the messages and requests of pml ucx, by the unique id of their
// communicator.
type ucxQueues struct {
	worker     transport.Matcher
	symbols    map[string]inferior.Symbol
	sends      map[inferior.Addr][]ucxSend
	receives   map[inferior.Addr][]ucxReceive
	unexpected map[inferior.Addr][]ucxMessage
	freed      map[inferior.Addr]bool // communicators that are no more, but have messages or requests
}

// ucxRequest is what a request of UCX is to Open MPI.
type ucxRequest struct {
	handle  inferior.Addr   // what the program has, or UCX's own request if it has none
	started *persistentAt   // by which it was started, nil if by none
	call    *callstack.Call // on whose stack it is, nil if on none
}

type ucxSend struct {
	transport.Send
	ucxRequest
	peer mqs.Maybe[int32] // local rank
}

type ucxReceive struct {
	transport.Receive
	ucxRequest
}

type ucxMessage struct {
	transport.Message
	taken bool // by MPI_Mprobe
}

// ucxQueues reads all that pml ucx has, once.
func (s *source) ucxQueues() (*ucxQueues, error) {
	if s.ucx == nil && s.ucxErr == nil {
		s.ucx, s.ucxErr = s.readUCX()
		if s.ucxErr != nil {
			s.ucxErr = fmt.Errorf("its messages are inside UCX, which can't be read: %w", s.ucxErr)
		}
	}
	return s.ucx, s.ucxErr
}

func (s *source) readUCX() (*ucxQueues, error) {
	symbols, err := s.r.Symbols(ucxSymbols...)
	if err != nil {
		return nil, err
	}
	u, err := ucx.Open(s.r, symbols, s.Request.Size())
	if err != nil {
		return nil, err
	}
	q := &ucxQueues{symbols: symbols,
		sends: map[inferior.Addr][]ucxSend{}, receives: map[inferior.Addr][]ucxReceive{}, unexpected: map[inferior.Addr][]ucxMessage{}, freed: map[inferior.Addr]bool{}}
	if q.worker, err = s.ucxWorker(u, symbols); err != nil {
		return nil, err
	}
	calls, err := callstack.Calls(s.r)
	if err != nil {
		s.notef("sends that a call keeps on its stack can't be found: %v", err)
	}
	persistent := s.ucxPersistents(symbols)
	request := func(own, user inferior.Addr) ucxRequest {
		r := ucxRequest{handle: user, started: persistent[user]}
		if at := slices.IndexFunc(calls, func(c callstack.Call) bool { return c.Holds(own) }); at >= 0 {
			r.call, r.handle = &calls[at], own // there is nothing behind it
		}
		if r.started != nil {
			r.handle = r.started.addr
		}
		return r
	}
	s.assignReceives(q, calls, request)
	s.assignSends(q, calls, request)
	s.assignComplete(q, persistent)
	s.assignMessages(q)
	return q, nil
}

// ucxWorker finds the worker of the pml: others belong to one-sided communication
// or to collectives. ompi_pml_ucx points at it, at a place that releases differ in.
func (s *source) ucxWorker(u *ucx.UCX, symbols map[string]inferior.Symbol) (transport.Matcher, error) {
	const words = 64 // the functions of the pml, and what comes before the worker
	module, ok := symbols[symUCX]
	if !ok {
		return nil, fmt.Errorf("there is no symbol %s", symUCX)
	}
	pointers, err := s.r.Pointers(module.Addr, words)
	if err != nil {
		return nil, err
	}
	for _, p := range pointers {
		for _, w := range u.Matchers() {
			if w.Addr() == p {
				return w, nil
			}
		}
	}
	return nil, fmt.Errorf("none of UCX's %d workers is that of %s", len(u.Matchers()), symUCX)
}

// byContext is the id of the communicator that this process calls by an index. A program
// may have freed it: UCX goes on with what is under way on it.
func (s *source) byContext(q *ucxQueues, context uint64) inferior.Addr {
	id := inferior.Addr(context)
	if s.comms[id] == nil {
		q.freed[id] = true
	}
	return id
}

func (s *source) assignReceives(q *ucxQueues, calls []callstack.Call, request func(own, user inferior.Addr) ucxRequest) {
	matched := slices.Clone(q.worker.Queues().Matched)
	for i := range calls {
		eachWord(s.r, &calls[i], func(a inferior.Addr) {
			if r, ok := q.worker.ReceiveAt(a); ok && calls[i].Words[r.User] {
				matched = append(matched, r)
			}
		})
	}
	for _, r := range append(matched, q.worker.Queues().Posted...) {
		tag := r.Tag
		if r.State == transport.Complete && !r.Cancelled {
			tag = r.SenderTag // one that found its message at once has not noted what it asked for
		}
		id := s.byContext(q, envelopeOf(tag).context)
		q.receives[id] = append(q.receives[id], ucxReceive{r, request(r.Addr, r.User)})
	}
}

// eachWord calls f with every place on a call's stack: the requests of blocking calls
// stand there, those of a collective's own too, and some of them are in no queue. What former
// calls have left of theirs stands there too, but a call asks UCX about its own one by a pointer
// to what is behind it (mca_pml_ucx_send and _recv, 4.1 to 6.0), so that it holds that.
func eachWord(r *inferior.Reader, c *callstack.Call, f func(inferior.Addr)) {
	width := inferior.Addr(r.Info().PointerSize)
	for a := c.Stack.Addr; c.Holds(a); a += width {
		f(a)
	}
}

func (s *source) assignMessages(q *ucxQueues) {
	for _, m := range q.worker.Queues().Unexpected {
		id := s.byContext(q, envelopeOf(m.Tag).context)
		q.unexpected[id] = append(q.unexpected[id], ucxMessage{Message: m})
	}
	list, ok := q.symbols[symMessages]
	if !ok || !s.Message.Bound() {
		return
	}
	err := s.eachElement(list.Addr, symMessages, func(a inferior.Addr) error {
		h, err := s.Message.ReadAt(s.r, a)
		if err != nil || h.Next != 0 || h.Taken == 0 {
			return err
		}
		m, err := q.worker.MessageAt(h.Taken)
		id := inferior.Addr(envelopeOf(m.Tag).context)
		if c := s.comms[id]; err == nil && c != nil && c.addr == h.Comm {
			q.unexpected[id] = append(q.unexpected[id], ucxMessage{m, true})
		}
		return err
	})
	if err != nil {
		s.notef("messages that MPI_Mprobe has taken may be missing: %v", err)
	}
}
