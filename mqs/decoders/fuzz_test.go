package decoders_test

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// replaceWords replaces words at the places that a reader comes to, in the order of its coming: each
// is known by how many words, of those that are not zero, have been read before.
func replaceWords(words map[uint32]uint64) func(b []byte) {
	read := uint32(0)
	return func(b []byte) {
		for ; len(b) >= 8; b = b[8:] {
			if binary.LittleEndian.Uint64(b) == 0 {
				continue // most of a recording is
			}
			if v, ok := words[read]; ok {
				binary.LittleEndian.PutUint64(b, v)
			}
			read++
		}
	}
}

// fuzzed are recordings of what is read in different ways.
var fuzzed = []string{
	ofOpenMPI, ofMPICH,
	"openmpi-5.0.7/queues-rank-0", "openmpi-4.1.4-ucx/queues-old-rank-0",
	"mpich-4.0.2-ch3/queues-rank-0", "mpich-4.0.2-stock/queues-rank-0",
	"mpich-4.0.2-ch4-ucx/queues-rank-0", "mpich-4.0.2-ch4-debug/queues-rank-1", "mpich-5.0.2-stock/queues-rank-0",
	"openmpi-6.0.0rc2/handles-rank-1", "openmpi-6.0.0rc2-ucx/queues-new-rank-0", "openmpi-4.1.4-i386/queues-rank-0",
	"openmpi-4.1.4/requests-rank-0", "mpich-4.0.2-ch3-debug-powerpc/queues-rank-0", "openmpi-4.1.4/groups-rank-0",
	"openmpi-4.1.4-i386/waitall-rank-1",
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
		words := map[uint32]uint64{}
		for rest := input[1:]; len(rest) >= 10; rest = rest[10:] {
			words[uint32(binary.LittleEndian.Uint16(rest))] = binary.LittleEndian.Uint64(rest[2:])
		}
		readWithin(t, &inferiortest.Rewritten{Inferior: readWhole(t, fuzzed[int(input[0])%len(fuzzed)]).Inferior, Rewrite: replaceWords(words)})
	})
}

// mostSteps is how many steps the reading of a hostile process may take. The recordings take at most a tenth.
const mostSteps = 20000

// readWithin reads a process as its user would see it, within the bounds of a hostile one.
func readWithin(t *testing.T, p inferior.Inferior) (process *mqs.Process) {
	steps := &inferiortest.Steps{Context: t.Context(), Most: mostSteps}
	cost.AtMost(t, cost.Most, func() {
		var err error
		if process, err = read.Read(steps, p, decoders.All, read.Filter{Internal: true}); err != nil {
			if process = read.Failed(p.Info(), err); strings.Contains(err.Error(), "please report") {
				t.Error(err)
			}
		}
		if err := document.Write(io.Discard, &mqs.Snapshot{Processes: []*mqs.Process{process}}); err != nil {
			t.Error(err)
		}
	})
	if steps.Taken > mostSteps {
		t.Errorf("it takes more than %d steps", mostSteps)
	}
	return process
}
