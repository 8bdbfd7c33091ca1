package host

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"unsafe"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// iterator is where the iteration over the communicators of the current process is.
type iterator struct {
	started, ended bool
	seen           int // communicators
	members        int // of their groups
	operations     int // of the queue that is being read
	all            int // operations
}

// What a DLL is believed to know of a process.
const (
	maxSeen       = 1 << 14 // communicators
	maxMembers    = wire.MaxGroup
	maxOperations = 1 << 20 // of a queue
	maxAll        = 1 << 21 // operations
)

// open prepares the queues of a process: its image and itself if the DLL does
// not know them yet, and the list of communicators anew.
func (h *host) open(o *wire.Open) (*wire.Opened, error) {
	h.current, h.iterator = nil, iterator{}
	h.leaf.follow(nil)
	p, err := h.processFor(o)
	if err != nil {
		return nil, err
	}
	h.current = p
	h.leaf.follow(p)
	for _, set := range []func(*process) *outcome{h.setUpImage, h.setUpProcess} {
		done := set(p)
		h.notes = append(h.notes, done.said...)
		if done.err != nil {
			return nil, done.err
		}
	}
	if err := h.update(p); err != nil {
		return nil, err
	}
	opened := &wire.Opened{Created: h.newProcesses(p)}
	switch code := h.lib.code(abi.SetupCommunicatorIterator, uintptr(p.handle)); code {
	case abi.OK:
	case abi.EndOfList:
		h.iterator.ended = true
	default:
		return nil, h.lib.failure(abi.SetupCommunicatorIterator, code)
	}
	return opened, nil
}

// processFor is the process as the DLL knows it, or will. Its image is one that
// is known already if it has the same files and the same symbols at the same
// addresses: with address randomisation, that is rare.
func (h *host) processFor(o *wire.Open) (*process, error) {
	// All that was ever asked for is asked in one question, of the process that is open.
	now := &image{symbols: map[string]*inferior.Symbol{}}
	h.current = &process{target: o.Process, image: now}
	var names []string
	for _, other := range h.images {
		names = append(names, slices.Collect(maps.Keys(other.symbols))...)
	}
	slices.Sort(names)
	if err := h.querySymbols(now, slices.Compact(names)...); err != nil {
		return nil, err
	}
	h.current = nil
	p := h.knownProcess(o.Process.Inferior, o.Process.PID)
	if p != nil && (p.image.key != o.Image || !p.image.hasSymbolsOf(now)) {
		h.destroyProcess(p) // it has become another program, or a library has moved
		p = nil
	}
	if p == nil {
		same := h.imageLike(o.Image, now)
		if same == nil {
			same = h.newImage(o.Image)
			same.symbols = now.symbols
		}
		p = h.newProcess(same, o.Process)
	}
	p.rank, p.target = o.Rank, o.Process
	p.reader = inferior.NewReader(context.Background(), helperInferior{h, o.Process})
	return p, nil
}

// knownProcess is the process of an inferior that the DLL knows. One that was there
// before it has gone.
func (h *host) knownProcess(inferior, pid int) *process {
	for _, p := range h.processes {
		if p.inferior != inferior {
			continue
		}
		if p.pid == pid {
			return p
		}
		h.destroyProcess(p)
	}
	return nil
}

// imageLike is an image of the same files with the same symbols.
func (h *host) imageLike(key string, now *image) *image {
	for _, i := range h.images {
		if i.key == key && i.hasSymbolsOf(now) {
			return i
		}
	}
	return nil
}

// hasSymbolsOf says whether the symbols that the image knows are where another has them.
func (i *image) hasSymbolsOf(now *image) bool {
	for name, a := range i.symbols {
		if b := now.symbols[name]; a != b && (a == nil || b == nil || a.Addr != b.Addr) {
			return false
		}
	}
	return true
}

func (h *host) setUpImage(p *process) *outcome {
	i := p.image
	if i.done {
		return &i.outcome
	}
	i.done = true
	if err := h.describeWords(i); err != nil {
		i.err = err
		return &i.outcome
	}
	if code := h.lib.code(abi.SetupImage, uintptr(i.handle), address(&h.tables.image)); code != abi.OK {
		i.err = h.lib.failure(abi.SetupImage, code)
		return &i.outcome
	}
	h.hasQueues(&i.outcome, abi.ImageHasQueues, uintptr(i.handle), p.target)
	return &i.outcome
}

