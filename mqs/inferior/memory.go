package inferior

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
)

const (
	pageSize = 4 << 10
	// Every fetch brings at least a small block. Past the first few, which go
	// to the roots of the data structures, a fetch brings a larger block, and then one so large
	// that round trips grow with the bytes read and not with the number of
	// objects that they hold.
	smallBlock    = 16 << 10
	smallFetches  = 4
	mediumBlock   = 64 << 10
	mediumFetches = 16
	largeBlock    = 256 << 10
	// MaxFetch bounds what one call asks for in all, read-ahead included, in bytes.
	MaxFetch = 4 << 20
	// A range of a call is no longer than this: an unreadable page costs the rest of its range.
	maxRange = 64 << 10
	// maxCached bounds what a hostile process can make the cache hold.
	maxCached = int64(2 << 30)
)

// MemoryError is memory that can't be read.
type MemoryError struct {
	Addr Addr
	Len  int
	// Unrecorded is true if it is not in a recording: it may have been there in the process.
	Unrecorded bool
}

func (e *MemoryError) Error() string {
	if e.Unrecorded {
		return fmt.Sprintf("the recording does not have all of %d bytes at %s", e.Len, e.Addr)
	}
	return fmt.Sprintf("cannot read %d bytes at %s", e.Len, e.Addr)
}

// memory caches the memory of one process during one stop, or for a moment while it runs. It knows extents,
// which are contiguous and never overlap, and pages that are not readable.
type memory struct {
	inferior Inferior
	last     Addr     // that there is
	extents  []extent // by address
	holes    map[Addr]bool
	hit      int                    // the extent of the last hit
	used     func(a Addr, b []byte) // told of all that is handed out, if not nil
	fetches  int
	broken   error // the first that the inferior has answered with
	cached   int64
	held     int64 // bytes that the process has in all, -1 if not known
	keep     int64 // of a [Running] process, the bytes that are kept at a time; else 0
	kept     int64
	budget   budget
	turns    *turns                   // of tasks that read side by side, nil without such
	recorded func(a Addr, n int) bool // nil unless no more is to be read of a recording than it has
	lacked   int                      // how often it had not what was wanted
}

// there is how much of the memory is known to be there, in bytes.
func (m *memory) there() int64 {
	if m.held >= 0 {
		return m.held
	}
	return m.cached
}

type extent struct {
	start Addr
	data  []byte
}

func (e extent) end() Addr { return e.start + Addr(len(e.data)) }

// read returns n bytes at a, which the caller must not change.
func (m *memory) read(ctx context.Context, a Addr, n int) ([]byte, error) {
	if m.budget.spent != nil {
		return nil, m.budget.spent
	}
	if m.keep > 0 && m.kept > m.keep {
		m.extents, m.kept = nil, 0
		clear(m.holes)
	}
	if m.recorded != nil && n > 0 && m.isInside(a, n) && !m.recorded(a, n) {
		m.lacked++
		return nil, &MemoryError{Addr: a, Len: n, Unrecorded: true}
	}
	b, err := m.find(ctx, a, n)
	if err == nil && m.used != nil {
		m.used(a, b)
	}
	return b, err
}

func (m *memory) find(ctx context.Context, a Addr, n int) ([]byte, error) {
	if n < 0 || !m.isInside(a, n) {
		return nil, &MemoryError{Addr: a, Len: n}
	}
	if b := m.lookup(a, n); b != nil {
		return b, nil
	}
	// n may have come out of the process: nothing of that size is made before it is there.
	for have := 0; have < n; {
		at := a + Addr(have)
		b := m.prefix(at)
		if b == nil {
			if m.holes[at&^(pageSize-1)] {
				return nil, &MemoryError{Addr: a, Len: n}
			}
			if err := m.bring(ctx, m.plan(at, min(n-have, MaxFetch))); err != nil {
				return nil, err
			}
			if b = m.prefix(at); b == nil {
				return nil, &MemoryError{Addr: a, Len: n}
			}
		}
		have += min(len(b), n-have)
	}
	if b := m.lookup(a, n); b != nil {
		return b, nil
	}
	m.budget.made += int64(n)
	out := make([]byte, 0, n)
	for len(out) < n {
		b := m.prefix(a + Addr(len(out)))
		out = append(out, b[:min(len(b), n-len(out))]...)
	}
	return out, nil
}

