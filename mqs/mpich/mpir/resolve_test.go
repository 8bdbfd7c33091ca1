package mpir_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// resolve says what a handle of a process stands for.
func resolve(t *testing.T, tg inferior.Inferior, kind mqs.HandleKind, value uint64) *mqs.Handle {
	t.Helper()
	s, err := mpichtest.Open(tg)
	if err != nil {
		t.Fatal(err)
	}
	return s.(read.Resolver).Resolve(mqs.HandleValue{Kind: kind, Value: value})
}

// state is a handle's state and name.
type state struct {
	is   mqs.HandleState
	name string
}

// Null handles, predefined ones and those of another kind are told by their bits.
func TestConstants(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	for _, c := range []struct {
		kind  mqs.HandleKind
		value uint64
		want  state
	}{
		{mqs.CommHandle, 0x04000000, state{mqs.NullHandle, "MPI_COMM_NULL"}},
		{mqs.CommHandle, 0x44000000, state{mqs.PredefinedHandle, "MPI_COMM_WORLD"}},
		{mqs.CommHandle, 0x44000007, state{mqs.InvalidHandle, ""}},
		{mqs.CommHandle, 0x44000009, state{mqs.InvalidHandle, ""}},
		{mqs.CommHandle, 0, state{mqs.InvalidHandle, ""}},
		{mqs.CommHandle, 0xffffffff, state{mqs.InvalidHandle, ""}},
		{mqs.CommHandle, 0xffffffffffffffff, state{mqs.InvalidHandle, ""}},
		{mqs.CommHandle, 0x7fff44000000, state{mqs.InvalidHandle, ""}},
		{mqs.CommHandle, 0x84000fff, state{mqs.InvalidHandle, ""}},
		{mqs.CommHandle, 0x4c000405, state{mqs.InvalidHandle, ""}},
		{mqs.DatatypeHandle, 0x4c000405, state{mqs.PredefinedHandle, "MPI_INT"}},
		{mqs.DatatypeHandle, 0xffffffff8c000fff, state{mqs.InvalidHandle, ""}},
		{mqs.DatatypeHandle, 0x4c0000fe, state{mqs.InvalidHandle, ""}},
		{mqs.DatatypeHandle, 0x0c000000, state{mqs.NullHandle, "MPI_DATATYPE_NULL"}},
		{mqs.GroupHandle, 0x48000000, state{mqs.PredefinedHandle, "MPI_GROUP_EMPTY"}},
		{mqs.OpHandle, 0x58000003, state{mqs.PredefinedHandle, "MPI_SUM"}},
		{mqs.InfoHandle, 0x1c000000, state{mqs.NullHandle, "MPI_INFO_NULL"}},
		{mqs.RequestHandle, 0x2c000000, state{mqs.NullHandle, "MPI_REQUEST_NULL"}},
		{mqs.MessageHandle, 0x2c000000, state{mqs.NullHandle, "MPI_MESSAGE_NULL"}},
		{mqs.MessageHandle, 0x6c000000, state{mqs.PredefinedHandle, "MPI_MESSAGE_NO_PROC"}},
		{mqs.RequestHandle, 0x6c000010, state{mqs.LiveHandle, ""}},
		{mqs.RequestHandle, 0x6c000011, state{"", ""}}, // a later release may have more of its own
		{mqs.RequestHandle, 0x6c64c87b, state{mqs.InvalidHandle, ""}},
		{mqs.MessageHandle, 0x6c000001, state{mqs.InvalidHandle, ""}},
		{mqs.RequestHandle, 0xac0fffff, state{mqs.InvalidHandle, ""}},
		{mqs.WinHandle, 0x20000000, state{mqs.NullHandle, "MPI_WIN_NULL"}},
		{mqs.ErrhandlerHandle, 0x54000001, state{mqs.PredefinedHandle, "MPI_ERRORS_RETURN"}},
		{mqs.SessionHandle, 0x38000000, state{mqs.NullHandle, "MPI_SESSION_NULL"}},
		{mqs.FileHandle, 0, state{mqs.NullHandle, "MPI_FILE_NULL"}},
		{mqs.WinHandle, 0xa0000000, state{"", ""}}, // the recording's types do not tell what a window is
		{mqs.FileHandle, 0x1234, state{"", ""}},
	} {
		h := resolve(t, tg, c.kind, c.value)
		if got := (state{h.State, h.Name.Value}); got != c.want {
			t.Errorf("%s %#x is %v, want %v", c.kind, c.value, got, c.want)
		}
		if (h.State == "") != (len(h.Notes) == 1) {
			t.Errorf("%s %#x: notes: %q", c.kind, c.value, h.Notes)
		}
	}
}

