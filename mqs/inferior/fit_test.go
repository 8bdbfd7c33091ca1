package inferior_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// table is one of a release that has a point_t of so many bytes.
func table(release string, size, pointerSize int) *layout.Table {
	return &layout.Table{Release: release, PointerSize: pointerSize, ByteOrder: "little", Types: map[string]layout.Type{"point_t": {Size: size}}}
}

// The first layouts that the process proves are taken, the debug information's before any table's. If none
// fit, each says why.
func TestFit(t *testing.T) {
	tables := []*layout.Table{table("one", 8, 8), table("narrow", 24, 4), table("two", 16, 8), table("three", 16, 8)}
	queries := []layout.TypeQuery{{Name: "point_t"}}
	for name, c := range map[string]struct {
		dwarf int // size of the type in debug information, 0 if there is none
		size  int // that the process proves
		want  string
		says  []string
		// nearest is which of them the error itself says.
		nearest int
	}{
		"debug information":                {16, 16, "", nil, 0},
		"a table":                          {0, 16, "two", nil, 0},
		"a table, with debug information":  {24, 8, "one", nil, 0},
		"none":                             {32, 40, "", []string{"its debug information: it has 32 bytes", "the layout of one: it has 8 bytes", "the layout of narrow: it is for another architecture", "the layout of three: it has 16"}, 0},
		"a table of another architecture":  {0, 24, "", []string{"the layout of one: it has 8 bytes", "the layout of narrow: it is for another architecture"}, 0},
		"none, without debug information":  {0, 40, "", []string{"the layout of one: it has 8 bytes", "the layout of two: it has 16 bytes"}, 0},
		"neither debug information nor it": {0, 0, "", []string{"there is neither debug information nor a table"}, 0},
	} {
		p, known := inferiortest.New(), tables
		if c.dwarf != 0 {
			p.Types["point_t"] = &layout.Layout{Size: c.dwarf}
		}
		if c.size == 0 {
			known = nil
		}
		got, err := inferior.Fit(inferior.NewReader(t.Context(), p), queries, known, nil, func(l *layout.Layouts) (string, error) {
			if size, _ := l.Size("point_t"); size != c.size {
				return "", fmt.Errorf("it has %d bytes", size)
			}
			return l.Name, nil
		})
		var none *inferior.NoFitError
		if c.says == nil {
			if err != nil || got != c.want {
				t.Errorf("%s: %q, %v", name, got, err)
			}
			continue
		}
		if !errors.As(err, &none) || known != nil && none.Known != "one, narrow, two, three" {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range c.says {
			if !strings.Contains(none.Why.Error(), want) {
				t.Errorf("%s: %q does not say %q", name, none.Why, want)
			}
		}
		if want := c.says[min(c.nearest, len(c.says)-1)]; !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q is not why the nearest does not fit, %q", name, err, want)
		}
	}
}

// A build with options is tried after all plain ones, and its name says so; the library's own debug information completes a table
// and refuses one that it contradicts.
func TestFitOfOptions(t *testing.T) {
	queries := []layout.TypeQuery{{Name: "point_t"}, {Name: "line_t"}}
	one, two := table("one", 8, 8), table("two", 16, 8)
	one.Types["line_t"], two.Types["line_t"] = layout.Type{Size: 8}, layout.Type{Size: 8}
	one.Options = []layout.Option{{With: []string{"CUDA"}, Types: map[string]*layout.Change{"point_t": {Size: 16}}}, {With: []string{"debugging"}, Types: map[string]*layout.Change{"point_t": {Size: 24}}}}
	for name, c := range map[string]struct {
		dwarf, size int // of point_t in debug information, which lacks line_t but for the case "all", and in the process
		object      string
		want, says  string
	}{
		"one option":                       {0, 24, "", "one with debugging", ""},
		"plain before options":             {0, 16, "", "two", ""},
		"both options":                     {0, 32, "", "one with CUDA and debugging", ""},
		"debug information that completes": {32, 32, "/lib/libx.so", "one with CUDA and debugging", ""},
		"debug information that refuses":   {40, 32, "/lib/libx.so", "", "the layout of one: the debug information of libx.so has point_t with 40 bytes, not 8"},
		"all debug information is wrong":   {40, 32, "/lib/libx.so", "one with CUDA and debugging", ""},
		"debug information of the program": {40, 32, "/app", "one with CUDA and debugging", ""},
	} {
		p := inferiortest.New()
		if c.dwarf != 0 {
			p.Types["point_t"] = &layout.Layout{Size: c.dwarf, Object: c.object}
		}
		if strings.HasPrefix(name, "all ") {
			p.Types["line_t"] = &layout.Layout{Size: 8, Object: c.object}
		}
		isLibrary := func(object string) bool { return object == "/lib/libx.so" }
		got, err := inferior.Fit(inferior.NewReader(t.Context(), p), queries, []*layout.Table{one, two}, isLibrary, func(l *layout.Layouts) (string, error) {
			if size, _ := l.Size("point_t"); size != c.size || l.Source == "dwarf" {
				return "", fmt.Errorf("it has %d bytes", size)
			}
			return l.Name, nil
		})
		if got != c.want || (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// mute is a process that can't be asked.
type mute struct{ *inferiortest.Process }

var errMute = errors.New("the debugger did not answer")

func (mute) ReadMemory(context.Context, []inferior.Range) ([][]byte, error) { return nil, errMute }

// A process that can't be asked fits no layout, and that says nothing of the layouts.
func TestFitOfBrokenProcess(t *testing.T) {
	for name, types := range map[string]map[string]*layout.Layout{"debug information": {"point_t": {Size: 16}}, "tables": nil} {
		p := inferiortest.New()
		p.Types = types
		r := inferior.NewReader(t.Context(), mute{p})
		tries := 0
		_, err := inferior.Fit(r, []layout.TypeQuery{{Name: "point_t"}}, []*layout.Table{table("one", 8, 8), table("two", 16, 8)}, nil, func(*layout.Layouts) (string, error) {
			tries++
			_, err := r.Bytes(0x1000, 8)
			return "", fmt.Errorf("it is not there: %w", err)
		})
		if !errors.Is(err, errMute) || tries != 1 {
			t.Errorf("%s: %v after %d tries", name, err, tries)
		}
	}
}

// mortal has memory until it is dead.
type mortal struct {
	*inferiortest.Process
	isDead bool
}

func (m *mortal) ReadMemory(ctx context.Context, ranges []inferior.Range) ([][]byte, error) {
	if m.isDead {
		return make([][]byte, len(ranges)), nil
	}
	return m.Process.ReadMemory(ctx, ranges)
}

// A process that ends while layouts are tried fits none, which says nothing of the layouts.
func TestFitOfProcessThatEnds(t *testing.T) {
	p := &mortal{Process: inferiortest.New()}
	const at = 0x1000
	p.Memory[at] = make([]byte, 16)
	r := inferior.NewReader(t.Context(), p)
	_, err := inferior.Fit(r, nil, []*layout.Table{table("one", 8, 8)}, nil, func(*layout.Layouts) (string, error) {
		_, err := r.Bytes(at, 16)
		p.isDead = true
		return "", errors.Join(err, errors.New("it does not fit"))
	})
	if !errors.Is(err, inferior.ErrGone) {
		t.Error(err)
	}
}
