package ompi

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// Where things are in a process that has two windows, of which the second one has a component's part, and two files.
const (
	firstWindow, secondWindow, module = inferior.Addr(0x1000), inferior.Addr(0x2000), inferior.Addr(0x2100)
	firstFile, secondFile             = inferior.Addr(0x3000), inferior.Addr(0x4000)
	ofWindow, ofFile, ofCall          = inferior.Ptr[Communicator](0x10), inferior.Ptr[Communicator](0x20), inferior.Ptr[Communicator](0x30)
)

// withObjects is that process.
func withObjects(t *testing.T) *Process {
	t.Helper()
	size := mqs.Window{Size: mqs.Known[int32](3)}
	p := &Process{R: inferior.NewReader(t.Context(), inferiortest.New()), byAddr: map[inferior.Ptr[Communicator]]*Comm{},
		windowsRead: true, windowsKnown: true, windows: []*window{{at: firstWindow, model: size, comm: ofWindow}, {at: secondWindow, model: size, comm: ofWindow, win: win{Module: module}}},
		filesRead: true, filesKnown: true, files: []*openFile{{model: mqs.File{Handle: firstFile}, comm: ofFile}, {model: mqs.File{Handle: secondFile}, comm: ofFile}}}
	for _, at := range []inferior.Ptr[Communicator]{ofWindow, ofFile, ofCall} {
		p.byAddr[at] = &Comm{At: at, Model: &mqs.Communicator{UniqueID: at.Addr()}}
	}
	return p
}

// holding is a call that holds some addresses, one of them in a register that its functions keep.
func holding(t *testing.T, function string, arguments map[string]int64, kept inferior.Addr, held ...inferior.Addr) *callstack.Call {
	t.Helper()
	thread := inferiortest.Thread(1, "opal_progress < P"+function+" < main", held...)
	thread.Frames[1].Variables = arguments
	thread.Frames[0].Kept, thread.Frames[2].Kept = []uint64{uint64(kept)}, []uint64{0}
	of := inferiortest.New()
	of.Stacks = []inferior.Thread{thread}
	calls, err := callstack.Calls(inferior.NewReader(t.Context(), of))
	if err != nil || len(calls) != 1 {
		t.Fatal(calls, err)
	}
	return &calls[0]
}

// known is an address that is known, if it is one.
func known(at inferior.Addr) mqs.Maybe[inferior.Addr] {
	return mqs.Maybe[inferior.Addr]{Value: at, Known: at != 0}
}