// counting counts the round trips to a process's memory.
type counting struct {
	inferior.Inferior
	trips int
}

func (c *counting) ReadMemory(ctx context.Context, ranges []inferior.Range) ([][]byte, error) {
	c.trips++
	return c.Inferior.ReadMemory(ctx, ranges)
}

// Handles that are none, and those of objects that are not there, cost few round trips.
func TestGarbageIsCheap(t *testing.T) {
	for _, name := range []string{"mpich-4.0.2-ch3/queues-rank-0", "mpich-4.0.2-ch4-ucx-static/queues-rank-0"} {
		for _, kind := range mqs.HandleKinds {
			for _, value := range []uint64{0, 0xffffffff, 0x7fffdeadbeef, 0x84ffffff, 0x8cffffff, 0xecffffff, 0x88000000} {
				tg := &counting{Inferior: inferiortest.Recorded(t, name)}
				s, err := mpichtest.Open(tg)
				if err != nil {
					t.Fatal(err)
				}
				opened := tg.trips
				h := s.(read.Resolver).Resolve(mqs.HandleValue{Kind: kind, Value: value})
				if more := tg.trips - opened; more > 3 {
					t.Errorf("%s: %s %#x takes %d round trips", name, kind, value, more)
				}
				if h.State == mqs.LiveHandle || h.State == mqs.PredefinedHandle {
					t.Errorf("%s: %s %#x is %s", name, kind, value, h.State)
				}
			}
		}
	}
}

// Every communicator and every request that is shown is found by its handle, and is the same.
func TestResolveShown(t *testing.T) {
	for _, name := range []string{"mpich-4.0.2-ch3/requests-rank-0", "mpich-4.0.2-ch3-debug/queues-rank-0", "mpich-4.0.2-ch4-debug/requests-rank-0", "mpich-4.0.2-ch3-debug-powerpc/queues-rank-0"} {
		tg := inferiortest.Recorded(t, name)
		r := inferior.NewReader(context.Background(), tg)
		requests := 0
		for _, c := range mpichtest.Shown(t, tg).Communicators {
			if !c.Handle.Known {
				t.Errorf("%s: %s has no handle", name, c.Label())
				continue
			}
			h := resolve(t, tg, mqs.CommHandle, uint64(c.Handle.Value))
			if !reflect.DeepEqual(h.Communicator, &c.Communicator) || h.FortranHandle != c.FortranHandle {
				t.Errorf("%s: %#x is %+v, not %s", name, c.Handle.Value, h, c.Label())
			}
			for _, class := range []mqs.OpClass{mqs.PendingSends, mqs.PendingReceives} {
				for _, op := range c.Queue[class].Operations {
					number, err := r.Uint(op.Request.Value, 4)
					if err != nil {
						t.Fatal(err)
					}
					h := resolve(t, tg, mqs.RequestHandle, number)
					if h.State != mqs.LiveHandle || h.Operation == nil || !reflect.DeepEqual(*h.Operation, op) || h.Communicator.UniqueID != c.UniqueID {
						t.Errorf("%s: request %#x is %+v %+v, want %+v", name, number, h, h.Operation, op)
					}
					requests++
				}
			}
		}
		if requests < 3 {
			t.Errorf("%s: %d requests", name, requests)
		}
	}
}

