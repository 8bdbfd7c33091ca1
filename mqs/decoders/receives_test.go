package decoders_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// counting counts what is asked of a process: each call is a round trip to a debugger. As in the process itself, there is memory
// beside what was recorded: a reader that reads ahead must not be told otherwise.
type counting struct {
	inferior.Inferior
	pages        map[inferior.Addr][]byte
	blocks       map[inferior.Addr]bool
	calls, bytes int
}

// block is how much memory is there around a page that was recorded.
const block = 1 << 20

func count(t *testing.T, name string) *counting {
	t.Helper()
	f := forge(t, name)
	c := &counting{Inferior: f.process, pages: f.pages, blocks: map[inferior.Addr]bool{}}
	for at := range f.pages {
		c.blocks[at&^(block-1)] = true
	}
	return c
}

func (c *counting) ReadMemory(_ context.Context, ranges []inferior.Range) ([][]byte, error) {
	c.calls++
	out := make([][]byte, len(ranges))
	for i, r := range ranges {
		out[i] = c.read(r)
		c.bytes += len(out[i])
	}
	return out, nil
}

func (c *counting) read(r inferior.Range) []byte {
	out := make([]byte, r.Len)
	for at := r.Addr &^ (page - 1); at < r.Addr+inferior.Addr(r.Len); at += page {
		p, ok := c.pages[at]
		if !ok && !c.blocks[at&^(block-1)] {
			return out[:max(at, r.Addr)-r.Addr] // memory ends
		}
		if at >= r.Addr {
			copy(out[at-r.Addr:], p)
		} else if p != nil {
			copy(out, p[r.Addr-at:])
		}
	}
	return out
}

func (c *counting) FindSymbols(ctx context.Context, names []string) ([]*inferior.Symbol, error) {
	c.calls++
	return c.Inferior.FindSymbols(ctx, names)
}

func (c *counting) FindTypes(ctx context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	c.calls++
	return c.Inferior.FindTypes(ctx, queries)
}

func (c *counting) Threads(ctx context.Context, depth int, variables []string) ([]inferior.Thread, error) {
	c.calls++
	return c.Inferior.Threads(ctx, depth, variables)
}

// expense is what reading a process's receives takes, on every machine the same.
type expense struct{ calls, bytes, allocations, allocated int }

func readMany(t *testing.T, name string, n int) (e expense) {
	t.Helper()
	c := count(t, fmt.Sprintf("../../mqs/decoders/testdata/many/%s-%d", name, n))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p, err := read.Read(t.Context(), c, decoders.All, read.Filter{})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	for _, comm := range p.Communicators {
		got += comm.Queue[mqs.PendingReceives].Total
	}
	if got != n {
		t.Fatalf("the recording shows %d receives, want %d", got, n)
	}
	return expense{c.calls, c.bytes, int(after.Mallocs - before.Mallocs), int(after.TotalAlloc - before.TotalAlloc)}
}

// TestReceivesCost checks that the round trips for many pending receives grow only with the bytes that are read, and these, and
// what is allocated, only with the receives: a decoder that asks for each request by itself is slow in every debugger.
func TestReceivesCost(t *testing.T) {
	const (
		few, many    = 1000, 10_000
		trips        = 40
		bytesPerTrip = 256 << 10
		growth       = 12 // for ten times as many
	)
	for _, c := range []struct {
		name string
		// perReceive is what may be read for a receive: its request, with that of the library, and as many again that are
		// free. beside is what may be read whatever is pending.
		perReceive, beside int
	}{
		{"ob1", 1200, 3 << 20},
		{"ucx", 1024, 4 << 20},
		{"ofi", 1600, 4 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			costs := map[int]expense{few: readMany(t, c.name, few), many: readMany(t, c.name, many)}
			for n, e := range costs {
				t.Logf("%d receives: %+v", n, e)
				if most := trips + e.bytes/bytesPerTrip; e.calls > most {
					t.Errorf("%d receives take %d round trips, want at most %d", n, e.calls, most)
				}
				if most := c.beside + n*c.perReceive; e.bytes > most {
					t.Errorf("%d receives take %d bytes, want at most %d", n, e.bytes, most)
				}
			}
			for what, of := range map[string]func(expense) int{
				"bytes read":      func(e expense) int { return e.bytes },
				"allocations":     func(e expense) int { return e.allocations },
				"bytes allocated": func(e expense) int { return e.allocated },
			} {
				if few, many := of(costs[few]), of(costs[many]); many > growth*few {
					t.Errorf("%s grow from %d to %d", what, few, many)
				}
			}
		})
	}
}
