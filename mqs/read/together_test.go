package read

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// numbered are processes with these numbers of the debugger's, each in a function of its program.
func numbered(numbers ...int) []inferior.Inferior {
	var out []inferior.Inferior
	for _, n := range numbers {
		out = append(out, &inferiortest.Process{
			Identity: inferior.Info{Inferior: n, Executable: "/prog"},
			Stacks:   []inferior.Thread{inferiortest.Thread(1, "compute: < main:")},
		})
	}
	return out
}

// Those that can't be read stand among the others in the debugger's order, with their reason and where their
// threads are.
func TestTogether(t *testing.T) {
	broken := errors.New("broken")
	var told []int
	s, err := Several{
		Processes: numbered(4, 2),
		Beside:    []*mqs.Process{{Inferior: 3, Unavailable: "it runs"}, {Inferior: 1, Unavailable: "no"}},
		Read: func(r *inferior.Reader, _ Filter) (*mqs.Process, error) {
			if r.Info().Inferior == 4 {
				return nil, broken
			}
			return Identity(r.Info()), nil
		},
		Progress: func(next int) { told = append(told, next) },
	}.Together(t.Context(), Filter{})
	if err != nil || len(s.Processes) != 4 || !slices.Equal(told, []int{0, 1}) {
		t.Fatalf("%+v, %v, told %v", s, err, told)
	}
	for i, want := range []string{"no", "", "it runs", "broken"} {
		if p := s.Processes[i]; p.Inferior != i+1 || p.Unavailable != want {
			t.Errorf("number %d is %+v", i+1, p)
		}
	}
	if threads := s.Processes[3].Threads; len(threads) != 1 || threads[0].Function != "compute" {
		t.Errorf("its threads are %+v", threads)
	}
}

// That the only process can't be read is an error, as it is that the request was cancelled.
func TestTogetherFails(t *testing.T) {
	for name, c := range map[string]struct {
		processes []inferior.Inferior
		beside    []*mqs.Process
		cancels   bool
		fails     bool
	}{
		"the only one":             {numbered(1), nil, false, true},
		"one of two":               {numbered(1, 2), nil, false, false},
		"the only one but another": {numbered(1), []*mqs.Process{{Inferior: 2}}, false, false},
		"cancelled":                {numbered(1, 2), nil, true, true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Several{Processes: c.processes, Beside: c.beside, Read: func(*inferior.Reader, Filter) (*mqs.Process, error) {
			if c.cancels {
				cancel()
			}
			return nil, errors.New("broken")
		}}.Together(ctx, Filter{})
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

// What one process says of another is inferred also where they were read one by one.
func TestJoin(t *testing.T) {
	s := Join(exchanged(7, 80).Processes)
	if op := s.Processes[0].Communicators[0].Queue[mqs.PendingSends].Operations[0]; !op.DesiredLocalRank.Known {
		t.Errorf("%+v", op)
	}
}

// Each process is told of before it is read, and read with a Reader of its own.
func TestTogetherOneAfterTheOther(t *testing.T) {
	var steps []int
	var readers []*inferior.Reader
	_, err := Several{
		Processes: numbered(1, 2),
		Progress:  func(next int) { steps = append(steps, next) },
		Read: func(r *inferior.Reader, _ Filter) (*mqs.Process, error) {
			readers = append(readers, r)
			if len(steps) != r.Info().Inferior {
				t.Errorf("process %d is read after %v", r.Info().Inferior, steps)
			}
			return nil, errors.New("no")
		},
	}.Together(t.Context(), Filter{})
	if err != nil || len(readers) != 2 || readers[0] == readers[1] {
		t.Errorf("%d readers, %v", len(readers), err)
	}
}

// TestPhaseOfCalls checks that a process that can't be read is starting if one of its threads is in MPI_Init.
func TestPhaseOfCalls(t *testing.T) {
	processes := numbered(1, 2)
	processes[0].(*inferiortest.Process).Stacks = []inferior.Thread{inferiortest.Thread(1, "poll: < PMPI_Init: < main:")}
	processes[1].(*inferiortest.Process).Stacks = []inferior.Thread{inferiortest.Thread(1, "poll: < PMPI_Finalize: < main:")}
	s, err := Several{Processes: processes, Read: func(*inferior.Reader, Filter) (*mqs.Process, error) { return nil, errors.New("broken") }}.Together(t.Context(), Filter{})
	if err != nil || s.Processes[0].Phase != mqs.Starting || s.Processes[1].Phase != "" {
		t.Errorf("%+v, %+v, %v", s.Processes[0], s.Processes[1], err)
	}
}
