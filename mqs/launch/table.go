package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
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
func readTable(launcher inferior.Inferior, spent *atomic.Int64) ([]entry, error) {
	const attempts = 3
	anew := func() *inferior.Reader { return inferior.NewReader(context.Background(), launcher) }
	symbols, err := anew().Symbols(tableSymbol, sizeSymbol)
	if err != nil {
		return nil, err
	}
	tableAt, hasTable := symbols[tableSymbol]
	sizeAt, hasSize := symbols[sizeSymbol]
	if !hasTable || !hasSize {
		return nil, nil
	}
	where := func() (at inferior.Addr, size int32, err error) {
		r := anew()
		table, err := r.Pointers(tableAt.Addr, 1)
		if err != nil {
			return 0, 0, err
		}
		n, err := r.Int(sizeAt.Addr, 4)
		return table[0], int32(n), err
	}
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
		table, err = readEntries(anew(), at, int(size), spent)
		if again, n, whereErr := where(); whereErr == nil && again == at && n == size {
			return table, err
		}
	}
	return nil, errors.Join(err, fmt.Errorf("its %s does not stand still", tableSymbol))
}

func readEntries(r *inferior.Reader, at inferior.Addr, n int, spent *atomic.Int64) ([]entry, error) {
	const words = 3 // two pointers and an int, padded to the width of a pointer
	width := r.Info().PointerSize
	step := words * width
	texts := &texts{r: r, spent: spent, known: map[inferior.Addr]string{}}
	var out []entry
	for len(out) < n {
		count := min(n-len(out), piece/step)
		b, err := r.Pointers(at+inferior.Addr(len(out)*step), words*count)
		if err != nil {
			return nil, fmt.Errorf("its %s can't be read: %w", tableSymbol, err)
		}
		if cap(out)-len(out) < count { // it grows with what is there
			out = slices.Grow(out, min(n-len(out), max(count, len(out))))
		}
		for ; len(b) > 0; b = b[words:] {
			pid := b[2]
			if r.Info().BigEndian && width == 8 {
				pid >>= 32 // the padding is behind the int
			}
			e := entry{pid: int(int32(pid))}
			if e.host, err = texts.read(b[0]); err != nil {
				return nil, fmt.Errorf("the host of entry %d of its %s can't be read: %w", len(out), tableSymbol, err)
			}
			// Not needed to tell a process.
			if e.executable, err = texts.read(b[1]); errors.Is(err, errTables) {
				return nil, err
			}
			if spent.Add(entryCost) > maxTables {
				return nil, errTables
			}
			if e.pid <= 0 {
				return nil, fmt.Errorf("entry %d of its %s has the process id %d", len(out), tableSymbol, e.pid)
			}
			if len(out) == cap(out) {
				out = slices.Grow(out, len(out)+1) // double it: append alone copies five times as much
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

// texts reads strings, which often are the same ones.
type texts struct {
	r     *inferior.Reader
	spent *atomic.Int64
	known map[inferior.Addr]string
}

// read returns the string at an address, empty for that of a null pointer.
func (t *texts) read(at inferior.Addr) (string, error) {
	if at == 0 {
		return "", nil
	}
	s, ok := t.known[at]
	if !ok {
		var err error
		if s, err = t.r.CString(at, maxText); err != nil {
			return "", err
		}
		if s != printable.Line(s) {
			return "", fmt.Errorf("no text at %s", at)
		}
		if t.spent.Add(int64(2*(len(s)+textCost))) > maxTables {
			return "", errTables
		}
		t.known[at] = s
	}
	return s, nil
}
