package decoders_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
	"github.com/mpi-queues/mpi-queues/mqs/mpich"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
)

// patched is a process some of whose memory holds something else: at the places that a
// reader comes to, in the order of its coming.
type patched struct {
	inferior.Inferior
	words map[uint32]uint64 // by how many words have been read before
	read  uint32
}

func (p *patched) Held() int64 { return p.Inferior.(interface{ Held() int64 }).Held() }

func (p *patched) ReadMemory(ctx context.Context, ranges []inferior.Range) ([][]byte, error) {
	got, err := p.Inferior.ReadMemory(ctx, ranges)
	for i, b := range got {
		got[i] = bytes.Clone(b)
		for k := 0; k+8 <= len(b); k += 8 {
			if binary.LittleEndian.Uint64(b[k:]) == 0 {
				continue // most of a recording is
			}
			if v, ok := p.words[p.read]; ok {
				binary.LittleEndian.PutUint64(got[i][k:], v)
			}
			p.read++
		}
	}
	return got, err
}

// fuzzed are recordings of what is read in different ways.
var fuzzed = []string{
	ofOpenMPI, ofMPICH,
	"openmpi-5.0.7/queues-rank-0.mpiq", "openmpi-4.1.4-ucx/queues-old-rank-0.mpiq",
	"mpich-4.0.2-ch3/queues-rank-0.mpiq", "mpich-4.0.2-stock/queues-rank-0.mpiq",
}

// Whatever memory holds, reading it ends with something to show, and costs what a kilobyte
// of it may. The input is the recording, and then words with their places: 2 bytes of
// the place, 8 of the word.
func FuzzDecode(f *testing.F) {
	for i := range fuzzed {
		for place := uint16(0); place < 64; place += 7 {
			for _, word := range []uint64{1 << 24, 1 << 40, ^uint64(0)} {
				input := binary.LittleEndian.AppendUint16([]byte{byte(i)}, place*9)
				f.Add(binary.LittleEndian.AppendUint64(input, word))
			}
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) == 0 || len(input) > 1<<10 {
			t.Skip("no kilobyte")
		}
		r, err := recording.Open("../../tests/recordings/" + fuzzed[int(input[0])%len(fuzzed)])
		if err != nil {
			t.Fatal(err)
		}
		p := &patched{Inferior: r.Processes[0], words: map[uint32]uint64{}}
		for rest := input[1:]; len(rest) >= 10; rest = rest[10:] {
			p.words[uint32(binary.LittleEndian.Uint16(rest))] = binary.LittleEndian.Uint64(rest[2:])
		}
		cost.AtMost(t, cost.Most, func() {
			process, err := read.Read(t.Context(), p, []read.Decoder{openmpi.Decoder{}, mpich.Decoder{}}, read.Filter{Internal: true})
			if err != nil {
				if process = read.Failed(p.Info(), err); strings.Contains(err.Error(), "please report") {
					t.Error(err)
				}
			}
			if err := document.Write(io.Discard, &mqs.Snapshot{Processes: []*mqs.Process{process}}); err != nil {
				t.Error(err)
			}
		})
	})
}
