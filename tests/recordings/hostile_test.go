package recordings

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/mpich"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// hostile is a process in which, here and there, memory holds something else:
// other pointers of the same process, huge and negative numbers, noise.
type hostile struct {
	target.Target
	rnd  *rand.Rand
	rate float64 // of the words that are changed
	seen []uint64
}

func (h *hostile) ReadMemory(ctx context.Context, ranges []target.Range) ([][]byte, error) {
	got, err := h.Target.ReadMemory(ctx, ranges)
	width := h.Info().PointerSize
	for i, b := range got {
		b = bytes.Clone(b)
		for k := 0; k+width <= len(b); k += width {
			v := h.word(b[k:])
			if v > 1<<20 && len(h.seen) < 4096 {
				h.seen = append(h.seen, v)
			}
			if h.rnd.Float64() < h.rate {
				h.put(b[k:], h.lie(v))
			}
		}
		got[i] = b
	}
	return got, err
}

func (h *hostile) order() binary.ByteOrder {
	if h.Info().BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func (h *hostile) word(b []byte) uint64 {
	if h.Info().PointerSize == 4 {
		return uint64(h.order().Uint32(b))
	}
	return h.order().Uint64(b)
}

func (h *hostile) put(b []byte, v uint64) {
	if h.Info().PointerSize == 4 {
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

// Whatever memory holds, reading it ends, soon, and with something to show.
func TestHostileMemory(t *testing.T) {
	files, _ := filepath.Glob("*/queues*.mpiq")
	if len(files) == 0 {
		t.Fatal("no recordings")
	}
	shown := 0
	for _, file := range files {
		targets, err := target.OpenRecording(file)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(60) {
			h := &hostile{Target: targets[0], rnd: rand.New(rand.NewPCG(seed, 1)), rate: []float64{1e-2, 1e-3, 1e-4, 1e-5}[seed%4]}
			start := time.Now()
			r := target.NewReader(context.Background(), h)
			source, err := mqs.Open(r, []mqs.Decoder{openmpi.Decoder{}, mpich.Decoder{}})
			if err != nil {
				continue // a sentence is something to show
			}
			p, err := mqs.Collect(r, source, mqs.Filter{Internal: true})
			if err != nil {
				t.Fatalf("%s, seed %d: %v", file, seed, err)
			}
			var doc bytes.Buffer
			if err := render.JSON(&doc, &mqs.Snapshot{Processes: []*mqs.Process{p}}); err != nil {
				t.Fatal(err)
			}
			if _, err := render.ParseJSON(doc.Bytes()); err != nil {
				t.Fatalf("%s, seed %d: %v", file, seed, err)
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("%s, seed %d took %v", file, seed, d)
			}
			shown++
		}
	}
	if shown == 0 {
		t.Error("no seed got past the proofs")
	}
}
