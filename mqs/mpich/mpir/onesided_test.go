package mpir_test

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
)

// given are the values of a call's arguments.
type given map[string]int64

// inCall is a thread that waits in an MPI call with these arguments, and holds some addresses.
func inCall(call string, arguments given, held ...inferior.Addr) inferior.Thread {
	thread := inferiortest.Thread(1, "MPIDI_progress_test < MPIR_inside < P"+call+" < main", held...)
	thread.Frames[2].Variables = arguments
	return thread
}

// The window of a call is the one that it was given, or the only one that it works with; its communicator is the window's.
func TestWindowOfCall(t *testing.T) {
	const first, second = 0xa0000000, 0xa0000001
	m := mpichtest.Make(t)
	world := mpichtest.Queues(t, mpichtest.Shown(t, m), "MPI_COMM_WORLD")
	own := mpichtest.Members{"comm_ptr": uint64(world.UniqueID)}
	at := m.Pool("MPIR_Win_mem", "MPIR_Win", first, own, own)
	unknown := mqs.Maybe[inferior.Addr]{}
	for name, c := range map[string]struct {
		call      string
		arguments given
		held      []inferior.Addr
		kept      uint64
		want      mqs.Maybe[inferior.Addr]
	}{
		"a handle":                    {"MPI_Win_fence", given{"win": second}, nil, 0, mqs.Known[inferior.Addr](second)},
		"a handle below zero":         {"MPI_Win_fence", given{"win": second - 1<<32}, nil, 0, mqs.Known[inferior.Addr](second)},
		"more than a handle":          {"MPI_Win_fence", given{"win": second | 1<<32}, nil, 0, unknown},
		"a handle of none":            {"MPI_Win_fence", given{"win": second + 1}, at[:1], 0, unknown},
		"a pointer":                   {"MPI_Win_fence", given{"win_ptr": int64(at[0])}, nil, 0, mqs.Known[inferior.Addr](first)},
		"held":                        {"MPI_Win_fence", nil, at[:1], 0, mqs.Known[inferior.Addr](first)},
		"two of them held":            {"MPI_Win_fence", nil, at, 0, unknown},
		"two of them held, one kept":  {"MPI_Win_fence", nil, at, uint64(at[1]), mqs.Known[inferior.Addr](second)},
		"none held":                   {"MPI_Win_fence", nil, nil, 0, unknown},
		"a call that works on no one": {"MPI_Barrier", given{"win": second}, at[:1], 0, unknown},
	} {
		thread := inCall(c.call, c.arguments, c.held...)
		thread.Frames[1].Kept, thread.Frames[3].Kept = []uint64{c.kept}, []uint64{0}
		got := mpichtest.Shown(t, m.SetThreads(thread)).Threads[0]
		if got.Window != c.want || got.Comm.Known != c.want.Known || got.Comm.Known && got.Comm.Value != world.UniqueID {
			t.Errorf("%s: %s on the window %v and the communicator %v, want %v", name, got.Call, got.Window, got.Comm, c.want)
		}
	}
}

// A call keeps the communicator that it was given where its window has another one.
func TestWindowOnAnotherCommunicator(t *testing.T) {
	m := mpichtest.Make(t)
	p := mpichtest.Shown(t, m)
	world, self := mpichtest.Queues(t, p, "MPI_COMM_WORLD"), mpichtest.Queues(t, p, "MPI_COMM_SELF")
	m.Pool("MPIR_Win_mem", "MPIR_Win", 0xa0000000, mpichtest.Members{"comm_ptr": uint64(self.UniqueID)})
	got := mpichtest.Shown(t, m.SetThreads(inCall("MPI_Win_fence", given{"win": 0xa0000000, "comm_ptr": int64(world.UniqueID)}))).Threads[0]
	if got.Window != mqs.Known[inferior.Addr](0xa0000000) || got.Comm != mqs.Known(world.UniqueID) {
		t.Errorf("%v, %v", got.Window, got.Comm)
	}
}