// setUpProcess sets a process up, anew each time: DLLs keep what they have read of a
// communicator for the next one in its place. A process that could not be set up stays so, but one
// that had no queues may have some by now: MPI may have been initialised since.
func (h *host) setUpProcess(p *process) *outcome {
	if p.done && !p.isSetUp {
		return &p.outcome
	}
	h.destroyInfo(p)
	p.outcome, p.isSetUp = outcome{done: true}, false
	if h.level >= abi.CompatibilityMPI2 && h.job.handle == 0 {
		h.job.handle = abi.Job(h.handle(jobKind))
		if h.lib.has(abi.SetupJob) {
			if code := h.lib.code(abi.SetupJob, uintptr(h.job.handle), address(&h.tables.job)); code != abi.OK {
				p.err = h.lib.failure(abi.SetupJob, code)
				return &p.outcome
			}
		}
	}
	if code := h.lib.code(abi.SetupProcess, uintptr(p.handle), address(&h.tables.process)); code != abi.OK {
		p.err = h.lib.failure(abi.SetupProcess, code)
		return &p.outcome
	}
	p.isSetUp = true
	h.hasQueues(&p.outcome, abi.ProcessHasQueues, uintptr(p.handle), p.target)
	if h.created[int64(p.pid)] && h.lib.has(abi.SetProcessIdentity) {
		h.lib.call(abi.SetProcessIdentity, uintptr(p.handle), uintptr(p.identity))
	}
	return &p.outcome
}

// hasQueues asks the DLL whether an image or a process has queues. The DLL may return a message for the user either way.
func (h *host) hasQueues(o *outcome, e abi.Entry, handle uintptr, info inferior.Info) {
	h.message = 0
	code := h.lib.code(e, handle, address(&h.message))
	if h.message != 0 {
		text, ok := cString(h.message, maxText)
		if ok {
			o.said = append(o.said, h.name+" says: "+printed(text, info.Executable))
		} else {
			h.fault("returned a message from %s that can't be read", e)
		}
	}
	switch {
	case code == abi.OK:
	case code >= abi.FirstUserCode && h.lib.isSilent(code):
		o.err = fmt.Errorf("%s refused without giving a reason (code %d)", e, code)
	default:
		o.err = h.lib.failure(e, code)
	}
}

// printed returns what printf(message, image) prints, as the 1.03 note has it. Only the first %s, and every %%, is a
// conversion. Anything else stays as it is.
func printed(message, image string) string {
	pieces := strings.Split(message, "%%")
	for i, piece := range pieces {
		if strings.Contains(piece, "%s") {
			pieces[i] = strings.Replace(piece, "%s", image, 1)
			break
		}
	}
	return strings.Join(pieces, "%")
}

// update has the DLL look at the communicators anew. In the 1.03 note it returns
// nothing: what then looks like a code is one only if the DLL has words for it
// that it has not for any number.
func (h *host) update(p *process) error {
	code := h.lib.code(abi.UpdateCommunicatorList, uintptr(p.handle))
	if code < abi.FirstUserCode || code >= noCode {
		return nil
	}
	if h.lib.hasWordsFor(h.lib.errorWords(code)) {
		return h.lib.failure(abi.UpdateCommunicatorList, code)
	}
	return nil
}

// newProcesses lists the processes that this one has created, as far as a DLL
// of compatibility 3 can tell.
func (h *host) newProcesses(p *process) []wire.Location {
	const most = 1 << 10
	var out []wire.Location
	if h.level < abi.CompatibilityMPI2 || !h.lib.has(abi.SetupNewProcessIterator) || !h.lib.has(abi.NextNewProcess) ||
		h.lib.code(abi.SetupNewProcessIterator, uintptr(p.handle)) != abi.OK {
		return nil
	}
	for len(out) < most {
		h.location = abi.ProcessLocation{}
		if h.lib.code(abi.NextNewProcess, uintptr(p.handle), address(&h.location)) != abi.OK {
			break
		}
		l := wire.Location{PID: int64(h.location.PID), Image: abi.Text(h.location.ImageName[:]), Host: abi.Text(h.location.HostName[:])}
		if isHere(l.Host) {
			h.created[l.PID] = true
		}
		out = append(out, l)
	}
	return out
}

// isHere says whether a machine is this one. An empty name is the one where the
// process is.
func isHere(machine string) bool {
	name, err := os.Hostname()
	return machine == "" || machine == "localhost" || err == nil && machine == name
}

// next moves on to the next communicator, or to the first, and describes it.
func (h *host) next() (*wire.Communicator, error) {
	it, p := &h.iterator, uintptr(h.current.handle)
	if it.started && !it.ended {
		switch code := h.lib.code(abi.NextCommunicator, p); code {
		case abi.OK:
		case abi.EndOfList:
			it.ended = true
		default:
			it.ended = true
			return nil, h.lib.failure(abi.NextCommunicator, code)
		}
	}
	it.started = true
	if it.ended {
		return &wire.Communicator{End: true}, nil
	}
	if it.seen++; it.seen > maxSeen {
		it.ended = true
		return nil, fmt.Errorf("%s does not come to an end (after %d communicators)", abi.NextCommunicator, maxSeen)
	}
	fill(&h.comm)
	h.comm.Name[0] = 0
	switch code := h.lib.code(abi.GetCommunicator, p, address(&h.comm)); code {
	case abi.OK:
	case abi.EndOfList:
		// LAM/MPI 7.1's DLL skips hidden communicators here, and so sees only now that none is left (dll_lam.c).
		it.ended = true
		return &wire.Communicator{End: true}, nil
	default:
		return nil, h.lib.failure(abi.GetCommunicator, code)
	}
	return &wire.Communicator{Raw: slices.Clone(bytesOf(&h.comm)), Group: h.group()}, nil
}

