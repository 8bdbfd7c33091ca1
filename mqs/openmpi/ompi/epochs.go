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
	return ProveClass(p, &p.OSCRDMASync, p.OSCRDMA.Places(at).AllSync.Ptr()) == nil
}

func (p *Process) isOSCPt2pt(w *window) bool {
	at := inferior.Ptr[oscPt2pt](w.Module)
	if !p.OSCPt2pt.Bound() || !p.OSCPt2ptSync.Bound() {
		return false
	}
	return ProveClass(p, &p.OSCPt2ptSync, p.OSCPt2pt.Places(at).AllSync.Ptr()) == nil
}

// isOSCSM: osc/sm keeps the flavor of its windows too.
func (p *Process) isOSCSM(w *window) bool {
	at := inferior.Ptr[oscSM](w.Module)
	if !p.OSCSM.Bound() || !p.isOf(inferior.Ptr[Object](p.OSCSM.Places(at).Lock), mutexClass) {
		return false
	}
	m, err := p.OSCSM.Read(p.R, at)
	return err == nil && m.Flavor == int32(w.Flavor) && p.isComm(m.Comm)
}

func (p *Process) isOSCUCX(w *window) bool {
	at := inferior.Ptr[oscUCX](w.Module)
	if !p.OSCUCX.Bound() || !p.HashTable.Bound() || ProveClass(p, &p.HashTable, p.OSCUCX.Places(at).Locks.Ptr()) != nil {
		return false
	}
	m, err := p.OSCUCX.Read(p.R, at)
	return err == nil && p.isComm(m.Comm)
}

// isComm says whether a communicator stands at an address.
func (p *Process) isComm(at inferior.Ptr[Communicator]) bool {
	return p.isOf(inferior.Ptr[Object](at), p.Communicator.Name())
}

// Types of an access epoch of osc/rdma (osc_rdma_sync.h, 4.1 to 6.0) and of osc/pt2pt (osc_pt2pt_sync.h, 4.1).
const (
	syncLock  = 1
	syncFence = 2
	syncStart = 3
)

// lockExclusive is MPI_LOCK_EXCLUSIVE, which both keep of a lock.
const lockExclusive = 1