// The target of a call is a rank of its window's.
func TestTarget(t *testing.T) {
	m := mpichtest.Make(t)
	world := mpichtest.Queues(t, mpichtest.Shown(t, m), "MPI_COMM_WORLD")
	m.Pool("MPIR_Win_mem", "MPIR_Win", 0xa0000000, mpichtest.Members{"comm_ptr": uint64(world.UniqueID)})
	size := int64(world.Size.Value)
	for name, c := range map[string]struct {
		call      string
		arguments given
		want      mqs.Maybe[int32]
	}{
		"the first":             {"MPI_Win_lock", given{"win": 0xa0000000, "rank": 0}, mqs.Known[int32](0)},
		"the last":              {"MPI_Win_lock", given{"win": 0xa0000000, "rank": size - 1}, mqs.Known(int32(size - 1))},
		"behind the last":       {"MPI_Win_lock", given{"win": 0xa0000000, "rank": size}, mqs.Maybe[int32]{}},
		"below the first":       {"MPI_Win_lock", given{"win": 0xa0000000, "rank": -1}, mqs.Maybe[int32]{}},
		"not known":             {"MPI_Win_lock", given{"win": 0xa0000000}, mqs.Maybe[int32]{}},
		"of a call without one": {"MPI_Win_fence", given{"win": 0xa0000000, "rank": 1}, mqs.Maybe[int32]{}},
	} {
		if got := mpichtest.Shown(t, m.SetThreads(inCall(c.call, c.arguments))).Threads[0]; got.Target != c.want || !got.Window.Known {
			t.Errorf("%s: %v on %v, want %v", name, got.Target, got.Window, c.want)
		}
	}
}