// group is the group of the current communicator, nil if there is none to be had.
func (h *host) group() []byte {
	size := int32(h.comm.Size)
	if !h.lib.has(abi.GetCommGroup) || size <= 0 || size > wire.MaxGroup {
		return nil
	}
	if h.iterator.members += int(size); h.iterator.members > maxMembers {
		h.note(": the groups of its communicators have more members than can be, and the last are not shown")
		h.iterator.members = maxMembers
		return nil
	}
	ranks := make([]int32, size)
	for i := range ranks {
		ranks[i] = wire.Unwritten
	}
	// A slice that is as long as a foreign number says is always on the heap.
	switch code := h.lib.code(abi.GetCommGroup, uintptr(h.current.handle), address(&ranks[0])); code {
	case abi.OK:
		return unsafe.Slice((*byte)(unsafe.Pointer(&ranks[0])), len(ranks)*int(unsafe.Sizeof(ranks[0])))
	case abi.NoInformation:
	default:
		h.note(": %v", h.lib.failure(abi.GetCommGroup, code))
	}
	return nil
}

// operations fetches the next operations of a queue of the current communicator.
func (h *host) operations(o *wire.Operations) (*wire.OperationList, error) {
	it, p := &h.iterator, uintptr(h.current.handle)
	if o.Start {
		it.operations = 0
		switch code := h.lib.code(abi.SetupOperationIterator, p, uintptr(o.Class)); code {
		case abi.OK:
		case abi.EndOfList:
			return &wire.OperationList{}, nil
		case abi.NoInformation:
			return &wire.OperationList{NoInformation: true}, nil
		default:
			return nil, h.lib.failure(abi.SetupOperationIterator, code)
		}
	}
	for n := range h.ops {
		op := &h.ops[n]
		fill(op)
		for line := range op.ExtraText {
			op.ExtraText[line][0] = 0
		}
		code := h.lib.code(abi.NextOperation, p, address(op))
		if code == abi.OK {
			it.operations++
			it.all++
			continue
		}
		done := &wire.OperationList{Raw: rawOperations(h.ops[:n])}
		if code == abi.EndOfList {
			return done, nil
		}
		return done, h.lib.failure(abi.NextOperation, code)
	}
	if it.operations >= maxOperations || it.all >= maxAll {
		return &wire.OperationList{Endless: true}, nil
	}
	return &wire.OperationList{Raw: rawOperations(h.ops[:]), More: true}, nil
}

// exited has the DLL forget a process.
func (h *host) exited(e *wire.Exited) {
	if p := h.knownProcess(e.Inferior, e.PID); p != nil {
		h.destroyProcess(p)
	}
}

// destroyProcess has the DLL forget a process, and its image with the last of it.
func (h *host) destroyProcess(p *process) {
	if h.current == p {
		h.current = nil
		h.leaf.follow(nil)
	}
	h.destroyInfo(p)
	delete(h.processes, p.handle)
	for _, other := range h.processes {
		if other.image == p.image {
			return
		}
	}
	if p.image.info != 0 && h.lib.has(abi.DestroyImageInfo) {
		h.lib.call(abi.DestroyImageInfo, uintptr(p.image.info))
	}
	h.drop(p.image)
	if len(h.processes) == 0 && h.job.handle != 0 {
		if h.job.info != 0 && h.lib.has(abi.DestroyJobInfo) {
			h.lib.call(abi.DestroyJobInfo, uintptr(h.job.info))
		}
		h.job = job{}
	}
	h.reportLeaks()
}

// destroyInfo has the DLL free what it keeps of a process.
func (h *host) destroyInfo(p *process) {
	if p.info != 0 && h.lib.has(abi.DestroyProcessInfo) {
		h.lib.call(abi.DestroyProcessInfo, uintptr(p.info))
	}
	p.info = 0
	h.leaf.remember(h.current)
}

// fill fills what a DLL is to write to with what can be no value.
func fill[T any](v *T) {
	for i, b := 0, bytesOf(v); i < len(b); i++ {
		b[i] = garbage
	}
}

// bytesOf is a value as the DLL sees it.
func bytesOf[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

func rawOperations(ops []abi.PendingOperation) []byte {
	if len(ops) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&ops[0])), len(ops)*int(unsafe.Sizeof(ops[0])))
}