func (p *Process) readOSCRDMA(w *window) {
	m, err := p.OSCRDMA.Read(p.R, inferior.Ptr[oscRDMA](w.Module))
	if err != nil || m.Win.Addr() != w.at {
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
	p.setEpochs(w, &p.OSCRDMASync, m.AllSync.Ptr(), locks, m.PostGroup)
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
	p.setEpochs(w, &p.OSCPt2ptSync, m.AllSync.Ptr(), locks, m.PostGroup)
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

// setEpochs fills in the epochs of a window of osc/rdma or osc/pt2pt: one that all ranks or those of a group take
// part in, the locks that this process holds or waits for, and an exposure epoch.
func (p *Process) setEpochs(w *window, s *inferior.Struct[oscSync], all inferior.Ptr[oscSync], locks []inferior.Ptr[oscSync], post inferior.Ptr[Group]) {
	sync, err := s.Read(p.R, all)
	if err != nil {
		return
	}
	epochs := []mqs.Epoch{}
	switch sync.Type {
	case syncFence:
		epochs = append(epochs, mqs.Epoch{Kind: mqs.FenceEpoch})
	case syncLock:
		epochs = append(epochs, mqs.Epoch{Kind: mqs.LockAllEpoch})
	case syncStart:
		epochs = append(epochs, mqs.Epoch{Kind: mqs.StartEpoch, Ranks: p.ranksIn(w, sync.StartGroup)})
	}
	held := map[mqs.Maybe[bool]][]int32{}
	for _, at := range locks {
		if at == 0 || at == all {
			continue
		}
		if ProveClass(p, s, at) != nil {
			return
		}
		lock, err := s.Read(p.R, at)
		if err != nil {
			return
		}
		kind := mqs.Known(lock.LockType == lockExclusive)
		held[kind] = append(held[kind], lock.Target)
	}
	w.model.Epochs = append(append(epochs, lockEpochs(held)...), p.postEpoch(w, post)...)
}

// lockEpochs are the epochs of locks of which the targets are given, by whether they are exclusive.
func lockEpochs(held map[mqs.Maybe[bool]][]int32) []mqs.Epoch {
	var out []mqs.Epoch
	for _, exclusive := range []mqs.Maybe[bool]{mqs.Known(true), mqs.Known(false), {}} {
		if ranks := held[exclusive]; len(ranks) > 0 {
			slices.Sort(ranks)
			out = append(out, mqs.Epoch{Kind: mqs.LockEpoch, Exclusive: exclusive, Ranks: ranks})
		}
	}
	return out
}

func (p *Process) postEpoch(w *window, group inferior.Ptr[Group]) []mqs.Epoch {
	if group == 0 {
		return nil
	}
	return []mqs.Epoch{{Kind: mqs.PostEpoch, Ranks: p.ranksIn(w, group)}}
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
	p.PrefetchProcs(slices.Concat(members, all)) // the same process can be a pointer here and a sentinel there
	ranks := map[procName]int32{}
	for rank, e := range all {
		if name, err := p.nameOf(e); err == nil {
			ranks[name] = int32(rank)
		}
	}
	out := make([]int32, len(members))
	for i, e := range members {
		name, err := p.nameOf(e)
		rank, ok := ranks[name]
		if err != nil || !ok {
			return nil
		}
		out[i] = rank
	}
	slices.Sort(out)
	return out
}

// What osc/sm keeps of a lock (osc_sm.h, 4.1 to 6.0). Of one without a check its kind is not kept.
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
	if !w.model.Size.Known || m.Locks == 0 {
		return
	}
	locks, err := p.integers(m.Locks, int(w.model.Size.Value))
	if err != nil {
		return
	}
	held := map[mqs.Maybe[bool]][]int32{}
	for rank, lock := range locks {
		switch lock {
		case smLockUnchecked:
			held[mqs.Maybe[bool]{}] = append(held[mqs.Maybe[bool]{}], int32(rank))
		case smLockExclusive, smLockShared:
			kind := mqs.Known(lock == smLockExclusive)
			held[kind] = append(held[kind], int32(rank))
		}
	}
	epochs := lockEpochs(held)
	if len(epochs) == 1 && epochs[0].Exclusive != mqs.Known(true) && len(locks) > 1 && len(epochs[0].Ranks) == len(locks) {
		epochs = []mqs.Epoch{{Kind: mqs.LockAllEpoch}}
	}
	if m.StartGroup != 0 {
		epochs = append(epochs, mqs.Epoch{Kind: mqs.StartEpoch, Ranks: p.ranksIn(w, m.StartGroup)})
	}
	w.model.Epochs = append(epochs, p.postEpoch(w, m.PostGroup)...)
}

// Epochs of osc/ucx, and the kind of its locks (osc_ucx.h, 4.1 to 6.0).
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
	epochs := []mqs.Epoch{}
	switch m.Access {
	case ucxFence:
		epochs = append(epochs, mqs.Epoch{Kind: mqs.FenceEpoch})
	case ucxStart:
		epochs = append(epochs, mqs.Epoch{Kind: mqs.StartEpoch, Ranks: p.ranksIn(w, m.StartGroup)})
	case ucxLockAll:
		epochs = append(epochs, mqs.Epoch{Kind: mqs.LockAllEpoch})
	case ucxLock:
		locks, err := p.ucxLocks(m.Locks.Ptr())
		if err != nil {
			return
		}
		epochs = append(epochs, locks...)
	}
	if m.Exposure == ucxPost {
		epochs = append(epochs, p.postEpoch(w, m.PostGroup)...)
	}
	w.model.Epochs = epochs
}

func (p *Process) ucxLocks(at inferior.Ptr[hashTable]) ([]mqs.Epoch, error) {
	locks, err := p.hashed(at)
	if err != nil {
		return nil, err
	}
	held := map[mqs.Maybe[bool]][]int32{}
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
		kind := mqs.Known(l.Type == ucxLockExclusive)
		held[kind] = append(held[kind], l.Target)
	}
	return lockEpochs(held), nil
}