// prefetch brings what is missing of the ranges in as few calls as possible.
// What can't be read is found out again by read.
func (m *memory) prefetch(ctx context.Context, ranges []Range) error {
	var want []Range
	for _, r := range ranges {
		if r.Len <= 0 || !m.isInside(r.Addr, r.Len) {
			continue
		}
		want = append(want, pages(r.Addr, r.Len))
	}
	slices.SortFunc(want, func(a, b Range) int { return cmp.Compare(a.Addr, b.Addr) })
	return m.bring(ctx, merged(want))
}

// merged joins ranges, which are sorted, where they overlap or are close to each other: a gap of a few
// pages costs less than another range. It overwrites them.
func merged(ranges []Range) []Range {
	out := ranges[:0]
	for _, r := range ranges {
		if k := len(out) - 1; k >= 0 && r.Addr <= end(out[k])+smallBlock {
			out[k].Len = max(out[k].Len, int(end(r)-out[k].Addr))
			continue
		}
		out = append(out, r)
	}
	return out
}

// bring fetches ranges, together with what others lack that read side by side.
func (m *memory) bring(ctx context.Context, ranges []Range) error {
	if m.turns != nil {
		return m.turns.wait(ranges)
	}
	return m.fetch(ctx, ranges)
}

// isInside says whether n bytes at a can be there. Beyond the last address a
// debugger may begin again at the first.
func (m *memory) isInside(a Addr, n int) bool {
	return a != 0 && a <= m.last && Addr(n) <= m.last-a
}

func end(r Range) Addr { return r.Addr + Addr(r.Len) }

// pages widens a range to whole pages.
func pages(a Addr, n int) Range {
	start := a &^ (pageSize - 1)
	whole := int(a-start) + n + pageSize - 1
	return Range{start, whole - whole%pageSize}
}

// plan widens the missing range at a: close to memory that the cache holds, to
// as much again as that is, upwards or downwards; else to a block.
func (m *memory) plan(a Addr, n int) []Range {
	need := pages(a, n)
	if m.keep > 0 {
		return []Range{need}
	}
	i, _ := slices.BinarySearchFunc(m.extents, need.Addr, func(e extent, a Addr) int { return cmp.Compare(e.start, a) })
	block := Addr(smallBlock)
	switch {
	case m.fetches >= mediumFetches:
		block = largeBlock
	case m.fetches >= smallFetches && m.turns == nil: // tasks side by side share their fetches
		block = mediumBlock
	}
	wide := Range{need.Addr &^ (block - 1), 0}
	wide.Len = int((end(need)+block-1)&^(block-1) - wide.Addr)
	if i > 0 && need.Addr-m.extents[i-1].end() < block {
		start := m.extents[i-1].end()
		ahead := min(max(m.run(i-1), int(block)), MaxFetch)
		wide = Range{start, max(int(end(need)-start), ahead)}
	} else if i < len(m.extents) && m.extents[i].start-end(need) < block {
		stop := m.extents[i].start
		behind := Addr(min(max(m.run(i), int(block)), MaxFetch, int(min(stop, MaxFetch))))
		wide = Range{stop - behind, int(behind)}
		if wide.Addr > need.Addr {
			wide = Range{need.Addr, int(stop - need.Addr)}
		}
	}
	if end(wide) < wide.Addr || end(wide)-1 > m.last { // the top of the address space
		return []Range{need}
	}
	if wide.Addr < need.Addr {
		// Apart, lest an unreadable page before it cost what is needed.
		return []Range{{wide.Addr, int(need.Addr - wide.Addr)}, {need.Addr, int(end(wide) - need.Addr)}}
	}
	return []Range{wide}
}

// run is the length of the contiguous memory around extent i that the cache holds.
func (m *memory) run(i int) int {
	n := len(m.extents[i].data)
	for k := i; k > 0 && m.extents[k-1].end() == m.extents[k].start && n < MaxFetch; k-- {
		n += len(m.extents[k-1].data)
	}
	for k := i; k+1 < len(m.extents) && m.extents[k].end() == m.extents[k+1].start && n < MaxFetch; k++ {
		n += len(m.extents[k+1].data)
	}
	return n
}

