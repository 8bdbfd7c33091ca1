package launch

import (
	"errors"
	"fmt"
	"math"

	"github.com/mpi-queues/mpi-queues/mqs/peek"
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

// Bounds on a table, which stands in a foreign process's memory.
const (
	maxEntries = 1 << 20
	maxText    = 4096     // of a name, with its end
	maxTexts   = 32 << 20 // of all names, each with what it takes to remember it
	textCost   = 64
	piece      = 64 << 10 // of the table, read at once
)

// readTable reads a launcher's table; it is empty if there is none, or none that
// is filled. Since the launcher runs on, what was read is only believed if the
// table is still the same behind it.
func readTable(m peek.Memory) ([]entry, error) {
	const attempts = 3
	tableAt, _, hasTable := m.Symbol(tableSymbol)
	sizeAt, _, hasSize := m.Symbol(sizeSymbol)
	if !hasTable || !hasSize {
		return nil, nil
	}
	where := func() (at uint64, size int32, err error) {
		if at, err = peek.Pointer(m, tableAt); err != nil {
			return 0, 0, err
		}
		b, err := m.Bytes(sizeAt, 4)
		if err != nil {
			return 0, 0, err
		}
		return at, int32(peek.Order(m).Uint32(b)), nil
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
		table, err = readEntries(m, at, int(size))
		if again, n, whereErr := where(); whereErr == nil && again == at && n == size {
			return table, err
		}
	}
	return nil, errors.Join(err, fmt.Errorf("its %s does not stand still", tableSymbol))
}

func readEntries(m peek.Memory, at uint64, n int) ([]entry, error) {
	width := m.PointerSize()
	step := 3 * width // two pointers and an int, padded to the width of a pointer
	if at > math.MaxUint64-uint64(n*step) {
		return nil, fmt.Errorf("its %s at %#x can't be right", tableSymbol, at)
	}
	order := peek.Order(m)
	word := func(b []byte) uint64 {
		if width == 4 {
			return uint64(order.Uint32(b))
		}
		return order.Uint64(b)
	}
	texts := &texts{m: m, left: maxTexts, known: map[uint64]string{}}
	var out []entry
	for len(out) < n {
		count := min(n-len(out), piece/step)
		b, err := m.Bytes(at+uint64(len(out)*step), count*step)
		if err != nil {
			return nil, fmt.Errorf("its %s can't be read: %w", tableSymbol, err)
		}
		for ; len(b) > 0; b = b[step:] {
			e := entry{pid: int(int32(order.Uint32(b[2*width:])))}
			if e.host, err = texts.read(word(b)); err != nil {
				return nil, fmt.Errorf("the host of entry %d of its %s can't be read: %w", len(out), tableSymbol, err)
			}
			// Not needed to tell a process.
			if e.executable, err = texts.read(word(b[width:])); errors.Is(err, errTexts) {
				return nil, err
			}
			if e.pid <= 0 {
				return nil, fmt.Errorf("entry %d of its %s has the process id %d", len(out), tableSymbol, e.pid)
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// errTexts means that a table's names are more than can be.
var errTexts = errors.New("the names in its " + tableSymbol + " are too long to be right")

// texts reads strings that often are the same ones or stand side by side.
type texts struct {
	m     peek.Memory
	left  int // bytes that names may still have
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
		if s, err = peek.Text(pages{t.m, t}, at, maxText); err != nil {
			return "", err
		}
		if t.left -= len(s) + textCost; t.left < 0 {
			return "", errTexts
		}
		t.known[at] = s
	}
	return s, nil
}

// pages is a process that is read a page at a time.
type pages struct {
	peek.Memory
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
