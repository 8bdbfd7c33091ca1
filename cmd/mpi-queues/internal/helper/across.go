package helper

import (
	"context"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/across"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/mqs/stacks"
)

// Places shows where the ranks of a job are.
func (h *Helper) Places(ctx context.Context, d *bridge.Debugger, p bridge.PlacesParams) error {
	out := &across.Ranks{Ranks: make([]across.Rank, len(p.Places))}
	at := map[int]int{}
	for i, place := range p.Places {
		out.Ranks[i] = across.Rank{Rank: maybe(place.Rank), Inferior: mqs.Maybe[int]{Value: place.Inferior, Known: place.Inferior > 0}, Selected: place.Selected, Host: place.Host, PID: place.PID,
			State: across.State(place.State), Reason: place.Reason, ExitCode: maybe(place.ExitCode), Unplaced: place.Unplaced}
		at[place.Inferior] = i
	}
	err := eachOf(ctx, d, p.Processes, "looking where the ranks are", func(process bridge.Process, r *inferior.Reader) error {
		i, ok := at[process.Inferior]
		if !ok {
			return nil
		}
		threads := callstack.Locate(r)
		t := max(0, slices.IndexFunc(threads, func(t mqs.Thread) bool { return t.Number == p.Places[i].Thread }))
		if t < len(threads) {
			out.Ranks[i].At(&threads[t])
		} else {
			out.Ranks[i].Unplaced = "its threads can't be read"
		}
		return nil
	})
	if err != nil {
		return err
	}
	w := d.Stream(ctx, "display")
	if p.Format == "json" {
		return document.WriteRanks(w, out)
	}
	return render.Ranks(w, out)
}

// Values puts together what an expression is in the ranks of a job.
func (h *Helper) Values(ctx context.Context, d *bridge.Debugger, p bridge.ValuesParams) error {
	var evaluations []across.Evaluation
	for _, e := range p.Evaluations {
		evaluations = append(evaluations, across.Evaluation{Rank: maybe(e.Rank), Inferior: e.Inferior, Text: e.Text, Number: e.Number, Failure: e.Failure})
	}
	values := across.Merge(p.Expression, p.Function, evaluations)
	w := d.Stream(ctx, "display")
	if p.Format == "json" {
		return document.WriteValues(w, values)
	}
	return render.Values(w, values, render.Style{On: p.Styled})
}

// Stacks puts together the stacks of the ranks of a job.
func (h *Helper) Stacks(ctx context.Context, d *bridge.Debugger, p bridge.StacksParams) error {
	var processes []stacks.Process
	for _, u := range p.Unread {
		processes = append(processes, stacks.Process{Rank: maybe(u.Rank), Inferior: u.Inferior, Why: u.Reason})
	}
	err := eachOf(ctx, d, p.Processes, "reading the stacks", func(process bridge.Process, r *inferior.Reader) error {
		found, err := callstack.Stacks(r, p.Internal)
		if err != nil {
			return err
		}
		if !p.Threads {
			found = found[:min(len(found), 1)]
		}
		one := stacks.Process{Rank: maybe(process.Rank), Inferior: process.Inferior, Stacks: found}
		if len(found) == 0 {
			one.Why = "it has no threads"
		}
		processes = append(processes, one)
		return nil
	})
	if err != nil {
		return err
	}
	tree := stacks.Merge(processes)
	w := d.Stream(ctx, "display")
	if p.Format == "json" {
		return document.WriteStacks(w, tree)
	}
	return render.Stacks(w, tree, render.Style{On: p.Styled})
}

// eachOf calls f for each of a debugger's processes, and says how far it has come.
func eachOf(ctx context.Context, d *bridge.Debugger, processes []bridge.Process, step string, f func(p bridge.Process, r *inferior.Reader) error) error {
	for i, p := range processes {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.Progress(ctx, fmt.Sprintf("%s: process %d of %d", step, i+1, len(processes)))
		if err := f(p, inferior.NewReader(ctx, d.Inferior(p))); err != nil {
			return err
		}
	}
	return nil
}

// maybe is what the protocol has as null if it is not known.
func maybe[T any](v *T) mqs.Maybe[T] {
	if v == nil {
		return mqs.Maybe[T]{}
	}
	return mqs.Known(*v)
}
