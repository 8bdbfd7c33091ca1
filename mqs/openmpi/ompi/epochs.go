package ompi

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// What each component for one-sided communication (osc) keeps of a window has no class. It is told by the
// objects inside of it, which have one, and by what leads back to the window.

// readModule fills in the epochs that are open on a window, and the communicator that was made for it.
func (p *Process) readModule(w *window) {
	switch {
	case w.Module == 0:
	case p.isOSCRDMA(w):
		p.readOSCRDMA(w)
	case p.isOSCPt2pt(w):
		p.readOSCPt2pt(w)
	case p.isOSCSM(w):
		p.readOSCSM(w)
	case p.isOSCUCX(w):
		p.readOSCUCX(w)
	}
}

func (p *Process) isOSCRDMA(w *window) bool {
	at := inferior.Ptr[oscRDMA](w.Module)
	if !p.OSCRDMA.Bound() || !p.OSCRDMASync.Bound() {
		return false
	}
	return ProveClass(p, &p.OSCRDMASync, inferior.Places(&p.OSCRDMA, at).AllSync.Ptr()) == nil
}

func (p *Process) isOSCPt2pt(w *window) bool {
	at := inferior.Ptr[oscPt2pt](w.Module)
	if !p.OSCPt2pt.Bound() || !p.OSCPt2ptSync.Bound() {
		return false
	}
	return ProveClass(p, &p.OSCPt2ptSync, inferior.Places(&p.OSCPt2pt, at).AllSync.Ptr()) == nil
}

// isOSCSM: osc/sm keeps the flavor of its windows too.
func (p *Process) isOSCSM(w *window) bool {
	at := inferior.Ptr[oscSM](w.Module)
	if !p.OSCSM.Bound() || !p.isOf(inferior.Ptr[Object](inferior.Places(&p.OSCSM, at).Lock), mutexClass) {
		return false
	}
	m, err := p.OSCSM.Read(p.R, at)
	return err == nil && m.Flavor == int32(w.Flavor) && p.isComm(m.Comm)
}

func (p *Process) isOSCUCX(w *window) bool {
	at := inferior.Ptr[oscUCX](w.Module)
	if !p.OSCUCX.Bound() || !p.HashTable.Bound() || ProveClass(p, &p.HashTable, inferior.Places(&p.OSCUCX, at).Locks.Ptr()) != nil {
		return false
	}
	m, err := p.OSCUCX.Read(p.R, at)
	return err == nil && p.isComm(m.Comm)
}

// isComm says whether a communicator stands at an address.
func (p *Process) isComm(at inferior.Ptr[Communicator]) bool {
	return p.isOf(inferior.Ptr[Object](at), p.Communicator.Name())
}

// Types of an access epoch of osc/rdma (osc_rdma_sync.h, 4.0 to 6.0) and of osc/pt2pt (osc_pt2pt_sync.h, up to 4.1).
const (
	syncLock  = 1
	syncFence = 2
	syncStart = 3
)

const (
	lockExclusive   = 1 // MPI_LOCK_EXCLUSIVE, which both keep of a lock
	lockingTwoLevel = 0 // a locking mode of osc/rdma (osc_rdma.h, 4.0 to 6.0), in which one word stands for the locks of all
)

func (p *Process) readOSCRDMA(w *window) {
	m, err := p.OSCRDMA.Read(p.R, inferior.Ptr[oscRDMA](w.Module))
	if err != nil || m.Win.Addr() != w.at {
		return
	}
	// The layouts of 4.1.0 and 4.1.1 have equal sizes, but this member is at another offset. Read by the wrong layout, it is
	// MPI_COMM_NULL, for which no pml keeps anything, or no communicator at all.
	if c, err := p.Communicator.Read(p.R, m.Comm); err != nil || !p.isComm(m.Comm) || c.PMLComm == 0 {
		return
	}
	w.comm = m.Comm
	var locks []inferior.Ptr[oscSync]
	switch size := w.model.Size; {
	case m.LockArray != 0 && size.Known:
		if locks, err = inferior.ReadPointers(p.R, m.LockArray, int(size.Value)); err != nil {
			return
		}
	case m.LockArray != 0:
		return
	default:
		if locks, err = p.hashedLocks(m.Locks); err != nil {
			return
		}
	}
	o := syncEpochs{types: &p.OSCRDMASync, all: m.AllSync.Ptr(), locks: locks, granted: func(*oscSync) mqs.Maybe[bool] { return mqs.Known(true) }}
	if mode, err := p.R.Int(m.LockingMode.Addr(), 4); m.LockingMode != 0 && err == nil {
		o.locksAll = mode == lockingTwoLevel
	}
	p.setEpochs(w, o, p.postEpoch(w, m.PostGroup, p.completedOf(m.State)))
}

