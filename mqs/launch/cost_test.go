package launch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
)

// endless is a launcher whose table has entries wherever one looks, each with names at
// places of their own: parts of one long name, which stands everywhere else.
type endless struct {
	inferior.Inferior // nothing else is asked for

	size uint32
	// Without names, all entries have the process id pid or, if numbered, one after the other.
	pid      uint32
	numbered bool
}

func (endless) Info() inferior.Info { return inferior.Info{PointerSize: 8} }
func (endless) Keep() int64         { return 64 << 10 }
func (endless) Close()              {}

const (
	endlessTable = 1 << 40
	endlessSize  = 1 << 41
	endlessHead  = 1 << 42
)

func (endless) FindSymbols(_ context.Context, names []string) ([]*inferior.Symbol, error) {
	out := make([]*inferior.Symbol, len(names))
	for i, name := range names {
		if at := map[string]inferior.Addr{tableSymbol: endlessHead, sizeSymbol: endlessSize}[name]; at != 0 {
			out[i] = &inferior.Symbol{Addr: at}
		}
	}
	return out, nil
}

func (e endless) ReadMemory(_ context.Context, ranges []inferior.Range) ([][]byte, error) {
	out := make([][]byte, len(ranges))
	for i, r := range ranges {
		out[i] = e.bytes(uint64(r.Addr), r.Len)
	}
	return out, nil
}

// bytes are n bytes at an address, which is that of a page.
func (e endless) bytes(addr uint64, n int) []byte {
	b := make([]byte, n, n+2*24) // whole entries
	switch {
	case addr == endlessHead:
		binary.LittleEndian.PutUint64(b, endlessTable)
	case addr == endlessSize:
		binary.LittleEndian.PutUint32(b, e.size)
	case addr < endlessTable: // 1000 letters and an end
		for i := range b {
			if b[i] = 'h'; (addr+uint64(i))%1001 == 1000 {
				b[i] = 0
			}
		}
	default:
		skip := (addr - endlessTable) % 24
		b = b[:0]
		for at := addr - skip; uint64(len(b)) < uint64(n)+skip; at += 24 {
			host, pid := (at-endlessTable)/24+1, uint64(1)
			if e.numbered {
				host, pid = 0, host
			} else if e.pid != 0 {
				host, pid = 0, uint64(e.pid)
			}
			b = binary.LittleEndian.AppendUint64(b, host)
			b = binary.LittleEndian.AppendUint64(b, 0)
			b = binary.LittleEndian.AppendUint64(b, pid)
		}
		b = b[skip:]
	}
	return b[:n]
}

// A launcher's table costs little, whatever it says of its own size and of its names.
func TestEndlessTable(t *testing.T) {
	for _, size := range []uint32{1 << 31, maxEntries + 1, maxEntries} {
		cost.AtMost(t, cost.Most, func() {
			table, err := readTable(endless{size: size}, new(atomic.Int64))
			if err == nil || len(table) > 0 {
				t.Errorf("a table of %d entries is read: %d, %v", size, len(table), err)
			}
			var broken *inferior.SpentError
			if size == maxEntries && !errors.Is(err, errTables) && !errors.As(err, &broken) {
				t.Errorf("its names are not what ends it: %v", err)
			}
		})
	}
}

// A process is one rank: a table that has it as often as it likes makes no job of a million.
func TestTableOfOneProcess(t *testing.T) {
	table := func(hosts ...string) *system {
		var entries []entry
		for _, host := range hosts {
			entries = append(entries, entry{host, "/prog", 31})
		}
		s := machine(t, madeUp{pid: 20, parent: 1, name: "mpirun", table: entries}, madeUp{pid: 31, parent: 20, name: "prog", program: "/prog"})
		s.isHere = func(host string) bool { return strings.HasPrefix(host, "here") }
		return s
	}
	million := table()
	million.open = func(pid int) (memory, error) {
		if pid == 20 {
			return endless{size: maxEntries, pid: 31}, nil
		}
		return newFake(8, false), nil
	}
	for name, s := range map[string]*system{
		"a million times": million,
		"by one name":     table("here", "here"),
		"by two names":    table("here", "away", "here.domain"),
		"elsewhere":       table("away", "away"),
	} {
		cost.AtMost(t, cost.Most, func() {
			if j, err := s.find(20); err == nil || !strings.Contains(err.Error(), "it has process 31 twice") {
				t.Errorf("%s: %v, %v", name, j != nil, err)
			}
		})
	}
	// Processes of two machines may have one number.
	if j, err := table("here", "away", "afar").find(20); err != nil || shape(j) != "mpirun 20 of 3: 0=31 1=31@away 2=31@afar" {
		t.Errorf("%+v, %v", j, err)
	}
}

// The tables of all processes that are looked into are no more than those of one may be.
func TestEndlessTables(t *testing.T) {
	s := machine(t, chain()...)
	s.open = func(pid int) (memory, error) {
		if pid == 59 {
			return newFake(8, false), nil
		}
		return endless{size: maxEntries, numbered: true}, nil
	}
	cost.AtMost(t, 2*cost.Most, func() { _, _ = s.find(59) }) // half of it is there at a time
	if err := s.processes[20].inside.err; !errors.Is(err, errTables) {
		t.Errorf("its length is not what ends the last one: %v", err)
	}
}

// Of the processes of other jobs, which anybody can have started, none is looked into.
func TestStrangersAreNotLookedInto(t *testing.T) {
	processes := []madeUp{
		{pid: 20, parent: 1, name: "prterun", uid: 1000},
		{pid: 31, parent: 20, name: "prog", env: pmixEnv("n@1", "0"), isMPI: true, uid: 1000},
		{pid: 32, parent: 20, name: "prog", env: pmixEnv("n@1", "1"), isMPI: true, uid: 1000}}
	for i := range 50 {
		for at, job := range []string{fmt.Sprintf("n@%d", 100+i), "n@1"} {
			pid := 100 + 4*i + 2*at
			env := pmixEnv(job, fmt.Sprint(i))
			processes = append(processes, madeUp{pid: pid, parent: 1, name: "sh", env: env, uid: 1001},
				madeUp{pid: pid + 1, parent: pid, name: "evil", env: env, uid: 1001})
		}
	}
	s := machine(t, processes...)
	open := s.open
	var strangers []int
	s.open = func(pid int) (memory, error) {
		if pid >= 100 {
			strangers = append(strangers, pid)
		}
		return open(pid)
	}
	for pid, want := range map[int]string{20: "prterun 20 of 2: 0=31 1=32", 32: "prterun 20 of 2: 0=31 1=32 self 1"} {
		j, err := s.find(pid)
		if err != nil || shape(j) != want || len(j.Claims) != 50 {
			t.Errorf("%d: %+v, %v", pid, j, err)
		}
	}
	if len(strangers) > 0 {
		t.Errorf("%d processes of a stranger's are looked into: %v", len(strangers), strangers)
	}
}
