package inferior_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// noise are so many bytes, the same every time.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Whatever is read in whatever order, it is what the process has.
func TestReaderReturnsWhatIsThere(t *testing.T) {
	f := inferiortest.New()
	const start, size = 0x10000, 3 << 20
	f.Memory[start] = noise(size)
	r := inferior.NewReader(context.Background(), f)
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		at, n := rnd.IntN(size-70_000), rnd.IntN(70_000)
		got, err := r.Bytes(start+inferior.Addr(at), n)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(f.Memory[start][at:at+n]) {
			t.Fatalf("%d bytes at %d differ", n, at)
		}
	}
	if f.BytesRead > size {
		t.Errorf("%d bytes were read of %d", f.BytesRead, size)
	}
}

// The number of calls grows with the bytes, not with the objects: upwards,
// downwards and all over the place.
func TestRoundTripsGrowWithBytes(t *testing.T) {
	const start, size, object = 0x7f00_0000_0000, 64 << 20, 768
	orders := map[string]func(i, n int) int{
		"ascending":  func(i, _ int) int { return i },
		"descending": func(i, n int) int { return n - 1 - i },
		"scattered":  func(i, n int) int { return i * 7919 % n },
	}
	for name, order := range orders {
		f := inferiortest.New()
		f.Memory[start] = make([]byte, size)
		r := inferior.NewReader(context.Background(), f)
		n := size / object
		for i := range n {
			if _, err := r.Bytes(start+inferior.Addr(order(i, n)*object), object); err != nil {
				t.Fatal(err)
			}
		}
		if most := inferior.SmallFetches + f.BytesRead/inferior.LargeBlock; f.Calls > most {
			t.Errorf("%s: %d calls for %d bytes, want at most %d", name, f.Calls, f.BytesRead, most)
		}
	}
}

// What lies around unreadable memory is still read.
func TestUnreadableMemory(t *testing.T) {
	f := inferiortest.New()
	f.Memory[0x5000] = noise(0x1000) // pages around it are missing
	f.Memory[0x9000] = noise(0x3000)
	r := inferior.NewReader(context.Background(), f)
	for _, a := range []inferior.Addr{0x5000, 0x5ff8, 0x9000, 0xbff8} {
		if _, err := r.Bytes(a, 8); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
	var m *inferior.MemoryError
	for _, a := range []inferior.Addr{0, 0x4ff8, 0x5ffc, 0x6000, 0x8ffc, 0xbffc, 0xc000, ^inferior.Addr(3)} {
		if _, err := r.Bytes(a, 8); !errors.As(err, &m) {
			t.Errorf("%s: %v", a, err)
		}
	}
	calls := f.Calls
	if _, err := r.Bytes(0x6000, 8); err == nil || f.Calls != calls {
		t.Errorf("a miss was asked for again: %v, %d calls", err, f.Calls-calls)
	}
}

// A process with pointers of 32 bits has no memory beyond them, also where the
// debugger begins again at the first address.
func TestNarrowAddresses(t *testing.T) {
	const size = 0x3000
	for _, start := range []inferior.Addr{0xffff_d000, 0xffff_c000} {
		f := inferiortest.New()
		f.Identity.PointerSize = 4
		f.Memory[start], f.Memory[1<<32] = noise(size), noise(size)
		r := inferior.NewReader(context.Background(), f)
		last := start + size - 0x10
		if err := r.Prefetch([]inferior.Range{{Addr: last, Len: 0x100}}); err != nil {
			t.Fatal(err)
		}
		for _, a := range []inferior.Addr{start, start + size/2, last} {
			if got, err := r.Bytes(a, 8); err != nil || string(got) != string(f.Memory[start][a-start:][:8]) {
				t.Errorf("%s: %x, %v", a, got, err)
			}
		}
		var m *inferior.MemoryError
		for _, a := range []inferior.Addr{0xffff_fffc, 1 << 32, 1<<32 + 0x100} {
			if _, err := r.Bytes(a, 8); !errors.As(err, &m) {
				t.Errorf("%s: %v", a, err)
			}
		}
		if want := size; f.BytesRead > want {
			t.Errorf("%d bytes were read of %d", f.BytesRead, want)
		}
	}
}

func TestPrefetchIsOneCall(t *testing.T) {
	f := inferiortest.New()
	var ranges []inferior.Range
	for i := range inferior.Addr(500) {
		f.Memory[0x100000+i*0x10000] = make([]byte, 0x1000)
		ranges = append(ranges, inferior.Range{Addr: 0x100000 + i*0x10000, Len: 0x400})
	}
	ranges = append(ranges, inferior.Range{Addr: 0, Len: 8}, inferior.Range{Addr: ^inferior.Addr(0), Len: 8}, inferior.Range{Addr: 0x40, Len: 8}) // nothing there
	r := inferior.NewReader(context.Background(), f)
	if err := r.Prefetch(ranges); err != nil {
		t.Fatal(err)
	}
	for _, want := range ranges[:500] {
		if _, err := r.Bytes(want.Addr, want.Len); err != nil {
			t.Fatal(err)
		}
	}
	if f.Calls != 1 {
		t.Errorf("%d calls", f.Calls)
	}
}

// running is a process of ones that runs on: each reading of it is another one.
type running struct {
	inferior.Inferior
	asked []inferior.Range
}

func (*running) Info() inferior.Info { return inferior.Info{PointerSize: 8} }
func (*running) Keep() int64         { return 2 * 0x1000 }

func (r *running) ReadMemory(_ context.Context, ranges []inferior.Range) ([][]byte, error) {
	var out [][]byte
	for _, want := range ranges {
		r.asked = append(r.asked, want)
		out = append(out, bytes.Repeat([]byte{byte(len(r.asked))}, want.Len))
	}
	return out, nil
}

// Of a process that runs on, nothing is read ahead and little is kept.
func TestRunning(t *testing.T) {
	p := &running{}
	r := inferior.NewReader(t.Context(), p)
	for i, c := range []struct {
		at   inferior.Addr
		n    int
		want uint64 // the reading that it is of
	}{{0x10008, 8, 1}, {0x10010, 8, 1}, {0x20008, 8, 2}, {0x10008, 8, 1}, {0x30008, 8, 3}, {0x10008, 8, 4}, {0x40000, 3 * 0x1000, 5}} {
		b, err := r.Bytes(c.at, c.n)
		if err != nil || uint64(b[0]) != c.want || uint64(b[c.n-1]) != c.want {
			t.Errorf("%d: reading %d, not %d (%v)", i, b[0], c.want, err)
		}
	}
	for _, asked := range p.asked[:4] {
		if asked.Len != 0x1000 {
			t.Errorf("%d bytes at %s were asked for", asked.Len, asked.Addr)
		}
	}
}