// completedOf is how many ranks have completed their accesses to a window of osc/rdma.
func (p *Process) completedOf(at inferior.Ptr[oscState]) mqs.Maybe[int32] {
	if at == 0 || !p.OSCRDMAState.Bound() {
		return mqs.Maybe[int32]{}
	}
	s, err := p.OSCRDMAState.Read(p.R, at)
	return countOf(s.Completed, err)
}

// countOf is a number of ranks, unknown if it can't be one.
func countOf(n int64, err error) mqs.Maybe[int32] {
	if err != nil || n < 0 || n > MaxGroup {
		return mqs.Maybe[int32]{}
	}
	return mqs.Known(int32(n))
}

func (p *Process) readOSCPt2pt(w *window) {
	m, err := p.OSCPt2pt.Read(p.R, inferior.Ptr[oscPt2pt](w.Module))
	if err != nil || !p.isComm(m.Comm) {
		return
	}
	w.comm = m.Comm
	locks, err := p.hashedLocks(m.Locks)
	if err != nil {
		return
	}
	// It asks for a lock, or for posts, and goes on: what needs them waits until all answers have come. Its
	// counter of completed ranks counts the messages that have come.
	p.setEpochs(w, syncEpochs{types: &p.OSCPt2ptSync, all: m.AllSync.Ptr(), locks: locks, granted: p.answered},
		p.postEpoch(w, m.PostGroup, mqs.Maybe[int32]{}))
}

// answered says whether an access epoch of osc/pt2pt has had all answers that it waits for.
func (p *Process) answered(s *oscSync) mqs.Maybe[bool] {
	if s.Expected == 0 {
		return mqs.Maybe[bool]{}
	}
	n, err := p.R.Int(s.Expected.Addr(), 4)
	if err != nil {
		return mqs.Maybe[bool]{}
	}
	return mqs.Known(n == 0)
}

// hashedLocks are the locks that a hash table holds by the ranks of their targets, in the order of these.
func (p *Process) hashedLocks(at inferior.Embedded[hashTable]) ([]inferior.Ptr[oscSync], error) {
	held, err := p.hashed(at.Ptr())
	if err != nil {
		return nil, err
	}
	var out []inferior.Ptr[oscSync]
	for _, lock := range inOrder(held) {
		out = append(out, inferior.Ptr[oscSync](lock))
	}
	return out, nil
}

