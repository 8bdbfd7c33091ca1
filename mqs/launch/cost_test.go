package launch

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
)

// endless is a launcher whose table has entries wherever one looks, each with names at
// places of their own: parts of one long name, which stands everywhere else.
type endless struct{ size uint32 }

func (endless) PointerSize() int { return 8 }
func (endless) BigEndian() bool  { return false }
func (endless) Close()           {}

const (
	endlessTable = 1 << 40
	endlessSize  = 1 << 41
	endlessHead  = 1 << 42
)

func (endless) Symbol(name string) (addr, size uint64, ok bool) {
	addr = map[string]uint64{tableSymbol: endlessHead, sizeSymbol: endlessSize}[name]
	return addr, 0, addr != 0
}

func (e endless) Bytes(addr uint64, n int) ([]byte, error) {
	switch {
	case addr == endlessHead:
		return binary.LittleEndian.AppendUint64(nil, endlessTable), nil
	case addr == endlessSize:
		return binary.LittleEndian.AppendUint32(nil, e.size), nil
	case addr < endlessTable: // 1000 letters and an end
		b := []byte(strings.Repeat("h", n))
		for i := range b {
			if (addr+uint64(i))%1001 == 1000 {
				b[i] = 0
			}
		}
		return b, nil
	}
	var b []byte
	for at := addr; len(b) < n; at += 24 {
		b = binary.LittleEndian.AppendUint64(b, (at-endlessTable)/24+1)
		b = binary.LittleEndian.AppendUint64(b, 0)
		b = binary.LittleEndian.AppendUint64(b, 1)
	}
	return b[:n], nil
}

// A launcher's table costs little, whatever it says of its own size and of its names.
func TestEndlessTable(t *testing.T) {
	for _, size := range []uint32{1 << 31, maxEntries + 1, maxEntries} {
		cost.AtMost(t, cost.Most, func() {
			table, err := readTable(endless{size})
			if err == nil || len(table) > 0 {
				t.Errorf("a table of %d entries is read: %d, %v", size, len(table), err)
			}
			if size == maxEntries && !errors.Is(err, errTexts) {
				t.Errorf("its names are not what ends it: %v", err)
			}
		})
	}
}