// A handle leads to nothing once its object is gone.
func TestResolveFreed(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch3/queues-rank-0")
	q := mpichtest.Queues(t, mpichtest.Shown(t, tg), "wild")
	value := uint64(q.Handle.Value)
	for _, c := range []struct {
		member string
		value  uint32
	}{{"ref_count", 0}, {"handle", 0x84000fff}} {
		h := resolve(t, inferiortest.Patch(tg).PutUint32(q.UniqueID+mpichtest.Offset(t, tg, "MPIR_Comm", c.member), c.value), mqs.CommHandle, value)
		if h.State != mqs.FreedHandle || h.Communicator != nil {
			t.Errorf("%s: %+v", c.member, h)
		}
	}
	// One whose rank can't be right is being made.
	h := resolve(t, inferiortest.Patch(tg).PutUint32(q.UniqueID+mpichtest.Offset(t, tg, "MPIR_Comm", "rank"), 99), mqs.CommHandle, value)
	if h.State != "" || len(h.Notes) != 1 {
		t.Errorf("in the making: %+v", h)
	}
	op := q.Queue[mqs.PendingReceives].Operations[0].Request.Value
	number, err := inferior.NewReader(context.Background(), tg).Uint(op, 4)
	if err != nil {
		t.Fatal(err)
	}
	h = resolve(t, inferiortest.Patch(tg).PutUint32(op+mpichtest.Offset(t, tg, "MPIR_Request", "ref_count"), 0), mqs.RequestHandle, number)
	if h.State != mqs.FreedHandle || h.Operation != nil {
		t.Errorf("a request: %+v", h)
	}
	if h := resolve(t, tg, mqs.MessageHandle, number); h.State != mqs.InvalidHandle {
		t.Errorf("a receive as a message: %+v", h)
	}
}