// A call works on the window and on the file that it was given, or on the only one of which it holds something, and on
// its communicator if it was given none.
func TestObjectsOfCalls(t *testing.T) {
	const fence, write = "MPI_Win_fence", "MPI_File_write_all"
	for name, c := range map[string]struct {
		call               string
		arguments          map[string]int64
		kept               inferior.Addr
		held               []inferior.Addr
		before             callstack.Wait
		window, file, comm inferior.Addr
	}{
		"a window that was given":       {call: fence, arguments: map[string]int64{"win": int64(firstWindow)}, held: []inferior.Addr{secondWindow}, window: firstWindow, comm: ofWindow.Addr()},
		"one that is none":              {call: fence, arguments: map[string]int64{"win": 0x9000}, held: []inferior.Addr{secondWindow}},
		"one that is held":              {call: fence, held: []inferior.Addr{firstWindow}, window: firstWindow, comm: ofWindow.Addr()},
		"one whose part is held":        {call: fence, held: []inferior.Addr{module}, window: secondWindow, comm: ofWindow.Addr()},
		"nothing, where one has naught": {call: fence, held: []inferior.Addr{0}},
		"two that are held":             {call: fence, held: []inferior.Addr{firstWindow, module}},
		"two, of which one is kept":     {call: fence, kept: module, held: []inferior.Addr{firstWindow, module}, window: secondWindow, comm: ofWindow.Addr()},
		"with a communicator":           {call: fence, held: []inferior.Addr{firstWindow}, before: callstack.Wait{Comm: known(ofCall.Addr())}, window: firstWindow, comm: ofCall.Addr()},
		"with requests":                 {call: fence, held: []inferior.Addr{firstWindow}, before: callstack.Wait{Requests: []callstack.Request{{}}}, window: firstWindow},
		"a window, of another call":     {call: "MPI_Barrier", held: []inferior.Addr{firstWindow, firstFile}},
		"a file that was given":         {call: write, arguments: map[string]int64{"fh": int64(firstFile)}, held: []inferior.Addr{secondFile}, file: firstFile, comm: ofFile.Addr()},
		"a file that is none":           {call: write, arguments: map[string]int64{"fh": 0x9000}, held: []inferior.Addr{secondFile}},
		"a file that is held":           {call: write, held: []inferior.Addr{secondFile}, file: secondFile, comm: ofFile.Addr()},
		"two files that are held":       {call: write, held: []inferior.Addr{secondFile, firstFile}},
		"a file, with a communicator":   {call: write, held: []inferior.Addr{firstFile}, before: callstack.Wait{Comm: known(ofCall.Addr())}, file: firstFile, comm: ofCall.Addr()},
		"a file, with requests":         {call: write, held: []inferior.Addr{firstFile}, before: callstack.Wait{Requests: []callstack.Request{{}}}, file: firstFile},
	} {
		got := c.before
		withObjects(t).setObjects(holding(t, c.call, c.arguments, c.kept, c.held...), &got)
		if got.Window != known(c.window) || got.File != known(c.file) || got.Comm != known(c.comm) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A call of the library's own is on the file of the call that has made it.
func TestFileOfOuterCall(t *testing.T) {
	thread := inferiortest.Thread(1, "opal_progress < PMPI_Barrier < mca_io_ompio_file_close < PMPI_File_close < main")
	thread.Frames[3].Variables = map[string]int64{"fh": int64(firstFile)}
	of := inferiortest.New()
	of.Stacks = []inferior.Thread{thread}
	calls, err := callstack.Calls(inferior.NewReader(t.Context(), of))
	if err != nil || len(calls) != 1 {
		t.Fatal(calls, err)
	}
	var got callstack.Wait
	if withObjects(t).setObjects(&calls[0], &got); got.File != known(firstFile) || got.Comm != known(ofFile.Addr()) {
		t.Errorf("%+v", got)
	}
}

// The target of a call is the rank that it was given, or that of the only lock that may be its own.
func TestTargetOfCall(t *testing.T) {
	const lock, unlock = "MPI_Win_lock", "MPI_Win_unlock"
	locks := map[inferior.Addr]int32{0x5000: 0, 0x5100: 2, 0x5200: 2, 0x5300: 3, 0x5400: -1}
	asked := func(at inferior.Addr) (int32, bool) { target, ok := locks[at]; return target, ok }
	one, two := []mqs.Epoch{{Kind: mqs.FenceEpoch}, {Kind: mqs.LockEpoch, Ranks: []int32{1}}}, []mqs.Epoch{{Kind: mqs.LockEpoch, Ranks: []int32{1}}, {Kind: mqs.LockEpoch, Ranks: []int32{2}}}
	for name, c := range map[string]struct {
		call      string
		arguments map[string]int64
		held      []inferior.Addr
		window    window
		size      int32
		want      mqs.Maybe[int32]
	}{
		"the first rank":              {lock, map[string]int64{"rank": 0}, nil, window{}, 3, mqs.Known[int32](0)},
		"the last rank":               {unlock, map[string]int64{"rank": 2}, nil, window{}, 3, mqs.Known[int32](2)},
		"behind the last":             {lock, map[string]int64{"rank": 3}, nil, window{}, 3, mqs.Maybe[int32]{}},
		"below the first":             {lock, map[string]int64{"rank": -1}, nil, window{}, 3, mqs.Maybe[int32]{}},
		"of a size that is not known": {lock, map[string]int64{"rank": 1}, nil, window{}, -1, mqs.Maybe[int32]{}},
		"of a call without a target":  {"MPI_Win_fence", map[string]int64{"rank": 1}, nil, window{}, 3, mqs.Maybe[int32]{}},
		"one lock":                    {lock, nil, []inferior.Addr{0x5000, 0x9000}, window{asked: asked}, 3, mqs.Known[int32](0)},
		"two locks of one rank":       {lock, nil, []inferior.Addr{0x5100, 0x5200}, window{asked: asked}, 3, mqs.Known[int32](2)},
		"locks of two ranks":          {lock, nil, []inferior.Addr{0x5000, 0x5100}, window{asked: asked}, 3, mqs.Maybe[int32]{}},
		"beside those of no rank":     {lock, nil, []inferior.Addr{0x5100, 0x5300, 0x5400}, window{asked: asked}, 3, mqs.Known[int32](2)},
		"no lock":                     {lock, nil, []inferior.Addr{0x9000}, window{asked: asked}, 3, mqs.Maybe[int32]{}},
		"of another call":             {unlock, nil, []inferior.Addr{0x5100}, window{asked: asked}, 3, mqs.Maybe[int32]{}},
		"of a component without":      {lock, nil, []inferior.Addr{0x5100}, window{}, 3, mqs.Maybe[int32]{}},
		"the only one of the window":  {lock, nil, nil, window{locksFirst: true, model: mqs.Window{Epochs: one}}, 3, mqs.Known[int32](1)},
		"one of two of the window":    {lock, nil, nil, window{locksFirst: true, model: mqs.Window{Epochs: two}}, 3, mqs.Maybe[int32]{}},
		"one of several ranks":        {lock, nil, nil, window{locksFirst: true, model: mqs.Window{Epochs: []mqs.Epoch{{Kind: mqs.LockEpoch, Ranks: []int32{1, 2}}}}}, 3, mqs.Maybe[int32]{}},
	} {
		c.window.model.Size = mqs.Maybe[int32]{Value: c.size, Known: c.size >= 0}
		if got := withObjects(t).targetOf(holding(t, c.call, c.arguments, 0, c.held...), &c.window); got.Known != c.want.Known || got.Known && got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A lock that stands on the call's own stack is no object of a component's.
func TestLockOnStack(t *testing.T) {
	w := window{model: mqs.Window{Size: mqs.Known[int32](3)}, asked: func(inferior.Addr) (int32, bool) { return 1, true }}
	c := holding(t, "MPI_Win_lock", nil, 0, 0x5000)
	if got := withObjects(t).targetOf(c, &w); got != mqs.Known[int32](1) {
		t.Errorf("elsewhere: %v", got)
	}
	c.Stack = inferior.Range{Addr: 0x4f00, Len: 0x200}
	if got := withObjects(t).targetOf(c, &w); got.Known {
		t.Errorf("on the stack: %v", got)
	}
}
