// Package dll is the debugger's side of the MPI message queue interface: it finds the queue DLL that
// an MPI's vendor ships, decides whether to trust it, and makes a [read.Source] of it.
//
// A DLL runs in a process of its own (package host), which is confined as far as the kernel can do
// that (package confine). Whatever the DLL does there, even a crash or an endless loop, becomes a
// sentence. The process lives as long as the helper, since a DLL is loaded once and never unloaded.
package dll

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Settings are the user's settings.
type Settings struct {
	// Path is the DLL to use; empty to find one.
	Path string
	// SafePath are folders whose DLLs are trusted.
	SafePath []string
	// Timeout is how long a DLL may take for one request; 0 means for ever.
	Timeout time.Duration
}

// Process is a process whose queues a DLL is to read.
type Process struct {
	inferior.Inferior
	// Reader is the process's reader during this stop; nil if it has none yet.
	Reader *inferior.Reader
	// Rank is its rank in MPI_COMM_WORLD, if that is known.
	Rank mqs.Maybe[int32]
	// Starters are other processes, one of which may have started the job.
	Starters []inferior.Inferior
	// Launchers are process ids on this machine. If the process is on another machine, one of them may have
	// started its job.
	Launchers []int
}

// Hosts keeps a host process for each DLL in use. Its methods, except Close, must not be called at the
// same time.
type Hosts struct {
	// Command makes the command that runs package host, on [StreamFD] and [StateFD].
	Command func() *exec.Cmd
	Log     zerolog.Logger

	mu      sync.Mutex
	running map[string]*hostProcess // by real path of the DLL
	closed  bool
}

// errClosed is the error of a request that comes after Close.
var errClosed = errors.New("no DLL is used any more: mpi-queues is about to end")

// Open opens the queues of a process with the first DLL that can read them. The source's notes say why the DLLs before it were
// not used, except those that do not exist. If no DLL can read them, it fails with an [*read.UnreadableError] that says why.
func (hs *Hosts) Open(ctx context.Context, p Process, s Settings) (*Source, error) {
	found, err := find(ctx, p, s, hs.Log)
	if err != nil {
		return nil, err
	}
	if found.ignore {
		return &Source{ignored: true, remarks: found.remarks}, nil
	}
	var why []error
	var unused []string
	for _, c := range found.candidates {
		source, err := hs.try(ctx, c, p, s)
		if err == nil {
			source.remarks = append(unused, source.remarks...)
		}
		if err == nil || ctx.Err() != nil {
			return source, err
		}
		why = append(why, err)
		if exists(c.path) {
			unused = append(unused, fmt.Sprintf("another DLL was tried first: %v", err))
		}
	}
	if len(why) == 0 {
		return nil, read.Unreadable("", "%w", found.noDLLError())
	}
	return nil, read.Unreadable("", "%v", errors.Join(why...))
}

// try opens the queues with one DLL.
func (hs *Hosts) try(ctx context.Context, c candidate, p Process, s Settings) (*Source, error) {
	path, err := c.resolve(s.SafePath)
	if err != nil {
		return nil, err
	}
	h, isFresh, err := hs.host(ctx, path, s)
	if err != nil {
		return nil, err
	}
	source, err := hs.open(ctx, h, p, s)
	if err != nil && !isFresh && ctx.Err() == nil && h.hasEnded() {
		// Its cached state may be what broke it, so it is tried again in a fresh host: MPICH's DLL
		// crashes if a communicator was freed since it last read the list.
		if h, _, err = hs.host(ctx, path, s); err != nil {
			return nil, err
		}
		return hs.open(ctx, h, p, s)
	}
	return source, err
}

// open has a host open the queues.
func (hs *Hosts) open(ctx context.Context, h *hostProcess, p Process, s Settings) (*Source, error) {
	source := newSource(ctx, h, p, s.Timeout, hs.Log)
	reply, err := source.do(wire.ToHost{Open: &wire.Open{Process: p.Info(), Image: imageKey(p.Info()), Rank: rankFor(p.Rank)}})
	if err != nil {
		hs.Log.Debug().Err(err).Msg("not opened")
		return nil, source.withRemarks(err)
	}
	for _, l := range reply.Opened.Created {
		source.remark("%s reports a process that this one has created or connected to: process %d on %s, %s",
			h.name(), l.PID, orUnknown(l.Host), orUnknown(l.Image))
	}
	return source, nil
}

func rankFor(rank mqs.Maybe[int32]) int32 {
	if rank.Known {
		return rank.Value
	}
	return abi.InvalidProcess
}

func orUnknown(s string) string {
	if s == "" {
		return "?"
	}
	return s
}

// host returns the running host of a DLL, or starts a fresh one that loads the DLL. A DLL whose file
// was replaced since it was loaded needs a fresh host.
func (hs *Hosts) host(ctx context.Context, path string, s Settings) (h *hostProcess, isFresh bool, err error) {
	file := fileIdentity(path)
	h, err = hs.hostOf(path)
	if err != nil {
		return nil, false, err
	}
	if h != nil {
		if !h.hasEnded() && h.file == file {
			return h, false, nil
		}
		h.close()
	}
	h, err = startHost(path, s.SafePath, hs.Command)
	if err != nil {
		return nil, false, err
	}
	if err := hs.keep(path, h); err != nil {
		h.close()
		return nil, false, err
	}
	reply, err := h.do(ctx, nil, s.Timeout, wire.ToHost{Load: &wire.Load{Path: path}})
	if err != nil {
		h.close()
		return nil, false, err
	}
	h.file, h.loaded, h.early = file, *reply.Loaded, reply
	hs.Log.Debug().Str("dll", path).Str("version", h.loaded.Version).Str("confinement", h.loaded.Confinement).Msg("loaded")
	return h, true, nil
}

// hostOf returns the host of a DLL, which may have ended; nil if there is none.
func (hs *Hosts) hostOf(path string) (*hostProcess, error) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.closed {
		return nil, errClosed
	}
	return hs.running[path], nil
}

// keep adds a host, unless all hosts have been closed.
func (hs *Hosts) keep(path string, h *hostProcess) error {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.closed {
		return errClosed
	}
	if hs.running == nil {
		hs.running = map[string]*hostProcess{}
	}
	hs.running[path] = h
	return nil
}

// all returns the hosts. Some of them may have ended.
func (hs *Hosts) all() []*hostProcess {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return slices.Collect(maps.Values(hs.running))
}

// Exited makes all DLLs forget a process that has gone.
func (hs *Hosts) Exited(ctx context.Context, inferior, pid int, limit time.Duration) {
	for _, h := range hs.all() {
		if h.hasEnded() {
			continue
		}
		reply, err := h.do(ctx, nil, limit, wire.ToHost{Exited: &wire.Exited{Inferior: inferior, PID: pid}})
		if err != nil {
			hs.Log.Debug().Err(err).Msg("a process exited")
		} else {
			for _, fault := range reply.Faults {
				hs.Log.Debug().Str("dll", h.name()).Msg(fault.Text)
			}
		}
		logWords(hs.Log, h)
	}
}

// Close ends all hosts for good. It may be called at any time; pending requests fail.
func (hs *Hosts) Close() {
	hs.mu.Lock()
	hs.closed = true
	hs.mu.Unlock()
	for _, h := range hs.all() {
		h.close()
	}
}

// logWords logs what a DLL has printed.
func logWords(log zerolog.Logger, h *hostProcess) {
	for _, line := range h.words.take() {
		log.Debug().Str("dll", h.name()).Msg(line)
	}
}
