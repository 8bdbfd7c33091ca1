package recordings

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
)

// hostile changes memory here and there: to other pointers of the same process, huge and
// negative numbers, noise.
type hostile struct {
	info inferior.Info
	rnd  *rand.Rand
	rate float64 // of the words that are changed
	seen []uint64
}

// rewritten is a process whose memory is changed so.
func (h *hostile) rewritten(p inferior.Inferior) inferior.Inferior {
	h.info = p.Info()
	return &inferiortest.Rewritten{Inferior: p, Rewrite: h.rewrite}
}

func (h *hostile) rewrite(b []byte) {
	width := h.info.PointerSize
	for ; len(b) >= width; b = b[width:] {
		v := h.word(b)
		if v > 1<<20 && len(h.seen) < 4096 {
			h.seen = append(h.seen, v)
		}
		if h.rnd.Float64() < h.rate {
			h.put(b, h.lie(v))
		}
	}
}

func (h *hostile) order() binary.ByteOrder {
	if h.info.BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func (h *hostile) word(b []byte) uint64 {
	if h.info.PointerSize == 4 {
		return uint64(h.order().Uint32(b))
	}
	return h.order().Uint64(b)
}

func (h *hostile) put(b []byte, v uint64) {
	if h.info.PointerSize == 4 {
		h.order().PutUint32(b, uint32(v))
		return
	}
	h.order().PutUint64(b, v)
}

func (h *hostile) lie(v uint64) uint64 {
	switch h.rnd.IntN(5) {
	case 0:
		return h.rnd.Uint64()
	case 1:
		return ^uint64(0) - uint64(h.rnd.IntN(16))
	case 2:
		return v + uint64(h.rnd.IntN(64)) - 32
	case 3:
		return 1 << h.rnd.IntN(63)
	}
	if len(h.seen) == 0 {
		return 0
	}
	return h.seen[h.rnd.IntN(len(h.seen))]
}

// counter is a context that ends a reading which asks it too often whether to go on: that is
// done for each range of memory that is fetched, and after every so many objects.
type counter struct {
	context.Context
	asked, most int
}

func (c *counter) Err() error {
	if c.asked++; c.most > 0 && c.asked > c.most {
		return fmt.Errorf("it goes on after %d steps", c.most)
	}
	return nil
}

// cost is what a reading takes, which no machine changes.
type cost struct {
	steps int
	bytes uint64 // allocated in all
}

// costOf reads a process, in so many steps if that is not 0.
func costOf(t *testing.T, steps int, p inferior.Inferior, reading func(context.Context, inferior.Inferior) (bool, error)) (c cost, isShown bool, err error) {
	asked := &counter{t.Context(), 0, steps}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	isShown, err = reading(asked, p)
	runtime.ReadMemStats(&after)
	return cost{asked.asked, after.TotalAlloc - before.TotalAlloc}, isShown, err
}

// Whatever memory holds, reading it ends, with something to show, and costs little more than
// what was recorded does.
func TestHostileMemory(t *testing.T) {
	standsHostility(t, "*/queues*.mpiq", 60, func(string) func(context.Context, inferior.Inferior) (bool, error) { return show })
}

// Nor does it cost more to follow handles.
func TestHostileHandles(t *testing.T) {
	standsHostility(t, "*/handles-rank-0.mpiq", 8, func(file string) func(context.Context, inferior.Inferior) (bool, error) {
		var values []mqs.HandleValue
		for _, e := range handlesOf(t, strings.TrimSuffix(file, ".mpiq")) {
			values = append(values, valueOf(t, &e))
		}
		return func(ctx context.Context, p inferior.Inferior) (bool, error) {
			err := read.Sources{Decoders: decoders.All}.RecordObjects(ctx, inferior.NewRecorder(p), values)
			var u *read.UnreadableError
			if errors.As(err, &u) && !strings.Contains(u.Reason, "mpi-queues failed") {
				return false, nil
			}
			return err == nil, err
		}
	})
}

// standsHostility reads recorded processes, and each with so many changes of its memory.
func standsHostility(t *testing.T, pattern string, seeds uint64, readingOf func(file string) func(context.Context, inferior.Inferior) (bool, error)) {
	t.Helper()
	const most = 4 // times as much
	shown := 0
	for _, file := range matches(t, pattern) {
		reading := readingOf(file)
		r, err := recording.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		honest, _, err := costOf(t, 0, (&hostile{rnd: rand.New(rand.NewPCG(0, 1))}).rewritten(r.Processes[0]), reading)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for seed := range seeds {
			h := &hostile{rnd: rand.New(rand.NewPCG(seed, 1)), rate: []float64{1e-2, 1e-3, 1e-4, 1e-5}[seed%4]}
			c, isShown, err := costOf(t, most*honest.steps, h.rewritten(r.Processes[0]), reading)
			if c.steps > most*honest.steps || c.bytes > most*honest.bytes {
				t.Errorf("%s, seed %d takes %d steps and %d KiB, where %d and %d do for what was recorded",
					file, seed, c.steps, c.bytes>>10, honest.steps, honest.bytes>>10)
			}
			if err != nil {
				t.Fatalf("%s, seed %d: %v", file, seed, err)
			}
			if isShown {
				shown++
			}
		}
	}
	if shown == 0 {
		t.Error("no seed got past the proofs")
	}
}

// show reads a process and writes what it finds, which has to be well formed. What can't be
// read is a sentence, which is something to show too.
func show(ctx context.Context, t inferior.Inferior) (bool, error) {
	r := inferior.NewReader(ctx, t)
	source, err := read.Open(r, decoders.All)
	if err != nil {
		return false, nil
	}
	p, err := read.Collect(r, source, read.Filter{Internal: true})
	if err != nil {
		return false, err
	}
	var doc bytes.Buffer
	if err := document.Write(&doc, &mqs.Snapshot{Processes: []*mqs.Process{p}}); err != nil {
		return false, err
	}
	_, err = document.Parse(doc.Bytes())
	return true, err
}