// fetch asks for what the cache does not hold of the ranges, which are sorted
// and apart, in calls of at most MaxFetch bytes.
func (m *memory) fetch(ctx context.Context, ranges []Range) error {
	var batch []Range
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := m.call(ctx, batch)
		batch, size = nil, 0
		return err
	}
	for _, r := range pieces(ranges) {
		for _, gap := range m.missing(r) {
			for gap.Len > 0 {
				n := min(gap.Len, maxRange-int(gap.Addr%maxRange))
				if size+n > MaxFetch {
					if err := flush(); err != nil {
						return err
					}
				}
				batch = append(batch, Range{gap.Addr, n})
				size += n
				gap.Addr += Addr(n)
				gap.Len -= n
			}
		}
	}
	return flush()
}

// pieces are ranges of at most MaxFetch bytes, one after the other: a range may be of any
// size, and only what is asked for is counted.
func pieces(ranges []Range) iter.Seq2[int, Range] {
	return func(yield func(int, Range) bool) {
		for i, r := range ranges {
			for ; r.Len > 0; r = (Range{r.Addr + MaxFetch, r.Len - MaxFetch}) {
				if !yield(i, Range{r.Addr, min(r.Len, MaxFetch)}) {
					return
				}
			}
		}
	}
}

func (m *memory) call(ctx context.Context, ranges []Range) error {
	for _, r := range ranges {
		m.budget.asked += int64(r.Len)
	}
	if m.budget.asked > maxAsked {
		m.budget.spent = &SpentError{fmt.Sprintf("gave up after asking for %d MiB of the process's memory, of which it has %d MiB", m.budget.asked>>20, m.cached>>20)}
		return m.budget.spent
	}
	got, err := m.inferior.ReadMemory(ctx, ranges)
	if err != nil {
		m.broken = cmp.Or(m.broken, err)
		return err
	}
	m.fetches++
	for i, data := range got {
		r := ranges[i]
		if len(data) < r.Len {
			// Where a range ends is all that is known of what lies beyond.
			m.holes[(r.Addr+Addr(len(data)))&^(pageSize-1)] = true
		}
		if len(data) > 0 {
			m.insert(extent{r.Addr, data})
			m.cached += int64(len(data))
			m.kept += int64(len(data))
		}
	}
	limit := maxCached
	if m.held >= 0 {
		limit = min(limit, freeMade+madePerByte*m.held) // it comes in whole pages
	}
	if m.cached > limit {
		m.budget.spent = &SpentError{fmt.Sprintf("gave up after reading %d MiB of the process's memory", m.cached>>20)}
		return m.budget.spent
	}
	return nil
}

func (m *memory) insert(e extent) {
	i, _ := slices.BinarySearchFunc(m.extents, e.start, func(x extent, a Addr) int { return cmp.Compare(x.start, a) })
	m.extents = slices.Insert(m.extents, i, e)
}

// missing returns the parts of a range that are neither cached nor known to be unreadable.
func (m *memory) missing(r Range) []Range {
	var out []Range
	add := func(start, end Addr) {
		for a := start; a < end; {
			next := min(a&^(pageSize-1)+pageSize, end)
			if !m.holes[a&^(pageSize-1)] {
				if k := len(out) - 1; k >= 0 && out[k].Addr+Addr(out[k].Len) == a {
					out[k].Len += int(next - a)
				} else {
					out = append(out, Range{a, int(next - a)})
				}
			}
			a = next
		}
	}
	at := r.Addr
	i, _ := slices.BinarySearchFunc(m.extents, at, func(e extent, a Addr) int { return cmp.Compare(e.end(), a+1) })
	for ; i < len(m.extents) && m.extents[i].start < end(r); i++ {
		add(at, m.extents[i].start)
		at = max(at, m.extents[i].end())
	}
	add(at, end(r))
	return out
}

// lookup returns n bytes at a if one extent holds them all.
func (m *memory) lookup(a Addr, n int) []byte {
	if b := m.prefix(a); len(b) >= n && b != nil {
		return b[:n:n]
	}
	return nil
}

// prefix returns what the extent that holds a has from a on, nil if there is none.
func (m *memory) prefix(a Addr) []byte {
	if m.hit < len(m.extents) {
		if e := m.extents[m.hit]; e.start <= a && a < e.end() {
			return e.data[a-e.start:]
		}
	}
	i, found := slices.BinarySearchFunc(m.extents, a, func(e extent, a Addr) int { return cmp.Compare(e.start, a) })
	if !found {
		i--
	}
	if i < 0 || a >= m.extents[i].end() {
		return nil
	}
	m.hit = i
	return m.extents[i].data[a-m.extents[i].start:]
}
