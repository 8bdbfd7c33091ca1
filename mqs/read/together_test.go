package read

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// stopped is a process that nothing is asked of.
type stopped struct {
	inferior.Inferior
	info inferior.Info
}

func (s stopped) Info() inferior.Info { return s.info }

func (stopped) Threads(context.Context, int, []string) ([]inferior.Thread, error) { return nil, nil }

func (stopped) FindSymbols(_ context.Context, names []string) ([]*inferior.Symbol, error) {
	return make([]*inferior.Symbol, len(names)), nil
}

// Those that nobody could read stand among the others in the debugger's order.
func TestTogetherBeside(t *testing.T) {
	beside := []*mqs.Process{{Inferior: 1, Unavailable: "it runs"}, {Inferior: 3, Unavailable: "no"}}
	var fail error
	several := Several{Processes: []inferior.Inferior{stopped{info: inferior.Info{Inferior: 2}}}, Beside: beside,
		Read: func(r *inferior.Reader, _ Filter) (*mqs.Process, error) { return Identity(r.Info()), fail }}
	for _, fail = range []error{nil, errors.New("unknown")} {
		s, err := several.Together(t.Context(), Filter{})
		if err != nil || len(s.Processes) != 3 {
			t.Fatalf("%+v, %v", s, err)
		}
		for i, p := range s.Processes {
			if p.Inferior != i+1 || (p.Unavailable == "") != (i == 1 && fail == nil) {
				t.Errorf("%d: %+v", i, p)
			}
		}
	}
	if s, err := (Several{Beside: beside}).Together(t.Context(), Filter{}); err != nil || len(s.Processes) != 2 {
		t.Errorf("without any other: %+v, %v", s, err)
	}
	several.Beside = nil
	if _, err := several.Together(t.Context(), Filter{}); err != fail {
		t.Errorf("that the only one can't be read is %v", err)
	}
}

// Each process is told of before it is read, and read with one Reader. What has none left to read
// with is still placed.
func TestTogetherOneAfterTheOther(t *testing.T) {
	var steps []int
	var readers []*inferior.Reader
	s, err := Several{Processes: []inferior.Inferior{stopped{info: inferior.Info{Inferior: 1}}, stopped{info: inferior.Info{Inferior: 2}}},
		Progress: func(next int) { steps = append(steps, next) },
		Read: func(r *inferior.Reader, _ Filter) (*mqs.Process, error) {
			readers = append(readers, r)
			if len(steps) != r.Info().Inferior {
				t.Errorf("process %d is read after %v", r.Info().Inferior, steps)
			}
			return nil, errors.New("no")
		}}.Together(t.Context(), Filter{})
	if err != nil || !slices.Equal(steps, []int{0, 1}) || len(readers) != 2 || readers[0] == readers[1] || s.Processes[1].Unavailable != "no" || s.Processes[1].Threads == nil {
		t.Errorf("%v, %d readers, %+v, %v", steps, len(readers), s, err)
	}
}
