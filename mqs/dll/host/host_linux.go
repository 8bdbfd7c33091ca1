// Package host is the process that runs one vendor's DLL, and the only place where foreign code runs. It
// loads the DLL, calls its entry points in the order of the 1.03 note, always from the same thread, and
// serves its call-backs with what the helper answers. Whatever the DLL does ends here, and the helper
// notices.
package host

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/dll/confine"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
)

// Serve answers the helper on stream until the stream ends. It locks the calling goroutine to its thread
// for good.
func Serve(stream io.ReadWriter, state *wire.State) error {
	runtime.LockOSThread()
	debug.SetPanicOnFault(true)
	h := &host{conn: wire.NewConn[wire.FromHost, wire.ToHost](stream), in: make(chan wire.ToHost), state: state,
		thread: unix.Gettid(), blocks: map[uintptr]uintptr{}, faults: map[string]int{}, created: map[int64]bool{}}
	go func() {
		for {
			m, err := h.conn.Receive()
			if err != nil {
				os.Exit(0) // the helper has gone, and the DLL may never return
			}
			h.in <- m
		}
	}()
	for m := range h.in {
		reply := h.answer(m)
		h.foreignThreadCallbacks.Range(func(callback, _ any) bool {
			h.foreignThreadCallbacks.Delete(callback)
			h.fault("called %s from a thread of its own", callback)
			return true
		})
		reply.Notes, h.notes = h.notes, nil
		reply.Missing, h.missing = h.missing, nil
		reply.Unread, h.unread = h.unread, 0
		for _, text := range slices.Sorted(maps.Keys(h.faults)) {
			reply.Faults = append(reply.Faults, wire.Fault{Text: text, Times: h.faults[text]})
		}
		clear(h.faults)
		if err := h.conn.Send(wire.FromHost{Reply: reply}); err != nil {
			return err
		}
	}
	return nil
}

type host struct {
	conn                   *wire.Conn[wire.FromHost, wire.ToHost]
	in                     chan wire.ToHost
	state                  *wire.State
	thread                 int
	foreignThreadCallbacks sync.Map // call-backs that came from other threads

	lib    *library
	name   string // of the DLL's file
	level  int32  // mqs_version_compatibility
	words  []string
	tables tables
	heap   heap
	blocks map[uintptr]uintptr // what the DLL has allocated: sizes by address

	handles
	current  *process // whose memory and symbols can be asked for
	leaf     *leaf    // answers what can be answered of it without this
	iterator iterator
	created  map[int64]bool // process ids that the DLL has reported

	// What the next reply tells.
	notes   []string
	missing []string
	unread  int
	faults  map[string]int

	// What the DLL writes to. It must not be on a stack, which may move.
	comm     abi.Communicator
	ops      [wire.Batch]abi.PendingOperation
	location abi.ProcessLocation
	message  uintptr
}

var errOrder = errors.New("the helper's request makes no sense now")

func (h *host) answer(m wire.ToHost) *wire.Reply {
	r := &wire.Reply{}
	var err error
	switch {
	case m.Load != nil && h.lib == nil:
		r.Loaded, err = h.load(m.Load.Path)
	case h.lib == nil:
		err = errOrder
	case m.Open != nil:
		r.Opened, err = h.open(m.Open)
	case m.Next != nil && h.current != nil:
		r.Communicator, err = h.next()
	case m.Operations != nil && h.current != nil:
		r.Operations, err = h.operations(m.Operations)
	case m.Exited != nil:
		h.exited(m.Exited)
	default:
		err = errOrder
	}
	if err != nil {
		r.Error = err.Error()
		f := (*failure)(nil)
		r.Wordless = errors.As(err, &f) && f.wordless
	}
	return r
}

// load loads the DLL and checks that it can be used before anything else of it is called.
func (h *host) load(path string) (*wire.Loaded, error) {
	lib, err := load(path, h.state)
	if err != nil {
		return nil, err
	}
	h.lib, h.name = lib, filepath.Base(path)
	out := &wire.Loaded{Missing: lib.missing(), Confinement: confine.Status().String()}
	if out.Exports, out.Imports, err = symbols(path); err != nil {
		out.SymbolsError = err.Error()
	}
	if lib.has(abi.VersionString) {
		out.Version, _ = cString(lib.call(abi.VersionString), maxText)
	}
	if lib.has(abi.VersionCompatibility) {
		h.level = lib.code(abi.VersionCompatibility)
		out.Compatibility = h.level
	}
	if lib.has(abi.DLLTaddrWidth) {
		out.Width = lib.code(abi.DLLTaddrWidth)
	}
	if err := usable(out); err != nil {
		return out, err
	}
	if h.heap, err = findHeap(); err != nil {
		return out, err
	}
	h.words = identifiers(path)
	h.fillTables()
	h.newLeaf()
	lib.call(abi.SetupBasicCallbacks, address(&h.tables.basic))
	return out, nil
}

// usable makes the checks that the 1.03 note asks of a debugger before the first use.
func usable(l *wire.Loaded) error {
	for _, e := range l.Missing {
		if e.Need() == abi.Required {
			return fmt.Errorf("it has no function %s, so it is no complete queue DLL", e)
		}
	}
	if l.Compatibility != abi.Compatibility && l.Compatibility != abi.CompatibilityMPI2 {
		return fmt.Errorf("its compatibility level is %d, and known are %d and %d", l.Compatibility, abi.Compatibility, abi.CompatibilityMPI2)
	}
	if width := int32(unsafe.Sizeof(abi.TaddrT(0))); l.Width != 0 && l.Width != width {
		return fmt.Errorf("its addresses have %d bytes, and those of this program %d", l.Width, width)
	}
	return nil
}

// faultFromThread notes a call-back on a thread on which the DLL was not called. It may come at any time.
func (h *host) faultFromThread(callback string) { h.foreignThreadCallbacks.Store(callback, true) }

// note tells the user.
func (h *host) note(format string, args ...any) {
	h.notes = append(h.notes, h.name+fmt.Sprintf(format, args...))
}

// fault tells the user what the DLL has done wrong.
func (h *host) fault(format string, args ...any) {
	const most = 100 // different ones
	if text := fmt.Sprintf(format, args...); len(h.faults) < most || h.faults[text] > 0 {
		h.faults[text]++
	}
}
