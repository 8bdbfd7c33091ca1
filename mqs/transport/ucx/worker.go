package ucx

import (
	"errors"
	"fmt"
	"path"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Worker is a ucp_worker_t: messages match within one. It is a [transport.Matcher].
type Worker struct {
	at     inferior.Ptr[worker]
	queues transport.Queues

	u        *UCX
	match    tagMatch
	pool     poolData
	requests inferior.Embedded[pool] // the pool that requests are from

	posted map[inferior.Ptr[request]]bool
	chunks []chunk
}

// inSoftware has no network card match (uct_rc_mlx5_common.c).
const inSoftware = "UCX_RC_MLX5_TM_ENABLE=n and UCX_DC_MLX5_TM_ENABLE=n"

// Addr is the worker's.
func (w *Worker) Addr() inferior.Addr { return w.at.Addr() }

// Queues are the worker's.
func (w *Worker) Queues() *transport.Queues { return &w.queues }

// openWorker reads the worker that a node of the tree stands for.
func (u *UCX) openWorker(n treeNode) (*Worker, error) {
	w := &Worker{at: inferior.Ptr[worker](n.Obj), u: u}
	parts := inferior.Places(&u.Worker, w.at)
	w.requests = parts.Requests
	if err := u.r.Prefetch([]inferior.Range{{Addr: parts.Requests.Addr(), Len: u.Pool.Size()}, {Addr: parts.Match.Addr(), Len: u.Match.Size()}}); err != nil {
		return nil, err
	}
	if err := w.proveFiles(n); err != nil {
		return nil, err
	}
	var err error
	if w.match, err = u.Match.Read(u.r, parts.Match.Ptr()); err != nil {
		return nil, err
	}
	w.queues.Waited = w.match.Sequence
	if w.match.Offload != 0 {
		w.queues.Offload = transport.OffloadNote(inSoftware)
	}
	pool, err := u.Pool.Read(u.r, parts.Requests.Ptr())
	if err != nil {
		return nil, err
	}
	if w.pool, err = u.PoolData.Read(u.r, pool.Data); err != nil {
		return nil, err
	}
	return w, w.provePool()
}

// proveFiles holds the layout of a worker against the files beneath its node that
// show members of it, of which the tree keeps the addresses.
func (w *Worker) proveFiles(n treeNode) error {
	shown := map[string]inferior.Addr{}
	if offset, ok := inferior.OffsetOf(&w.u.Worker, func(t *worker) *uint64 { return &t.NumAllEPs }); ok {
		shown["num_all_eps"] = w.Addr() + offset
	}
	if offset, ok := inferior.OffsetOf(&w.u.Worker, func(t *worker) *inferior.Text { return &t.AddressName }); ok {
		shown["address_name"] = w.Addr() + offset
	}
	children, err := w.u.children(n)
	if err != nil {
		return err
	}
	proofs := 0
	for _, c := range children {
		name, err := w.u.path(c)
		if err != nil {
			return err
		}
		want := shown[path.Base(name)]
		if want == 0 || c.ArgPtr == 0 {
			continue
		}
		if c.ArgPtr != want {
			return fmt.Errorf("its %s is at %s, not at %s", path.Base(name), c.ArgPtr, want)
		}
		proofs++
	}
	if proofs == 0 {
		return errors.New("no file shows a member of it")
	}
	return nil
}

// foreignError means that a worker is not the MPI's, but that of another library that has
// UCX keep something else behind its requests; or that the layout is wrong.
type foreignError struct {
	user  uint64
	asked int
}

func (e *foreignError) Error() string {
	return fmt.Sprintf("its requests leave %d bytes to their user, and the MPI has asked for %d", e.user, e.asked)
}

// maxRequest bounds the size of a request with what the MPI keeps behind it, in bytes.
const maxRequest = 1 << 16

// provePool checks that the requests come from a pool of requests, of the size
// that the layout says. An element has a word for the pool in front.
func (w *Worker) provePool() error {
	if ops, ok := w.u.symbols[symRequestOps]; ok && w.pool.Ops != ops.Addr {
		return fmt.Errorf("its pool at %s is not one of requests", w.requests)
	}
	least := uint64(w.u.r.Info().PointerSize + w.u.Request.Size())
	p := w.pool
	if p.ElemSize < least || p.ElemSize > maxRequest || p.Alignment&(p.Alignment-1) != 0 || p.Alignment > maxRequest {
		return fmt.Errorf("its requests have %d bytes aligned to %d", p.ElemSize, p.Alignment)
	}
	if user := p.ElemSize - least; user != uint64(w.u.user) {
		return &foreignError{user, w.u.user}
	}
	return nil
}

// read finds the MPI's workers and reads all that is in them. What is read proves the
// layouts: a posted receive knows its worker, and lies in the bucket of its tag if it
// has no mask; a send by a new protocol has one for sends.
func (u *UCX) read() error {
	if err := u.findWorkers(); err != nil {
		return err
	}
	for _, w := range u.workers {
		for _, part := range []func() error{w.readChunks, w.readPosted, w.readRequests} {
			if err := part(); err != nil {
				return fmt.Errorf("the worker at %s: %w", w.at, err)
			}
		}
		// By now the layout has proved itself: a process can be stopped while it changes the ring.
		w.queues.UnexpectedErr = w.readUnexpected()
	}
	return nil
}
