package launch

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

func TestReadTable(t *testing.T) {
	var table []entry
	for i := range 5000 { // more than is read at once
		table = append(table, entry{"node" + strings.Repeat("x", i%7), "/opt/a program", i + 1})
	}
	for _, width := range []int{4, 8} {
		for _, big := range []bool{false, true} {
			f := newFake(width, big)
			f.putTable(table)
			fetches := 0
			f.before = func(inferior.Range) { fetches++ }
			got, err := readTable(f, new(atomic.Int64))
			if err != nil || !slices.Equal(got, table) {
				t.Fatalf("%d bytes, big end first %t: %d entries, %v", width, big, len(got), err)
			}
			if fetches > 200 {
				t.Errorf("%d fetches", fetches)
			}
		}
	}
}

func TestReadNoTable(t *testing.T) {
	for name, put := range map[string]func(f *fake){
		"no symbols": func(*fake) {},
		"no size":    func(f *fake) { f.variable(tableSymbol, pointerAt) },
		"empty":      func(f *fake) { f.putTable(nil) },
		"no pointer": func(f *fake) {
			f.putTable([]entry{{"h", "e", 1}})
			f.Put(pointerAt, f.Pointer(0))
		},
	} {
		f := newFake(8, false)
		put(f)
		if table, err := readTable(f, new(atomic.Int64)); err != nil || table != nil {
			t.Error(name, table, err)
		}
	}
}

// Whoever owns the launcher can have put anything there.
func TestHostileTable(t *testing.T) {
	sound := []entry{{"host", "/program", 17}, {"host", "/program", 18}}
	size := func(f *fake, n uint32) { f.Put(sizeAt, f.Order().AppendUint32(nil, n)) }
	for name, put := range map[string]func(f *fake){
		"negative size":     func(f *fake) { size(f, 1<<31) },
		"huge size":         func(f *fake) { size(f, maxEntries+1) },
		"largest size":      func(f *fake) { size(f, maxEntries) },
		"size not readable": func(f *fake) { f.variable(sizeSymbol, 0x999000) },
		"nowhere":           func(f *fake) { f.Put(pointerAt, f.Pointer(0x999000)) },
		"at the end":        func(f *fake) { f.Put(pointerAt, f.Pointer(^inferior.Addr(0)-8)) },
		"no host":           func(f *fake) { f.Put(tableAt, f.Pointer(0x999000)) },
		"host of commands":  func(f *fake) { f.Put(textsAt, []byte("\x1b[2J\x00")) },
		"endless host":      func(f *fake) { f.Put(textsAt, []byte(strings.Repeat("h", 2*maxText))) },
		"process 0":         func(f *fake) { f.Put(tableAt+16, []byte{0, 0, 0, 0}) },
		"process -1":        func(f *fake) { f.Put(tableAt+16, []byte{255, 255, 255, 255}) },
	} {
		f := newFake(8, false)
		f.putTable(sound)
		put(f)
		if table, err := readTable(f, new(atomic.Int64)); err == nil || table != nil {
			t.Errorf("%s: %d entries, %v", name, len(table), err)
		}
	}
	// A program's name is not needed.
	f := newFake(8, false)
	f.putTable(sound)
	f.Put(tableAt+8, f.Pointer(0x999000))
	if table, err := readTable(f, new(atomic.Int64)); err != nil || table[0] != (entry{"host", "", 17}) {
		t.Error(table, err)
	}
}

// The names of a table can be far more than memory holds, in a few pages: each
// begins a byte behind the one before.
func TestHostileNames(t *testing.T) {
	f := newFake(8, false)
	f.putTable([]entry{{"host", "/program", 17}})
	const n = 1 << 17
	f.Put(sizeAt, f.Order().AppendUint32(nil, n))
	for i := range inferior.Addr(n) {
		f.Put(tableAt+24*i, slices.Concat(f.Pointer(0), f.Pointer(0x10000000+i), []byte{1, 0, 0, 0}))
	}
	f.Memory[0x10000000] = []byte(strings.Repeat("n", n+2*inferiortest.Page))
	// Ends, each far enough from the last one.
	for at := 0; at < n; at += maxText - 1 {
		f.Memory[0x10000000][at] = 0
	}
	if _, err := readTable(f, new(atomic.Int64)); err == nil {
		t.Error("a quarter of a gigabyte of names was read")
	}
}

// A launcher runs on, and can fill its table in between.
func TestMovingTable(t *testing.T) {
	f := newFake(8, false)
	f.putTable([]entry{{"host", "/program", 17}})
	two := []entry{{"host", "/program", 17}, {"host", "/program", 18}}
	f.before = func(r inferior.Range) {
		if r.Addr <= tableAt && tableAt < r.Addr+inferior.Addr(r.Len) {
			f.putTable(two)
		}
	}
	if table, err := readTable(f, new(atomic.Int64)); err != nil || !slices.Equal(table, two) {
		t.Error(table, err)
	}
	sizes := byte(0)
	f.before = func(r inferior.Range) {
		if r.Addr == sizeAt { // at the start of a page
			sizes++
			f.Put(sizeAt, []byte{1 + sizes%2})
		}
	}
	if table, err := readTable(f, new(atomic.Int64)); err == nil {
		t.Error("a table that does not stand still was read", table)
	}
}

// Whatever a launcher's memory holds ends in a table or in an error.
func TestRandomTables(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		f := newFake(4+4*random.IntN(2), random.IntN(2) == 0)
		f.putTable([]entry{{"host", "/program", 17}, {"other", "/program", 18}, {"", "", 19}})
		for range 1 + random.IntN(8) {
			at := []inferior.Addr{sizeAt, pointerAt, tableAt, textsAt}[random.IntN(4)] + inferior.Addr(random.IntN(32))
			f.Put(at, []byte{byte(random.Uint32())})
		}
		table, err := readTable(f, new(atomic.Int64))
		if err != nil && table != nil || len(table) > maxEntries {
			t.Fatal(len(table), err)
		}
	}
}
