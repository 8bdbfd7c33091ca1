package decoders_test

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// watched is a process that remembers what was asked of it.
type watched struct {
	inferior.Inferior
	pages          []inferior.Addr // that could be read, in the order in which a reader came to them
	symbols, types []string        // that are there
}

func (w *watched) Held() int64 { return w.Inferior.(interface{ Held() int64 }).Held() }

func (w *watched) ReadMemory(ctx context.Context, ranges []inferior.Range) ([][]byte, error) {
	got, err := w.Inferior.ReadMemory(ctx, ranges)
	for i, b := range got {
		for page := ranges[i].Addr &^ (page - 1); page < ranges[i].Addr+inferior.Addr(len(b)); page += 4096 {
			if !slices.Contains(w.pages, page) {
				w.pages = append(w.pages, page)
			}
		}
	}
	return got, err
}

func (w *watched) FindSymbols(ctx context.Context, names []string) ([]*inferior.Symbol, error) {
	got, err := w.Inferior.FindSymbols(ctx, names)
	for i, s := range got {
		if s != nil {
			w.symbols = append(w.symbols, names[i])
		}
	}
	return got, err
}

func (w *watched) FindTypes(ctx context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	got, err := w.Inferior.FindTypes(ctx, queries)
	for i, l := range got {
		if l != nil {
			w.types = append(w.types, queries[i].Name)
		}
	}
	return got, err
}

// whole is a recording of which all can be had.
type whole struct {
	watched
	process *mqs.Process // what is said of it
}

// readWhole reads a recording, once.
func readWhole(t testing.TB, name string) *whole {
	mu.Lock()
	defer mu.Unlock()
	if w := wholes[name]; w != nil {
		return w
	}
	w := &whole{watched: watched{Inferior: inferiortest.Recorded(t, name)}}
	var err error
	if w.process, err = read.Read(t.Context(), &w.watched, decoders.All, read.Filter{Internal: true}); err != nil {
		t.Fatal(name, err)
	}
	slices.Sort(w.symbols)
	slices.Sort(w.types)
	wholes[name] = w
	return w
}

var (
	mu     sync.Mutex
	wholes = map[string]*whole{}
)

// lossy is a recording of which something is lost. Each loss has 3 bytes: what it is, a page, a symbol or a type,
// and which.
func lossy(of *whole, losses []byte) *inferiortest.Lossy {
	p := &inferiortest.Lossy{Inferior: of.Inferior, Pages: map[inferior.Addr]bool{}, Symbols: map[string]bool{}, Types: map[string]bool{}}
	for ; len(losses) >= 3; losses = losses[3:] {
		switch which := int(binary.LittleEndian.Uint16(losses[1:])); {
		case losses[0]%4 < 2:
			p.Pages[of.pages[which%len(of.pages)]] = true
		case losses[0]%4 == 2:
			p.Symbols[of.symbols[which%len(of.symbols)]] = true
		case len(of.types) > 0:
			p.Types[of.types[which%len(of.types)]] = true
		}
	}
	return p
}

// pageLost is the loss of a page, as lossy wants it.
func pageLost(place int) []byte { return binary.LittleEndian.AppendUint16([]byte{0}, uint16(place)) }

// checkLoss fails the test if of a process of which something is lost something is said that the whole contradicts, or
// if what is missing has no mark. A symbol or a type that is not there any more is a library without it, which needs none: where
// MPICH has no BsendBuffer, what a buffered send shows is its copy.
func checkLoss(t *testing.T, name string, losses []byte) {
	was := readWhole(t, name)
	p := lossy(was, losses)
	now := readWithin(t, p)
	c := compareClaims(was.process, now)
	if len(p.Types) == 0 {
		for _, text := range c.contradictions {
			t.Errorf("%s: %s", name, text)
		}
	}
	if len(c.doubtful) > 0 && len(p.Symbols)+len(p.Types) == 0 && !isMarked(was.process, now) {
		t.Errorf("%s: nothing says why: %q", name, c.doubtful)
	}
	if t.Failed() {
		t.Logf("lost: pages %x, symbols %q, types %q; unavailable: %q, notes %.2000q", slices.Collect(maps.Keys(p.Pages)),
			slices.Collect(maps.Keys(p.Symbols)), slices.Collect(maps.Keys(p.Types)), now.Unavailable, now.Notes)
	}
}

// Of a process of which a part can't be had nothing is said that the whole contradicts, and what is missing has
// a mark. The input is the recording, and then what is lost.
func FuzzLoss(f *testing.F) {
	for i, name := range fuzzed {
		pages := len(readWhole(f, name).pages)
		for place := 0; place < pages; place += max(1, pages/4) {
			f.Add(append([]byte{byte(i)}, pageLost(place)...))
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) == 0 || len(input) > 64 {
			t.Skip("too much")
		}
		checkLoss(t, fuzzed[int(input[0])%len(fuzzed)], input[1:])
	})
}