// What the bits of a status hold.
func TestStatus(t *testing.T) {
	for _, name := range []string{"mpich-4.0.2-ch3/queues-rank-0", "mpich-4.0.2-ch3-debug-powerpc/queues-rank-0"} {
		tg := inferiortest.Recorded(t, name)
		s, err := mpichtest.Open(tg)
		if err != nil {
			t.Fatal(err)
		}
		p := inferiortest.New()
		p.Identity.BigEndian = tg.Info().BigEndian
		var data []byte
		for _, v := range []uint32{16, 1<<1 | 1, 2, 22, 0} {
			data = p.Order().AppendUint32(data, v)
		}
		h := s.(read.Resolver).Resolve(mqs.HandleValue{Kind: mqs.StatusHandle, Data: data})
		want := mqs.MessageStatus{Source: mqs.Known[int32](2), Tag: mqs.Known[int32](22), Error: mqs.Known[int32](0), Length: mqs.Known[int64](1<<32 + 16), Cancelled: mqs.Known(true)}
		if h.Status == nil || *h.Status != want {
			t.Errorf("%s: %+v", name, h.Status)
		}
		if h := s.(read.Resolver).Resolve(mqs.HandleValue{Kind: mqs.StatusHandle, Data: data[:10]}); h.Status != nil || h.State != "" || len(h.Notes) != 1 {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// Groups, operations, error handlers, infos and sessions are read where their pools are; free ones are told.
func TestResolveObjects(t *testing.T) {
	m := mpichtest.Make(t)
	members := m.Memory(slices.Concat(m.Bytes("MPII_Group_pmap_t", mpichtest.Members{"lpid": 2}), m.Bytes("MPII_Group_pmap_t", mpichtest.Members{"lpid": 0}),
		m.Bytes("MPII_Group_pmap_t", mpichtest.Members{"lpid": 1 << 32})))
	m.Pool("MPIR_Group_mem", "MPIR_Group", 0x88000000,
		mpichtest.Members{"size": 2, "rank": 1, "lrank_to_lpid": uint64(members)},
		mpichtest.Members{"size": 3, "rank": 0xffff8002, "lrank_to_lpid": uint64(members)},
		nil,
		mpichtest.Members{"size": 1 << 31, "rank": 0, "lrank_to_lpid": uint64(members)})
	m.Pool("MPIR_Op_mem", "MPIR_Op", 0x98000000, mpichtest.Members{"kind": 33}, mpichtest.Members{"kind": 32}, mpichtest.Members{"kind": 34}, nil)
	m.Pool("MPIR_Errhandler_mem", "MPIR_Errhandler", 0x94000000, mpichtest.Members{}, nil)
	m.Pool("MPIR_Session_mem", "MPIR_Session", 0xb8000000, mpichtest.Members{}, nil)
	second := m.Object("MPIR_Info", mpichtest.Members{"key": uint64(m.Text("cb_nodes")), "value": uint64(m.Text("two words"))})
	first := m.Object("MPIR_Info", mpichtest.Members{"next": uint64(second), "key": uint64(m.Text("striping_factor")), "value": uint64(m.Text("4"))})
	m.Pool("MPIR_Info_mem", "MPIR_Info", 0x9c000000, mpichtest.Members{"next": uint64(first)}, mpichtest.Members{"next": 0x30}, nil)

	rank := func(n int32) mqs.Maybe[int32] { return mqs.Known(n) }
	for number, want := range map[uint64]*mqs.ProcessGroup{
		0x88000000: {LocalRank: rank(1), Size: rank(2), Members: []mqs.Maybe[int32]{rank(2), rank(0)}},
		0x88000001: {Size: rank(3), Members: []mqs.Maybe[int32]{rank(2), rank(0), {}}},
		0x88000003: {},
		0x48000000: {Size: rank(0), Members: []mqs.Maybe[int32]{}},
	} {
		if h := resolve(t, m, mqs.GroupHandle, number); !reflect.DeepEqual(h.Group, want) {
			t.Errorf("group %#x is %+v, want %+v: %q", number, h.Group, want, h.Notes)
		}
	}
	for number, want := range map[uint64]mqs.Maybe[bool]{0x98000000: mqs.Known(true), 0x98000001: mqs.Known(false), 0x98000002: mqs.Known(false), 0x58000003: mqs.Known(true), 0x5800000e: {}} {
		if h := resolve(t, m, mqs.OpHandle, number); h.Commutative != want {
			t.Errorf("operation %#x: %+v", number, h)
		}
	}
	h := resolve(t, m, mqs.InfoHandle, 0x9c000000)
	if want := []mqs.InfoEntry{{Key: "striping_factor", Value: "4"}, {Key: "cb_nodes", Value: "two words"}}; !slices.Equal(h.Info, want) || len(h.Notes) != 0 {
		t.Errorf("%+v", h)
	}
	if h := resolve(t, m, mqs.InfoHandle, 0x9c000001); h.State != mqs.LiveHandle || len(h.Notes) != 1 {
		t.Errorf("an info that leads to nothing: %+v", h)
	}
	for kind, numbers := range map[mqs.HandleKind][2]uint64{mqs.GroupHandle: {0x88000000, 0x88000002}, mqs.OpHandle: {0x98000000, 0x98000003},
		mqs.ErrhandlerHandle: {0x94000000, 0x94000001}, mqs.SessionHandle: {0xb8000000, 0xb8000001}, mqs.InfoHandle: {0x9c000000, 0x9c000002}} {
		for i, want := range []mqs.HandleState{mqs.LiveHandle, mqs.FreedHandle} {
			if h := resolve(t, m, kind, numbers[i]); h.State != want {
				t.Errorf("%s %#x is %q, want %q", kind, numbers[i], h.State, want)
			}
		}
		if h := resolve(t, m, kind, numbers[0]+100); h.State != mqs.InvalidHandle {
			t.Errorf("%s %#x is %q", kind, numbers[0]+100, h.State)
		}
	}
	if h := resolve(t, m.RemoveSymbols("MPIR_Op_mem"), mqs.OpHandle, 0x98000000); h.State != "" || !strings.Contains(strings.Join(h.Notes, ""), "MPIR_Op_mem") {
		t.Errorf("without its pool: %+v", h)
	}
}
