// Package helper does what gdb's extension asks for: it reads processes through the debugger, and has
// the answer shown or recorded there.
package helper

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/dllhost"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/dll"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
	"github.com/mpi-queues/mpi-queues/mqs/render"
)

// Helper does what gdb's extension asks for.
type Helper struct {
	// Far adds to what is known of a job what other machines say of it, and tells how far it has come. It is nil
	// where nobody asks for that.
	Far func(ctx context.Context, job *launch.Job, p bridge.RanksParams, out *bridge.RanksResult, tell func(message string)) error

	version string
	jobs    *launch.Finder
	seen    liveness.History
	dlls    dll.Hosts
}

// New returns a helper of a version of this program, which logs what nobody asks for. jobs are those
// that a command knows, whose helper ends with it; nil if each request is to look for its own.
// [Helper.Close] ends it.
func New(version string, log zerolog.Logger, jobs *launch.Finder) *Helper {
	return &Helper{version: version, jobs: jobs, dlls: dll.Hosts{Command: dllhost.Command, Log: log}}
}

// Log logs to stderr from a level on, or all that `set mpi-queues debug' asks for.
func Log(level zerolog.Level) zerolog.Logger {
	if os.Getenv("MPI_QUEUES_DEBUG") != "" {
		level = zerolog.DebugLevel
	}
	return zerolog.New(zerolog.ConsoleWriter{Out: os.Stderr, NoColor: true}).Level(level).With().Timestamp().Logger()
}

// finder returns what finds the jobs of a request's processes.
func (h *Helper) finder() *launch.Finder {
	if h.jobs != nil {
		return h.jobs
	}
	return new(launch.Finder)
}

// Version is that of this program.
func (h *Helper) Version() string { return h.version }

// Server answers what gdb's extension asks for.
func (h *Helper) Server(log zerolog.Logger) *bridge.Server {
	s := bridge.NewServer(h.version, log)
	bridge.RegisterDisplay(s, bridge.MethodQueues, h.Queues)
	bridge.RegisterDisplay(s, bridge.MethodDescribe, h.Describe)
	bridge.RegisterDisplay(s, bridge.MethodDeadlock, h.Deadlock)
	bridge.RegisterDisplay(s, bridge.MethodHandle, h.Handle)
	bridge.RegisterDisplay(s, bridge.MethodPlaces, h.Places)
	bridge.RegisterDisplay(s, bridge.MethodValues, h.Values)
	bridge.RegisterDisplay(s, bridge.MethodStacks, h.Stacks)
	bridge.Register(s, bridge.MethodHandles, h.Handles)
	bridge.Register(s, bridge.MethodFindCommunicator, h.FindCommunicator)
	bridge.Register(s, bridge.MethodRank, h.Rank)
	bridge.Register(s, bridge.MethodRanks, h.Ranks)
	bridge.RegisterNotification(s, bridge.MethodExited, h.Exited)
	return s
}

// Close ends the processes that run vendors' DLLs.
func (h *Helper) Close() { h.dlls.Close() }

// Queues reads and renders the message queues of processes.
func (h *Helper) Queues(ctx context.Context, d *bridge.Debugger, p bridge.QueuesParams) error {
	queue, err := read.ParseQueue(p.Queue)
	from, sourceErr := h.sources(d, p.Source, p.Processes...)
	if err = errors.Join(err, sourceErr); err != nil {
		return &bridge.UsageError{Err: err}
	}
	filter := read.Filter{Comm: p.Comm, Queue: queue, Internal: p.Internal, Limit: p.Limit}
	filter.NoQueues = p.Format != "json" && !render.View(p.View).HasQueues()
	if err := sameAs(ctx, d, p, &filter); err != nil {
		return err
	}
	processes := inferiors(d, p.Processes)
	content := recording.Content{Choice: from.choice, Beside: obstacles(p.Obstacles)}
	if p.Record {
		from.OpenDLL = content.Keep(from.OpenDLL)
		for i := range processes {
			r := inferior.NewRecorder(processes[i])
			content.Recorders = append(content.Recorders, r)
			processes[i] = r
		}
	}
	snapshot, err := from.readAll(ctx, processes, p.Obstacles, filter, func(message string) { d.Progress(ctx, message) })
	if err == nil {
		err = display(ctx, d, snapshot, p)
	}
	if !p.Record {
		return err
	}
	// A recording is of use in full, and of most use where the queues can't be read.
	if recordErr := record(ctx, d, content, p.Handles); err == nil {
		err = recordErr
	}
	return err
}

func display(ctx context.Context, d *bridge.Debugger, s *mqs.Snapshot, p bridge.QueuesParams) error {
	d.Progress(ctx, "writing")
	out := d.Stream(ctx, "display")
	if p.Format == "json" {
		return document.Write(out, s)
	}
	return render.View(p.View).Show(out, s, render.Style{On: p.Styled, Members: p.Members, AllCommunicators: p.AllCommunicators})
}

// record completes what the recorders saw by all that no filter keeps and by what handles stand for, and hands it
// over. Each process is read again for that, with Readers of their own: what the first has spent must not
// cut the recording short.
func record(ctx context.Context, d *bridge.Debugger, c recording.Content, handles []bridge.ProcessHandles) error {
	d.Progress(ctx, "recording")
	for _, r := range c.Recorders {
		// Why something can't be read has been said already.
		_, _ = read.Read(ctx, r, decoders.All, read.Filter{Internal: true})
		_ = handleSources.RecordObjects(ctx, r, inVariables(handles, r.Info().Inferior))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	out := d.Stream(ctx, "recording")
	buffered := bufio.NewWriterSize(out, 1<<20)
	if err := recording.Write(buffered, c); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return out.Close()
}

// Describe says what was detected in a process, a fact to a line.
func (h *Helper) Describe(ctx context.Context, d *bridge.Debugger, p bridge.DescribeParams) error {
	from, err := h.sources(d, p.Source, p.Process)
	if err != nil {
		return &bridge.UsageError{Err: err}
	}
	r := inferior.NewReader(ctx, d.Inferior(p.Process))
	process, err := from.Describe(r, from.choice)
	if err != nil {
		return err
	}
	if process.MPI == "" && process.Unavailable != "" {
		process.Unavailable = cmp.Or(from.launcherWords(r.Info()), unreadFiles(procfs.Host, r.Info()), process.Unavailable)
	}
	var text strings.Builder
	describe(&text, process)
	if unasked := from.choice == read.Auto || from.choice == read.Native; unasked && process.Unavailable == "" && process.DLL == "" {
		found, err := from.look(r)
		if err != nil {
			return err
		}
		said(&text, "DLL", found.Why)
		if found.Path != "" {
			line(&text, "DLL", found.Path+", which is trusted and not loaded: `set mpi-queues source both' compares it")
		}
	}
	for _, s := range from.opened {
		line(&text, "DLL runs", s.Confinement())
	}
	if err := handleDLLs(&text, r); err != nil {
		return err
	}
	fmt.Fprintf(&text, "Helper:   mpi-queues %s\nDebugger: %s, with the extension %s\n", h.version, d.Peer.Debugger, d.Peer.Extension)
	_, err = io.WriteString(d.Stream(ctx, "display"), text.String())
	return err
}

// Exited has the vendor's DLLs forget a process.
func (h *Helper) Exited(ctx context.Context, p bridge.ExitedParams) {
	h.dlls.Exited(ctx, p.Inferior, p.PID, exitedTimeout)
}

// exitedTimeout is how long a DLL may take to tidy up: nobody waits for it, but
// the next request would.
const exitedTimeout = time.Second
