package recordings

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
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
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// hostile changes words of a process's memory, in the order in which a reader comes to them: to other pointers of
// the same process, to huge and negative numbers, and to noise.
type hostile struct {
	info inferior.Info
	rnd  *rand.Rand
	rate float64 // the part of the words that is changed, 0 for none
	// next is how many words are left as they are before the next change, words and changed how many there were
	// of both kinds.
	next, words, changed int
	seen                 []uint64
}

// honest changes nothing, and counts words.
func honest() *hostile { return &hostile{seen: make([]uint64, 0, mostSeen)} }

// newHostile changes at least one of so many words: the first change is among as many words as there are, or as
// the rate lets pass between two changes if these are fewer.
func newHostile(seed uint64, rate float64, words int) *hostile {
	rnd := rand.New(rand.NewPCG(seed, 1))
	return &hostile{rnd: rnd, rate: rate, next: rnd.IntN(max(1, min(words, int(1/rate)))), seen: make([]uint64, 0, mostSeen)}
}

// mostSeen is how many pointers are remembered.
const mostSeen = 4096

// rewritten is a process whose memory is changed so.
func (h *hostile) rewritten(p inferior.Inferior) inferior.Inferior {
	h.info = p.Info()
	return &inferiortest.Rewritten{Inferior: p, Rewrite: h.rewrite}
}

func (h *hostile) rewrite(b []byte) {
	width := h.info.PointerSize
	for ; len(b) >= width; b = b[width:] {
		v := h.word(b)
		if v > 1<<20 && len(h.seen) < mostSeen {
			h.seen = append(h.seen, v)
		}
		h.words++
		if h.rate == 0 {
			continue
		}
		if h.next--; h.next < 0 {
			h.put(b, h.lie(v))
			h.changed++
			h.next = int(h.rnd.ExpFloat64() / h.rate)
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

// cost is what a reading takes, which no machine changes.
type cost struct {
	steps int
	bytes uint64 // allocated in all
}

// costOf reads a process, in so many steps if that is not 0.
func costOf(t *testing.T, steps int, p inferior.Inferior, reading func(context.Context, inferior.Inferior) (bool, error)) (c cost, isShown bool, err error) {
	asked := &inferiortest.Steps{Context: t.Context(), Most: steps}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	isShown, err = reading(asked, p)
	runtime.ReadMemStats(&after)
	return cost{asked.Taken, after.TotalAlloc - before.TotalAlloc}, isShown, err
}

// TestHostileMemory checks that reading ends whatever memory holds, with something to show, and costs little more than
// reading what was recorded.
func TestHostileMemory(t *testing.T) {
	standsHostility(t, "*/queues*.mpiq", 60, 15, func(string) func(context.Context, inferior.Inferior) (bool, error) { return show })
}

// TestHostileHandles checks the same of following handles.
func TestHostileHandles(t *testing.T) {
	standsHostility(t, "*/handles-rank-0.mpiq", 8, 5, func(file string) func(context.Context, inferior.Inferior) (bool, error) {
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

// standsHostility reads recorded processes, and each with so many changes of its memory: a run tries one seed of every
// part of them. parts has no common divisor with the number of rates, so that each run tries all rates. The tests do not
// run beside others, since what is allocated is counted for the whole process.
func standsHostility(t *testing.T, pattern string, seeds uint64, parts int, readingOf func(file string) func(context.Context, inferior.Inferior) (bool, error)) {
	t.Helper()
	sample.LogSeed(t)
	const most = 4 // times as much
	shown := 0
	for _, file := range matches(t, pattern) {
		reading, process := readingOf(file), open(t, file).Processes[0]
		asRecorded := honest()
		// A first reading, with each word changed, makes what all readings share, such as the layouts of builds with options.
		_, _, _ = costOf(t, 0, newHostile(0, 1, asRecorded.words).rewritten(process), reading)
		of, _, err := costOf(t, 0, asRecorded.rewritten(process), reading)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for seed := range seeds {
			if !sample.Chosen(file, int(seed), parts) {
				continue
			}
			h := newHostile(seed, []float64{1e-2, 1e-3, 1e-4, 1e-5}[seed%4], asRecorded.words)
			c, isShown, err := costOf(t, most*of.steps, h.rewritten(process), reading)
			if c.steps > most*of.steps || c.bytes > most*of.bytes {
				t.Errorf("%s, seed %d takes %d steps and %d KiB, where %d and %d do for what was recorded",
					file, seed, c.steps, c.bytes>>10, of.steps, of.bytes>>10)
			}
			if err != nil {
				t.Fatalf("%s, seed %d: %v", file, seed, err)
			}
			if h.changed == 0 {
				t.Errorf("%s, seed %d changes none of %d words", file, seed, asRecorded.words)
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
