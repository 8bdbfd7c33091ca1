package ucx

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// recorded is a process of Open MPI, which keeps 160 bytes in each request.
func recorded(t *testing.T) *inferiortest.Patched {
	t.Helper()
	return inferiortest.Patch(inferiortest.Recorded(t, "openmpi-4.1.4-ucx/queues-old-rank-0"))
}

// open reads the UCX of such a process.
func open(t *testing.T, p inferior.Inferior) (*UCX, error) {
	t.Helper()
	const request = 160
	r := inferior.NewReader(context.Background(), p)
	symbols, err := r.Symbols(Symbols...)
	if err != nil {
		t.Fatal(err)
	}
	return Open(r, symbols, request)
}

func TestOpen(t *testing.T) {
	u, err := open(t, recorded(t))
	if err != nil || len(u.workers) != 1 || u.LayoutName() != "UCX 1.13" {
		t.Fatalf("%+v, %v", u, err)
	}
	w := u.workers[0]
	if len(w.queues.Posted) == 0 || len(w.queues.Unexpected) == 0 || len(w.queues.Sends) == 0 || w.queues.UnexpectedErr != nil || w.queues.Dropped != 0 {
		t.Errorf("%d receives, %d messages, %d sends, %v", len(w.queues.Posted), len(w.queues.Unexpected), len(w.queues.Sends), w.queues.UnexpectedErr)
	}
	for i := range w.queues.Posted[1:] {
		if w.queues.Posted[i].Sequence >= w.queues.Posted[i+1].Sequence {
			t.Errorf("receive %d has number %d, the next one %d", i, w.queues.Posted[i].Sequence, w.queues.Posted[i+1].Sequence)
		}
	}
}

// A pool whose requests are too small, too large or badly aligned is not one of requests.
func TestProofOfPool(t *testing.T) {
	u, err := open(t, recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	w := u.workers[0]
	pool, err := u.Pool.Read(u.r, w.requests.Ptr())
	if err != nil {
		t.Fatal(err)
	}
	at := func(member func(*poolData) *uint64) inferior.Addr {
		offset, ok := inferior.OffsetOf(&u.PoolData, member)
		if !ok {
			t.Fatal("a pool lacks a member")
		}
		return pool.Data.Addr() + offset
	}
	size, alignment := at(func(p *poolData) *uint64 { return &p.ElemSize }), at(func(p *poolData) *uint64 { return &p.Alignment })
	least := uint64(u.r.Info().PointerSize + u.Request.Size())
	for name, c := range map[string]struct {
		at    inferior.Addr
		value uint64
		says  string
	}{
		"too small":                {size, least - 1, "its requests have"},
		"with less than asked for": {size, least, "leave 0 bytes to their user"},
		"too large":                {size, maxRequest + 1, "its requests have"},
		"the largest":              {size, maxRequest, "bytes to their user"},
		"aligned to 3":             {alignment, 3, "aligned to 3"},
		"aligned too much":         {alignment, 2 * maxRequest, "aligned to"},
		"aligned to the most":      {alignment, maxRequest, ""},
		"not aligned":              {alignment, 0, ""},
	} {
		_, err := open(t, recorded(t).PutUint64(c.at, c.value))
		if c.says == "" {
			if err != nil && strings.Contains(err.Error(), "aligned to") {
				t.Errorf("%s: %v", name, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// files are the children of the node of an object, which is somewhere below another node.
func (u *UCX) files(t *testing.T, at inferior.Ptr[node], of inferior.Addr) []treeNode {
	t.Helper()
	n, err := u.Node.Read(u.r, at)
	if err != nil {
		t.Fatal(err)
	}
	all, err := u.children(treeNode{at, n})
	if err != nil || n.Obj == of {
		return all
	}
	for _, c := range all {
		if found := u.files(t, c.at, of); found != nil {
			return found
		}
	}
	return nil
}

// What does not agree with itself is not believed.
func TestProofs(t *testing.T) {
	u, err := open(t, recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	w := u.workers[0]
	hashed := w.queues.Posted[0]
	for _, r := range w.queues.Posted {
		if r.Mask == fullMask {
			hashed = r
		}
	}
	request := func(path string) inferior.Addr {
		f, _ := u.layouts.Field(u.Request.Name(), path)
		return hashed.Addr + inferior.Addr(f.Offset)
	}
	chunk := func(path string) inferior.Addr {
		f, _ := u.layouts.Field(u.Chunk.Name(), path)
		return w.pool.Chunks.Addr() + inferior.Addr(f.Offset)
	}
	for name, c := range map[string]struct {
		at   inferior.Addr
		says string
	}{
		"a receive in another bucket":               {request("recv.tag.tag"), "lies in queue"},
		"a receive with a mask among those without": {request("recv.tag.tag_mask"), "has mask 0xffffffffffffffaa and lies in queue"},
		"a receive of another worker":               {request("recv.worker"), "is another worker's"},
		"requests nowhere":                          {chunk("next") + 7, "the pool of requests: "},
		"more requests than memory has":             {chunk("num_elems") + 3, "the pool of requests can't be right"},
		"another size of requests":                  {w.requests.Addr() + 8, ""},
		"a worker that is not where it shows":       {inferior.Places(&u.Worker, w.at).Match.Addr(), ""},
	} {
		_, err := open(t, recorded(t).Flip(c.at, 0x55))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	files := u.files(t, inferior.Ptr[node](u.symbols[symTree].Addr+8), w.Addr())
	torn, unshown := recorded(t), recorded(t)
	next, _ := u.layouts.Field(u.Node.Name(), "list.next")
	torn.PutPointer(files[0].at.Addr()+inferior.Addr(next.Offset), 0)
	shows, _ := u.layouts.Field(u.Node.Name(), "arg_ptr")
	for _, f := range files {
		unshown.PutPointer(f.at.Addr()+inferior.Addr(shows.Offset), 0)
	}
	for says, p := range map[string]inferior.Inferior{"are no ring": torn, "no file shows a member of it": unshown} {
		if _, err := open(t, p); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	if _, err := Open(u.r, nil, 160); !errors.Is(err, ErrNone) {
		t.Errorf("without symbols: %v", err)
	}
	if _, err := Open(u.r, u.symbols, 8); err == nil || !strings.Contains(err.Error(), "has asked for 8") {
		t.Errorf("of another MPI: %v", err)
	}
}