// inOrder are the values of a map in the order of its keys.
func inOrder(held map[uint32]inferior.Addr) []inferior.Addr {
	keys := make([]uint32, 0, len(held))
	for key := range held {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	out := make([]inferior.Addr, len(keys))
	for i, key := range keys {
		out[i] = held[key]
	}
	return out
}

// syncEpochs is where osc/rdma or osc/pt2pt keeps the access epochs of a window: one that all ranks or those of a
// group take part in, and the locks that this process holds or waits for.
type syncEpochs struct {
	types *inferior.Struct[oscSync]
	all   inferior.Ptr[oscSync]
	locks []inferior.Ptr[oscSync]
	// granted says whether an epoch has been granted; locksAll is true if MPI_Win_lock_all has got all locks when it
	// returns, false if that is not known.
	granted  func(*oscSync) mqs.Maybe[bool]
	locksAll bool
}

// setEpochs fills in the epochs of a window of osc/rdma or osc/pt2pt.
func (p *Process) setEpochs(w *window, o syncEpochs, post []mqs.Epoch) {
	w.asked = func(at inferior.Addr) (int32, bool) { return p.askedSync(w, &o, inferior.Ptr[oscSync](at)) }
	sync, err := o.types.Read(p.R, o.all)
	if err != nil {
		return
	}
	epochs := []mqs.Epoch{}
	switch sync.Type {
	case syncFence:
		epochs = append(epochs, mqs.Epoch{Kind: mqs.FenceEpoch})
	case syncLock:
		epochs = append(epochs, mqs.Epoch{Kind: mqs.LockAllEpoch, Granted: mqs.Maybe[bool]{Value: o.locksAll, Known: o.locksAll}})
	case syncStart:
		epochs = append(epochs, mqs.Epoch{Kind: mqs.StartEpoch, Ranks: p.ranksIn(w, sync.StartGroup), Granted: o.granted(&sync)})
	}
	held := heldLocks{}
	for _, at := range o.locks {
		if at == 0 || at == o.all {
			continue
		}
		if ProveClass(p, o.types, at) != nil {
			return
		}
		lock, err := o.types.Read(p.R, at)
		if err != nil {
			return
		}
		held.add(lockKind{mqs.Known(lock.LockType == lockExclusive), o.granted(&lock)}, lock.Target)
	}
	w.model.Epochs = append(append(epochs, held.epochs()...), post...)
}

// askedSync is the target of a lock for which an access epoch of a window has been made and that is not among
// those that it has.
func (p *Process) askedSync(w *window, o *syncEpochs, at inferior.Ptr[oscSync]) (int32, bool) {
	if at == o.all || slices.Contains(o.locks, at) || ProveClass(p, o.types, at) != nil {
		return 0, false
	}
	lock, err := o.types.Read(p.R, at)
	return lock.Target, err == nil && lock.Module == w.Module && lock.Type == syncLock
}

// lockKind is what locks have in common that are one epoch.
type lockKind struct{ exclusive, granted mqs.Maybe[bool] }

// heldLocks are the targets of locks by their kind.
type heldLocks map[lockKind][]int32

func (h heldLocks) add(kind lockKind, target int32) { h[kind] = append(h[kind], target) }

// epochs are those of the locks, in a fixed order.
func (h heldLocks) epochs() []mqs.Epoch {
	var out []mqs.Epoch
	either := []mqs.Maybe[bool]{mqs.Known(true), mqs.Known(false), {}}
	for _, exclusive := range either {
		for _, granted := range either {
			if ranks := h[lockKind{exclusive, granted}]; len(ranks) > 0 {
				slices.Sort(ranks)
				out = append(out, mqs.Epoch{Kind: mqs.LockEpoch, Exclusive: exclusive, Ranks: ranks, Granted: granted})
			}
		}
	}
	return out
}

func (p *Process) postEpoch(w *window, group inferior.Ptr[Group], completed mqs.Maybe[int32]) []mqs.Epoch {
	if group == 0 {
		return nil
	}
	return []mqs.Epoch{{Kind: mqs.PostEpoch, Ranks: p.ranksIn(w, group), Completed: completed}}
}

// ranksIn are the members of a group by their ranks in a window, in that order; nil if they are not known.
func (p *Process) ranksIn(w *window, group inferior.Ptr[Group]) []int32 {
	members, _, err := p.Entries(group)
	if err != nil {
		return nil
	}
	all, _, err := p.Entries(w.Group)
	if err != nil || p.R.Spend((len(all)+len(members))*memberCost) != nil {
		return nil
	}
	byEntry := map[inferior.Ptr[Proc]]int32{}
	for rank, e := range all {
		byEntry[e] = int32(rank)
	}
	var byName map[procName]int32 // nil before it is needed
	out := make([]int32, len(members))
	for i, e := range members {
		rank, ok := byEntry[e]
		if !ok { // the same process can be a pointer here and a sentinel there
			if byName == nil {
				byName = p.ranksByName(slices.Concat(all, members), len(all))
			}
			name, err := p.nameOf(e)
			if rank, ok = byName[name]; err != nil || !ok {
				return nil
			}
		}
		out[i] = rank
	}
	slices.Sort(out)
	return out
}

// ranksByName are the ranks of the first n of some entries, by the names of their processes. All of them are
// brought.
func (p *Process) ranksByName(entries []inferior.Ptr[Proc], n int) map[procName]int32 {
	p.PrefetchProcs(entries)
	out := map[procName]int32{}
	for rank, e := range entries[:n] {
		if name, err := p.nameOf(e); err == nil {
			out[name] = int32(rank)
		}
	}
	return out
}

// What osc/sm keeps of a lock (osc_sm.h, 4.0 to 6.0). Of one without a check its kind is not kept.
const (
	smLockUnchecked = 1
	smLockExclusive = 2
	smLockShared    = 3
)

// readOSCSM reads the epochs of a window of osc/sm. It keeps nothing of a fence, so that none is known
// where no other access epoch is open. MPI_Win_lock_all locks the ranks one by one: who holds a shared lock of
// all of several has done what it does.
func (p *Process) readOSCSM(w *window) {
	m, err := p.OSCSM.Read(p.R, inferior.Ptr[oscSM](w.Module))
	if err != nil {
		return
	}
	w.comm = m.Comm
	w.locksFirst = true
	if !w.model.Size.Known || m.Locks == 0 {
		return
	}
	locks, err := p.integers(m.Locks, int(w.model.Size.Value))
	if err != nil {
		return
	}
	held := heldLocks{}
	for rank, lock := range locks {
		switch lock {
		case smLockUnchecked:
			held.add(lockKind{}, int32(rank))
		case smLockExclusive, smLockShared:
			held.add(lockKind{mqs.Known(lock == smLockExclusive), mqs.Known(true)}, int32(rank))
		}
	}
	epochs := held.epochs()
	if len(epochs) == 1 && epochs[0].Exclusive != mqs.Known(true) && len(locks) > 1 && len(epochs[0].Ranks) == len(locks) {
		epochs = []mqs.Epoch{{Kind: mqs.LockAllEpoch, Granted: epochs[0].Granted}}
	}
	if m.StartGroup != 0 {
		epochs = append(epochs, mqs.Epoch{Kind: mqs.StartEpoch, Ranks: p.ranksIn(w, m.StartGroup), Granted: mqs.Known(true)})
	}
	w.model.Epochs = append(epochs, p.postEpoch(w, m.PostGroup, p.completedInMemory(m.State))...)
	w.model.Idle = mqs.Known(len(w.model.Epochs) == 0)
}

// completedInMemory is how many ranks have completed their accesses to a window of osc/sm.
func (p *Process) completedInMemory(at inferior.Ptr[oscSMState]) mqs.Maybe[int32] {
	if at == 0 || !p.OSCSMState.Bound() {
		return mqs.Maybe[int32]{}
	}
	s, err := p.OSCSMState.Read(p.R, at)
	return countOf(int64(s.Completed), err)
}

// Epochs of osc/ucx, and the kind of its locks (osc_ucx.h, 4.0 to 6.0).
const (
	ucxFence         = 1
	ucxPost          = 2
	ucxStart         = 3
	ucxLock          = 4
	ucxLockAll       = 5
	ucxLockExclusive = 0
)

func (p *Process) readOSCUCX(w *window) {
	m, err := p.OSCUCX.Read(p.R, inferior.Ptr[oscUCX](w.Module))
	if err != nil {
		return
	}
	w.comm = m.Comm
	w.asked = func(at inferior.Addr) (int32, bool) { return p.askedUCX(m.Locks.Ptr(), inferior.Ptr[oscUCXLock](at)) }
	epochs := []mqs.Epoch{}
	switch m.Access {
	case ucxFence:
		epochs = append(epochs, mqs.Epoch{Kind: mqs.FenceEpoch})
	case ucxStart:
		epochs = append(epochs, mqs.Epoch{Kind: mqs.StartEpoch, Ranks: p.ranksIn(w, m.StartGroup), Granted: mqs.Known(true)})
	case ucxLockAll:
		epochs = append(epochs, mqs.Epoch{Kind: mqs.LockAllEpoch, Granted: mqs.Known(true)})
	case ucxLock:
		locks, err := p.ucxLocks(m.Locks.Ptr())
		if err != nil {
			return
		}
		epochs = append(epochs, locks...)
	}
	if m.Exposure == ucxPost {
		completed := mqs.Maybe[int32]{}
		if m.Completed != 0 {
			n, err := p.R.Int(m.Completed.Addr(), 8)
			completed = countOf(n, err)
		}
		epochs = append(epochs, p.postEpoch(w, m.PostGroup, completed)...)
	}
	w.model.Epochs = epochs
}

// askedUCX is the target of a lock that osc/ucx has made an object for and that is not among those of a window.
func (p *Process) askedUCX(locks inferior.Ptr[hashTable], at inferior.Ptr[oscUCXLock]) (int32, bool) {
	if !p.OSCUCXLock.Bound() || ProveClass(p, &p.OSCUCXLock, at) != nil {
		return 0, false
	}
	held, err := p.hashed(locks)
	if err != nil || slices.Contains(inOrder(held), at.Addr()) {
		return 0, false
	}
	lock, err := p.OSCUCXLock.Read(p.R, at)
	return lock.Target, err == nil
}

func (p *Process) ucxLocks(at inferior.Ptr[hashTable]) ([]mqs.Epoch, error) {
	locks, err := p.hashed(at)
	if err != nil {
		return nil, err
	}
	held := heldLocks{}
	for _, lock := range inOrder(locks) {
		if !p.OSCUCXLock.Bound() {
			return nil, errNotBound
		}
		if err := ProveClass(p, &p.OSCUCXLock, inferior.Ptr[oscUCXLock](lock)); err != nil {
			return nil, err
		}
		l, err := p.OSCUCXLock.Read(p.R, inferior.Ptr[oscUCXLock](lock))
		if err != nil {
			return nil, err
		}
		held.add(lockKind{mqs.Known(l.Type == ucxLockExclusive), mqs.Known(true)}, l.Target)
	}
	return held.epochs(), nil
}
