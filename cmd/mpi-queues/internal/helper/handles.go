package helper

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/render"
)

// handleSources are the ways to read what handles stand for: the interface of vendors' DLLs knows no handles.
var handleSources = read.Sources{Decoders: decoders.All}

// resolve says what handles stand for. Where MPI_COMM_WORLD is known by nothing but its name, the launcher of the
// process tells the rest.
func (h *Helper) resolve(r *inferior.Reader, values ...mqs.HandleValue) ([]*mqs.Handle, error) {
	handles, err := handleSources.Handles(r, values)
	if err != nil {
		return nil, err
	}
	place := sync.OnceValues(func() (rank, size mqs.Maybe[int32]) { return (&sources{jobs: h.finder()}).rankOf(r.Info()) })
	for _, handle := range handles {
		if c := handle.Communicator; c != nil && c.IsBareWorld() {
			c.Seat(place())
		}
	}
	return handles, nil
}

// Handle shows what one handle stands for.
func (h *Helper) Handle(ctx context.Context, d *bridge.Debugger, p bridge.HandleParams) error {
	handles, err := h.resolve(inferior.NewReader(ctx, d.Inferior(p.Process)), p.Handle)
	if err != nil {
		return err
	}
	out := d.Stream(ctx, "display")
	if p.Format == "json" {
		return document.WriteHandle(out, handles[0])
	}
	return render.Handle(out, handles[0], render.Style{On: p.Styled})
}

// Handles says what several handles stand for. It asks for memory, symbols and types alone: the debugger may
// be in the midst of its own work.
func (h *Helper) Handles(ctx context.Context, d *bridge.Debugger, p bridge.HandlesParams) (*bridge.HandlesResult, error) {
	start := time.Now()
	handles, err := h.resolve(inferior.NewReader(ctx, d.Inferior(p.Process)), p.Handles...)
	if err != nil {
		return nil, err
	}
	out := &bridge.HandlesResult{}
	for _, handle := range handles {
		text := bridge.HandleText{Summary: render.Summary(handle), Parts: []bridge.Part{}}
		for _, part := range render.Parts(handle) {
			text.Parts = append(text.Parts, bridge.Part(part))
		}
		rank, size := handle.Place()
		text.Rank, text.Size = optional(rank), optional(size)
		out.Handles = append(out.Handles, text)
	}
	out.Cost = d.Cost(start)
	return out, nil
}

// inVariables are the handles that variables of a process hold. A status is read where it stands, so that a recording
// has it.
func inVariables(all []bridge.ProcessHandles, inferior int) []mqs.HandleValue {
	var out []mqs.HandleValue
	for _, of := range all {
		if of.Inferior != inferior {
			continue
		}
		for _, v := range of.Handles {
			if v.Kind == mqs.StatusHandle && v.Value != 0 {
				v.Data = nil
			}
			out = append(out, v)
		}
	}
	return out
}

// FindCommunicator looks for a communicator's handle by its name.
func (h *Helper) FindCommunicator(ctx context.Context, d *bridge.Debugger, p bridge.FindCommunicatorParams) (*bridge.FindCommunicatorResult, error) {
	c, err := handleSources.FindCommunicator(inferior.NewReader(ctx, d.Inferior(p.Process)), p.Name, nil)
	if err != nil {
		return nil, err
	}
	out := &bridge.FindCommunicatorResult{}
	if c.Handle.Known {
		value := uint64(c.Handle.Value)
		out.Handle = &value
	}
	return out, nil
}

// Rank says which rank a process is: by its MPI library or, where that does not say, by its launcher.
func (h *Helper) Rank(ctx context.Context, d *bridge.Debugger, p bridge.RankParams) (*bridge.RankResult, error) {
	r := inferior.NewReader(ctx, d.Inferior(p.Process))
	known, err := handleSources.Describe(r, read.Native)
	if err != nil {
		return nil, err
	}
	isSaid := known.GlobalRank.Known
	launcher := &sources{jobs: h.finder()}
	if !isSaid || !known.WorldSize.Known {
		rank, size := launcher.rankOf(r.Info())
		known.GlobalRank, known.WorldSize = cmp.Or(known.GlobalRank, rank), cmp.Or(known.WorldSize, size)
	}
	return &bridge.RankResult{Rank: optional(known.GlobalRank), Size: optional(known.WorldSize), Initialized: isSaid}, nil
}

// sameAs completes a filter by the communicator that an expression stands for, if none has the expression for its
// name.
func sameAs(ctx context.Context, d *bridge.Debugger, p bridge.QueuesParams, f *read.Filter) error {
	i := slices.IndexFunc(p.Processes, func(process bridge.Process) bool { return process.Inferior == p.CommInferior })
	if p.CommHandle == nil || i < 0 {
		return nil
	}
	c, err := handleSources.FindCommunicator(inferior.NewReader(ctx, d.Inferior(p.Processes[i])), p.Comm, p.CommHandle)
	if err == nil && !c.Is(p.Comm) {
		f.Same = &read.Same{Inferior: p.CommInferior, Communicator: c}
	}
	return err
}
