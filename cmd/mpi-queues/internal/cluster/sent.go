package cluster

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
)

// A collector sends a line of JSON, the clocks of its processes, and a merged document of them.

// header is what is sent before the document of a node's ranks.
type header struct {
	// Names are the job's, which is the same on all nodes that have one of them in common.
	Names []string `json:"names"`
	// List is what a collector sends that only lists the ranks.
	List *List `json:"list,omitempty"`
	// Stopped are the clocks of processes before they were stopped, and Left those afterwards.
	Stopped map[int]liveness.Clock `json:"-"`
	Left    map[int]liveness.Clock `json:"-"`
}

// maxHeader bounds the line, in bytes.
const maxHeader = 16 << 20

// write writes all that a collector sends.
func (h *header) write(to io.Writer, s *mqs.Snapshot) error {
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	line = appendClocks(appendClocks(append(line, '\n'), h.Stopped), h.Left)
	if _, err := to.Write(line); err != nil {
		return err
	}
	return document.WriteMerged(to, s)
}

// What things of a header take in memory, in bytes: an object or a list with what it has, another element of a list, and a clock
// with what is made of all clocks of a job.
const (
	objectCost  = 256
	elementCost = 64
	clockCost   = 256
)

// read reads what stands before the document. What is kept of it is taken from an account.
func (h *header) read(in *bufio.Reader, account *document.Account) error {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) > maxHeader {
			return errNoDocument
		}
	}
	objects, elements := bytes.Count(line, []byte("{"))+bytes.Count(line, []byte("[")), bytes.Count(line, []byte(","))
	if err := account.Spend(int64(len(line) + objects*objectCost + elements*elementCost)); err != nil {
		return err
	}
	if err := json.Unmarshal(line, h); err != nil {
		return errNoDocument
	}
	var err error
	if h.Stopped, err = readClocks(in, account); err == nil {
		h.Left, err = readClocks(in, account)
	}
	return err
}

// appendClocks writes how many clocks there are, and each as how much it differs from the one before: process id, start and
// ticks, and 1 if it is runnable.
func appendClocks(b []byte, clocks map[int]liveness.Clock) []byte {
	b = binary.AppendUvarint(b, uint64(len(clocks)))
	last, lastPID := liveness.Clock{}, 0
	for _, pid := range slices.Sorted(maps.Keys(clocks)) {
		c := clocks[pid]
		b = binary.AppendVarint(b, int64(pid-lastPID))
		b = binary.AppendVarint(b, int64(c.Started-last.Started))
		b = binary.AppendVarint(b, int64(c.Ticks-last.Ticks))
		b = append(b, map[bool]byte{true: 1}[c.Runnable])
		last, lastPID = c, pid
	}
	return b
}

// usualRanks is how many ranks a node is taken to have before they are read.
const usualRanks = 128

func readClocks(in *bufio.Reader, account *document.Account) (map[int]liveness.Clock, error) {
	n, err := binary.ReadUvarint(in)
	if err == nil && n > maxRanks {
		err = errTooMany
	}
	if err == nil {
		err = account.Spend(int64(n) * clockCost)
	}
	if err != nil {
		return nil, err
	}
	out := make(map[int]liveness.Clock, min(n, usualRanks))
	c, pid := liveness.Clock{}, 0
	for ; err == nil && n > 0; n-- {
		var differs [3]int64
		for i := range differs {
			if differs[i], err = binary.ReadVarint(in); err != nil {
				return nil, err
			}
		}
		var isRunnable byte
		isRunnable, err = in.ReadByte()
		pid += int(differs[0])
		c = liveness.Clock{Started: c.Started + uint64(differs[1]), Ticks: c.Ticks + uint64(differs[2]), Runnable: isRunnable == 1}
		out[pid] = c
	}
	return out, err
}