// A window that MPI_Win_start is about to open has this epoch, with the ranks of the group that the call was given.
func TestStart(t *testing.T) {
	const group, gone = 0x88000000, 0x88000002
	const win, other = 0xa0000000, 0xa0000001
	m := mpichtest.Make(t)
	world := mpichtest.Queues(t, mpichtest.Shown(t, m), "MPI_COMM_WORLD")
	member := func(lpid uint64) []byte { return m.Bytes("MPII_Group_pmap_t", mpichtest.Members{"lpid": lpid}) }
	groups := m.Pool("MPIR_Group_mem", "MPIR_Group", group, mpichtest.Members{"size": 2, "lrank_to_lpid": uint64(m.Memory(append(member(2), member(1)...)))},
		mpichtest.Members{"size": 1, "lrank_to_lpid": uint64(m.Memory(member(77)))}, nil)
	free := mpichtest.Members{"comm_ptr": uint64(world.UniqueID)}
	m.Pool("MPIR_Win_mem", "MPIR_Win", win, free, free,
		mpichtest.Members{"comm_ptr": uint64(world.UniqueID), "dev.am.sync.access_epoch_type": 2, "dev.am.sync.sc.group": uint64(groups[0])},
		mpichtest.Members{"comm_ptr": uint64(world.UniqueID), "dev.am.sync.access_epoch_type": 7})
	start := func(granted mqs.Maybe[bool]) []mqs.Epoch {
		return []mqs.Epoch{{Kind: mqs.StartEpoch, Ranks: []int32{2, 1}, Granted: granted}}
	}
	for name, c := range map[string]struct {
		call      string
		arguments given
		want      []mqs.Epoch
	}{
		"a group by its handle":   {"MPI_Win_start", given{"win": win, "group": group}, start(mqs.Maybe[bool]{})},
		"one below zero":          {"MPI_Win_start", given{"win": win, "group": group - 1<<32}, start(mqs.Maybe[bool]{})},
		"one by its address":      {"MPI_Win_start", given{"win": win, "group_ptr": int64(groups[0])}, start(mqs.Maybe[bool]{})},
		"of a process elsewhere":  {"MPI_Win_start", given{"win": win, "group": group + 1}, []mqs.Epoch{}},
		"one that is freed":       {"MPI_Win_start", given{"win": win, "group": gone}, []mqs.Epoch{}},
		"no group":                {"MPI_Win_start", given{"win": win, "group": group + 77}, []mqs.Epoch{}},
		"not known":               {"MPI_Win_start", given{"win": win}, []mqs.Epoch{}},
		"another window":          {"MPI_Win_start", given{"win": other, "group": group}, []mqs.Epoch{}},
		"another call":            {"MPI_Win_post", given{"win": win, "group": group}, []mqs.Epoch{}},
		"no window that is known": {"MPI_Win_start", given{"group": group}, []mqs.Epoch{}},
	} {
		p := mpichtest.Shown(t, m.SetThreads(inCall(c.call, c.arguments)))
		if got := p.Windows[0].Epochs; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		window int
		want   []mqs.Epoch
	}{
		"it has been opened already":      {2, start(mqs.Known(true))},
		"what is open there is not known": {3, nil},
	} {
		p := mpichtest.Shown(t, m.SetThreads(inCall("MPI_Win_start", given{"win": win + int64(c.window), "group": group})))
		if got := p.Windows[c.window].Epochs; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// withFiles is a process whose types tell what a file is, and where the files are that were put into it: two that are
// open, and one that is closed.
func withFiles(t *testing.T) (m *inferiortest.Patched, world, self *mqs.Queues, open [2]inferior.Addr, closed inferior.Addr) {
	t.Helper()
	const cookie, page = 2487376, 0x10_0000_0000
	m = inferiortest.Patch(inferiortest.Recorded(t, "mpich-4.0.2-ch4-debug/queues-rank-0"))
	p := mpichtest.Shown(t, m)
	world, self = mpichtest.Queues(t, p, "MPI_COMM_WORLD"), mpichtest.Queues(t, p, "MPI_COMM_SELF")
	field := inferiortest.Field
	m.SetType("ADIOI_FileD", &layout.Layout{Size: 64, Fields: map[string]layout.Field{"cookie": field(0, 4, layout.KindSigned), "comm": field(4, 4, layout.KindSigned),
		"filename": field(8, 8, layout.KindPointer), "orig_access_mode": field(16, 4, layout.KindSigned), "fortran_handle": field(20, 4, layout.KindSigned)}})
	m.AddMemory(page, make([]byte, inferiortest.Page))
	put := func(at inferior.Addr, cookie uint32, on *mqs.Queues, name string) inferior.Addr {
		m.PutUint32(at, cookie).PutUint32(at+4, uint32(on.Handle.Value)).PutPointer(at+8, at+0x40).PutBytes(at+0x40, []byte(name))
		return at
	}
	return m, world, self, [2]inferior.Addr{put(page, cookie, world, "/data/a"), put(page+0x100, cookie, self, "/data/b")}, put(page+0x200, cookie+1, self, "")
}

// A file of a call is what proves to be one, of what it was given or is the only one that it holds.
func TestFileOfCall(t *testing.T) {
	m, world, self, open, closed := withFiles(t)
	first, second := open[0], open[1]
	for name, c := range map[string]struct {
		thread inferior.Thread
		file   inferior.Addr // 0 if it is not known
		comm   *mqs.Queues
	}{
		"given":                      {inCall("MPI_File_write_all", given{"fh": int64(first)}, second), first, world},
		"given inside":               {inCall("MPI_File_write_all", given{"adio_fh": int64(second)}), second, self},
		"given, with a communicator": {inCall("MPI_File_write_all", given{"fh": int64(first), "comm_ptr": int64(self.UniqueID)}), first, self},
		"given, closed":              {inCall("MPI_File_write_all", given{"fh": int64(closed)}, second), 0, nil},
		"held":                       {inCall("MPI_File_write_all", nil, closed, second), second, self},
		"two of them held":           {inCall("MPI_File_write_all", nil, first, second), 0, nil},
		"none held":                  {inCall("MPI_File_write_all", nil, closed), 0, nil},
		"another call":               {inCall("MPI_Barrier", given{"fh": int64(first)}, first), 0, nil},
	} {
		p := mpichtest.Shown(t, m.SetThreads(c.thread))
		got := p.Threads[0]
		if got.OpenFile != (mqs.Maybe[inferior.Addr]{Value: c.file, Known: c.file != 0}) {
			t.Errorf("%s: it works on %v, want %s", name, got.OpenFile, c.file)
		}
		if got.Comm.Known != (c.comm != nil) || c.comm != nil && got.Comm.Value != c.comm.UniqueID {
			t.Errorf("%s: it works on the communicator %v", name, got.Comm)
		}
		for _, q := range p.Communicators {
			want := mqs.Maybe[string]{}
			switch {
			case c.file == first && q.UniqueID == world.UniqueID:
				want = mqs.Known("/data/a")
			case c.file == second && q.UniqueID == self.UniqueID:
				want = mqs.Known("/data/b")
			}
			if q.File != want {
				t.Errorf("%s: %s is of the file %v, want %v", name, q.Label(), q.File, want)
			}
		}
	}
}

// A collective that a call for files has made is on that call's file.
func TestFileOfOuterCall(t *testing.T) {
	m, world, _, open, _ := withFiles(t)
	thread := inferiortest.Thread(1, "MPIDI_progress_test < PMPI_Barrier < ADIO_Close < PMPI_File_close < main")
	thread.Frames[3].Variables = map[string]int64{"fh": int64(open[0])}
	if got := mpichtest.Shown(t, m.SetThreads(thread)).Threads[0]; got.Call != "MPI_File_close" || got.OpenFile != mqs.Known(open[0]) || got.Comm != mqs.Known(world.UniqueID) {
		t.Errorf("%+v", got)
	}
}
