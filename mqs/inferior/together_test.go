package inferior

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// chains is memory with pages far apart, each of which leads to the next one of its chain.
type chains struct {
	length int
	calls  int
	asked  int // for symbols and types
}

const apart = 1 << 30

func (c *chains) Info() Info { return Info{Kind: "live", PointerSize: 8} }

// ReadMemory has each page of a chain begin with the address of the next, the last with 0.
func (c *chains) ReadMemory(ctx context.Context, ranges []Range) ([][]byte, error) {
	c.calls++
	var out [][]byte
	for _, r := range ranges {
		b := make([]byte, r.Len)
		for at := (r.Addr + apart - 1) / apart * apart; at+8 <= end(r); at += apart {
			if next := at + apart; int(next/apart)%c.length != 0 {
				for i := range 8 {
					b[int(at-r.Addr)+i] = byte(next >> (8 * i))
				}
			}
		}
		out = append(out, b)
	}
	return out, ctx.Err()
}

func (c *chains) FindSymbols(_ context.Context, names []string) ([]*Symbol, error) {
	c.asked++
	return make([]*Symbol, len(names)), nil
}

func (c *chains) FindTypes(_ context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	c.asked++
	return make([]*layout.Layout, len(queries)), nil
}

func (c *chains) Threads(context.Context, int, []string) ([]Thread, error) { return nil, nil }

// follow goes along a chain from its beginning.
func follow(r *Reader, chain int, c *chains) (out []Addr, err error) {
	for at := Addr(chain*c.length) * apart; ; {
		next, err := r.Uint(at, 8)
		if err != nil || next == 0 {
			return out, err
		}
		at = Addr(next)
		out = append(out, at)
	}
}

// Tasks side by side read what they read by themselves, in as many round trips as one of them.
func TestTogether(t *testing.T) {
	const tasks, length = 300, 5 // more than run side by side
	alone := &chains{length: length}
	var want [][]Addr
	r := NewReader(t.Context(), alone)
	for i := 1; i <= tasks; i++ {
		found, err := follow(r, i, alone)
		if err != nil || len(found) != length-1 {
			t.Fatalf("%v, %v", found, err)
		}
		want = append(want, found)
	}
	beside := &chains{length: length}
	r = NewReader(t.Context(), beside)
	got := make([][]Addr, tasks)
	var list []func()
	for i := range tasks {
		list = append(list, func() { got[i], _ = follow(r, i+1, beside) })
	}
	r.Together(list)
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Fatalf("chain %d is %v, want %v", i, got[i], want[i])
		}
	}
	if most := 2 * length; beside.calls > most || alone.calls <= most {
		t.Errorf("%d calls side by side, and %d one after the other", beside.calls, alone.calls)
	}
	r.Together(nil)
}

// A task that panics, or whose memory can't be asked for, keeps no other one from its end.
func TestTogetherFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := &chains{length: 3}
	r := NewReader(ctx, c)
	var ended int
	var errs []error
	task := func(i int) func() {
		return func() {
			_, err := follow(r, i, c)
			errs = append(errs, err)
			ended++
			r.Together([]func(){func() { ended++ }}) // as a part of this one
			if i == 2 {
				panic("of a task")
			}
		}
	}
	func() {
		defer func() {
			if f := recover(); f != "of a task" {
				t.Errorf("it panics with %v", f)
			}
		}()
		r.Together([]func(){task(1), task(2), task(3)})
	}()
	if ended != 6 || errors.Join(errs...) != nil {
		t.Errorf("%d ends, %v", ended, errs)
	}
	errs = nil
	cancel()
	r.Together([]func(){task(11), task(13)})
	if len(errs) != 2 || !errors.Is(errs[0], context.Canceled) || !errors.Is(errs[1], context.Canceled) {
		t.Errorf("after the request's end: %v", errs)
	}
}

// What was asked for is not asked for again.
func TestAskedOnce(t *testing.T) {
	c := &chains{length: 3}
	r := NewReader(t.Context(), c)
	for range 2 {
		if _, err := r.Symbols("a", "b"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Types([]layout.TypeQuery{{Name: "t", Fields: []string{"f"}}}); err != nil {
			t.Fatal(err)
		}
	}
	if c.asked != 2 {
		t.Errorf("it was asked %d times", c.asked)
	}
	if _, err := r.Symbols("b", "c"); err != nil || c.asked != 3 {
		t.Errorf("%v, asked %d times", err, c.asked)
	}
}

// What is remembered is found out once, and nobody waits for a task that is about to.
func TestRemember(t *testing.T) {
	c := &chains{length: 4}
	r := NewReader(t.Context(), c)
	times := 0
	remembered := Remember(func() int {
		times++
		found, _ := follow(r, 1, c)
		return len(found)
	})
	var got []int
	task := func() { got = append(got, remembered()) }
	r.Together([]func(){task, task, task})
	if !slices.Equal(got, []int{3, 3, 3}) || times == 0 {
		t.Errorf("%v, found out %d times", got, times)
	}
	before := times
	if remembered() != 3 || times != before {
		t.Error("it is not remembered")
	}
}
