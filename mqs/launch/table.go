package launch

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/mpi-queues/mpi-queues/mqs/procmem"
)

// The variables of a launcher's that list what it has started. The MPIR process
// acquisition interface (version 1.0, 2010) has, in C:
//
//	typedef struct {
//	  char *host_name;
//	  char *executable_name;
//	  int pid;
//	} MPIR_PROCDESC;
//	MPIR_PROCDESC *MPIR_proctable;
//	int MPIR_proctable_size;
//
// The place of an entry is its rank in MPI_COMM_WORLD.
const (
	tableSymbol = "MPIR_proctable"
	sizeSymbol  = "MPIR_proctable_size"
)

// entry is one of MPIR_PROCDESC.
type entry struct {
	host, executable string
	pid              int
}

// Bounds on tables, which stand in foreign processes' memory.
const (
	maxEntries = 1 << 20
	maxText    = 4096     // of a name, with its end
	maxTables  = 64 << 20 // of all that one look reads: entries, and names
	entryCost  = 32
	textCost   = 64       // to remember a name, beside its own bytes; each counts twice
	piece      = 64 << 10 // of a table, read at once
)

// readTable reads a launcher's table; it is empty if there is none, or none that
// is filled. Since the launcher runs on, what was read is only believed if the
// table is still the same behind it. What it takes is added to spent.
func readTable(m procmem.Memory, spent *atomic.Int64) ([]entry, error) {
	const attempts = 3
	tableAt, _, hasTable := m.Symbol(tableSymbol)
	sizeAt, _, hasSize := m.Symbol(sizeSymbol)
	if !hasTable || !hasSize {
		return nil, nil
	}
	where := func() (at uint64, size int32, err error) {
		if at, err = procmem.Pointer(m, tableAt); err != nil {
			return 0, 0, err
		}
		b, err := m.Bytes(sizeAt, 4)
		if err != nil {
			return 0, 0, err
		}
		return at, int32(procmem.Order(m).Uint32(b)), nil
	}
	var err error
	for range attempts {
		at, size, whereErr := where()
		switch {
		case whereErr != nil:
			return nil, whereErr
		case at == 0 || size == 0:
			return nil, nil
		case size < 0 || size > maxEntries:
			return nil, fmt.Errorf("its %s of %d entries can't be right", tableSymbol, size)
		}
		var table []entry
		table, err = readEntries(m, at, int(size), spent)
		if again, n, whereErr := where(); whereErr == nil && again == at && n == size {
			return table, err
		}
	}
	return nil, errors.Join(err, fmt.Errorf("its %s does not stand still", tableSymbol))
}

func readEntries(m procmem.Memory, at uint64, n int, spent *atomic.Int64) ([]entry, error) {
	width := m.PointerSize()
	step := 3 * width // two pointers and an int, padded to the width of a pointer
	if at > math.MaxUint64-uint64(n*step) {
		return nil, fmt.Errorf("its %s at %#x can't be right", tableSymbol, at)
	}
	order := procmem.Order(m)
	word := func(b []byte) uint64 {
		if width == 4 {
			return uint64(order.Uint32(b))
		}
		return order.Uint64(b)
	}
	texts := &texts{m: m, spent: spent, known: map[uint64]string{}}
	var out []entry
	for len(out) < n {
		count := min(n-len(out), piece/step)
		b, err := m.Bytes(at+uint64(len(out)*step), count*step)
		if err != nil {
			return nil, fmt.Errorf("its %s can't be read: %w", tableSymbol, err)
		}
		if cap(out)-len(out) < count { // it grows with what is there
			out = slices.Grow(out, min(n-len(out), max(count, len(out))))
		}
		for ; len(b) > 0; b = b[step:] {
			e := entry{pid: int(int32(order.Uint32(b[2*width:])))}
			if e.host, err = texts.read(word(b)); err != nil {
				return nil, fmt.Errorf("the host of entry %d of its %s can't be read: %w", len(out), tableSymbol, err)
			}
			// Not needed to tell a process.
			if e.executable, err = texts.read(word(b[width:])); errors.Is(err, errTables) {
				return nil, err
			}
			if spent.Add(entryCost) > maxTables {
				return nil, errTables
			}
			if e.pid <= 0 {
				return nil, fmt.Errorf("entry %d of its %s has the process id %d", len(out), tableSymbol, e.pid)
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// listedTwice is a process id that a table has twice for one machine, 0 if there is none: a
// process has one rank, and what is done for each would be done as often as the table says.
func (s *system) listedTwice(table []entry) int {
	hosts := map[string]uint64{}
	seen := make([]uint64, len(table))
	for i, e := range table {
		host, known := hosts[e.host]
		if !known {
			if !s.isHere(e.host) { // all names of this machine are one
				host = uint64(len(hosts)) + 1
			}
			hosts[e.host] = host
		}
		seen[i] = host<<32 | uint64(e.pid)
	}
	slices.Sort(seen)
	for i := range len(seen) - 1 {
		if seen[i] == seen[i+1] {
			return int(uint32(seen[i]))
		}
	}
	return 0
}

// errTables means that the tables of launchers are more than can be.
var errTables = errors.New("its " + tableSymbol + " and those around it are too long to be right")

// texts reads strings that often are the same ones or stand side by side.
type texts struct {
	m     procmem.Memory
	spent *atomic.Int64
	known map[uint64]string
	// page is the one that was read last, and at its address.
	page []byte
	at   uint64
}

// read returns the string at an address, empty for that of a null pointer.
func (t *texts) read(at uint64) (string, error) {
	if at == 0 {
		return "", nil
	}
	s, ok := t.known[at]
	if !ok {
		var err error
		if s, err = procmem.Text(pages{t.m, t}, at, maxText); err != nil {
			return "", err
		}
		if t.spent.Add(int64(2*(len(s)+textCost))) > maxTables {
			return "", errTables
		}
		t.known[at] = s
	}
	return s, nil
}

// pages is a process that is read a page at a time.
type pages struct {
	procmem.Memory
	*texts
}

// Bytes reads what is on one page, as [peek.Text] asks for.
func (p pages) Bytes(addr uint64, n int) ([]byte, error) {
	const size = 4096
	at := addr - addr%size
	if p.page == nil || p.at != at {
		page, err := p.m.Bytes(at, size)
		if err != nil {
			return nil, err
		}
		p.page, p.at = page, at
	}
	return p.page[addr-at:][:n], nil
}
