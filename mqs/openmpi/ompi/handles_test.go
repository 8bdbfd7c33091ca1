package ompi_test

import (
	"context"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// inTable is a kind of objects that stand in an array from their creation on.
type inTable struct {
	kind         mqs.HandleKind
	symbol, name string
	index        string // the member that says where
	null         string // the name of the one in the first place, if that has none of its own
	second       string // the same of the second place
	locked       string // the member that is a lock, if any
}

var inTables = []inTable{
	{mqs.GroupHandle, "ompi_group_f_to_c_table", "ompi_group_t", "grp_f_to_c_index", "MPI_GROUP_NULL", "MPI_GROUP_EMPTY", ""},
	{mqs.WinHandle, "ompi_mpi_windows", "ompi_win_t", "w_f_to_c_index", "MPI_WIN_NULL", "", "w_lock"},
	{mqs.FileHandle, "ompi_file_f_to_c_table", "ompi_file_t", "f_f_to_c_index", "MPI_FILE_NULL", "", "f_lock"},
	{mqs.OpHandle, "ompi_op_f_to_c_table", "ompi_op_t", "o_f_to_c_index", "MPI_OP_NULL", "", ""},
	{mqs.ErrhandlerHandle, "ompi_errhandler_f_to_c_table", "ompi_errhandler_t", "eh_f_to_c_index", "", "", ""},
	{mqs.InfoHandle, "ompi_info_f_to_c_table", "ompi_info_t", "i_f_to_c_index", "MPI_INFO_NULL", "MPI_INFO_ENV", ""},
}

// What an object is good for: its class, its place in the array of its kind, and where there is none the class
// of its lock say.
func TestStates(t *testing.T) {
	for _, of := range inTables {
		o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
		object := func(index uint64) inferior.Addr {
			at := o.Object(of.name)
			o.Put(at, of.name, of.index, index)
			return at
		}
		null, second, live, gone, other := object(0), object(1), object(2), object(3), o.Object("ompi_message_t")
		o.Array(of.symbol, null, second, live, 0, object(4), 0)
		overwritten := object(5)
		o.To.PutPointer(overwritten, 0)
		if of.locked != "" {
			o.IsA(o.Member(overwritten, of.name, of.locked), "opal_mutex_t")
		}
		p, q := o.Open(ob1.Component)
		expect := func(what string, v mqs.HandleValue, state mqs.HandleState, name string) {
			t.Helper()
			v.Kind = of.kind
			h := p.Resolve(q, v)
			if h.State != state || h.Name.Value != name && name != "" {
				t.Errorf("%s, %s: %+v", of.kind, what, h)
			}
		}
		if of.null != "" {
			expect("null", mqs.HandleValue{Value: uint64(null)}, mqs.NullHandle, of.null)
			expect("null in Fortran", mqs.HandleValue{Fortran: true}, mqs.NullHandle, of.null)
		}
		if of.second != "" {
			expect("predefined", mqs.HandleValue{Value: uint64(second)}, mqs.PredefinedHandle, of.second)
		}
		expect("freed", mqs.HandleValue{Value: uint64(gone)}, mqs.FreedHandle, "")
		expect("freed, in Fortran", mqs.HandleValue{Fortran: true, Value: 3}, mqs.FreedHandle, "")
		expect("never used, in Fortran", mqs.HandleValue{Fortran: true, Value: 5}, mqs.InvalidHandle, "")
		expect("beyond the array", mqs.HandleValue{Fortran: true, Value: 6}, mqs.InvalidHandle, "")
		expect("negative", mqs.HandleValue{Fortran: true, Value: 0xffff_ffff}, mqs.InvalidHandle, "")
		expect("another object", mqs.HandleValue{Value: uint64(other)}, mqs.InvalidHandle, "")
		state := mqs.InvalidHandle
		if of.locked != "" {
			state = mqs.FreedHandle
		}
		expect("overwritten", mqs.HandleValue{Value: uint64(overwritten)}, state, "")
		expect("live", mqs.HandleValue{Value: uint64(live)}, mqs.LiveHandle, "")
		expect("live in Fortran", mqs.HandleValue{Fortran: true, Value: 2}, mqs.LiveHandle, "")
	}
}

// counted counts round trips.
type counted struct {
	inferior.Inferior
	trips int
}

func (c *counted) ReadMemory(ctx context.Context, ranges []inferior.Range) ([][]byte, error) {
	c.trips++
	return c.Inferior.ReadMemory(ctx, ranges)
}

// What is no handle costs three round trips at most, whatever it is, and is neither an error nor followed.
func TestGarbage(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	for _, of := range inTables {
		o.Array(of.symbol, 0)
	}
	loop := o.Memory(64) // it points to itself, as its class and as that's name
	o.To.PutPointer(loop, loop)
	far := o.Memory(64)
	o.To.PutPointer(far, 0xdead_beef_0000)
	text := o.Text("no object, but text that is long enough for a class")
	message := o.Object("ompi_message_t")
	for _, kind := range mqs.HandleKinds {
		if kind == mqs.StatusHandle {
			continue
		}
		for _, value := range []uint64{0, 1, ^uint64(0), ^uint64(7), 0x7fff_0000_1000, uint64(loop), uint64(far), uint64(text), uint64(message)} {
			if kind == mqs.MessageHandle && value == uint64(message) {
				continue
			}
			c := &counted{Inferior: o.To}
			p, q, err := ompitest.Open(t, c, ob1.Component)
			if err != nil {
				t.Fatal(err)
			}
			before := c.trips
			h := p.Resolve(q, mqs.HandleValue{Kind: kind, Value: value})
			if got := c.trips - before; got > 3 {
				t.Errorf("%s %#x took %d round trips", kind, value, got)
			}
			isNotThere := kind == mqs.SessionHandle // 4.1 has none
			if h.State != mqs.InvalidHandle && !isNotThere || h.Communicator != nil || h.Operation != nil || h.Datatype != nil {
				t.Errorf("%s %#x: %+v", kind, value, h)
			}
		}
	}
}

// The communicators of a recording by their handles, in both languages.
func TestCommunicators(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	comms, err := o.Process().CommunicatorArray()
	if err != nil {
		t.Fatal(err)
	}
	places := make([]inferior.Addr, len(comms))
	for i, c := range comms {
		if c != 0 {
			if read := o.Process().CommAt(c); read != nil {
				i = int(read.FortranIndex)
			}
			places[i] = c.Addr()
		}
	}
	o.Array("ompi_comm_f_to_c_table", places...)
	p, q := o.Open(ob1.Component)
	for _, c := range p.Comms {
		for _, v := range []mqs.HandleValue{{Value: uint64(c.At)}, {Fortran: true, Value: uint64(c.FortranIndex)}} {
			v.Kind = mqs.CommHandle
			h := p.Resolve(q, v)
			switch {
			case c.FortranIndex == 2:
				if h.State != mqs.NullHandle || h.Name.Value != "MPI_COMM_NULL" || h.Communicator != nil {
					t.Errorf("%+v", h)
				}
			case h.Communicator == nil || !reflect.DeepEqual(*h.Communicator, *c.Model) || h.FortranHandle != mqs.Known(c.FortranIndex):
				t.Errorf("%s: %+v", c.Model.Label(), h)
			case h.State != map[bool]mqs.HandleState{true: mqs.PredefinedHandle, false: mqs.LiveHandle}[c.FortranIndex < 2]:
				t.Errorf("%s is %s", c.Model.Label(), h.State)
			}
		}
	}
	// One that the program has freed, while something is under way on it.
	c := dup(t, p)
	ompitest.Put(t, p, o.To, c.At.Addr(), "ompi_communicator_t", "c_flags", int32(c.Flags|0x10))
	p, q = o.Open(ob1.Component)
	if h := p.Resolve(q, mqs.HandleValue{Kind: mqs.CommHandle, Value: uint64(c.At)}); h.State != mqs.FreedHandle || h.Communicator != nil {
		t.Errorf("%+v", h)
	}
	// One in whose place the library has put a window's.
	o.Put(c.At.Addr(), "ompi_communicator_t", "c_flags", uint64(c.Flags))
	m := o.Memory(1 << 13)
	w := addWindow(o, c, 1, m)
	o.Put(m, "ompi_osc_rdma_module_t", "comm", uint64(c.At))
	o.Put(m, "ompi_osc_rdma_module_t", "win", uint64(w))
	o.IsA(o.Member(m, "ompi_osc_rdma_module_t", "all_sync"), "ompi_osc_rdma_sync_t")
	p, q = o.Open(ob1.Component)
	if h := p.Resolve(q, mqs.HandleValue{Kind: mqs.CommHandle, Value: uint64(c.At)}); h.State != mqs.FreedHandle || len(h.Notes) != 1 || !strings.Contains(h.Notes[0], "ghost cells") {
		t.Errorf("%+v", h)
	}
}

// The keys of an info: characters in place up to 4.1, strings of their own from 5.0. From 5.0.4 some are internal;
// where the library can't make them so, the byte of the mark means nothing.
func TestInfo(t *testing.T) {
	for _, c := range []struct {
		release string
		marks   bool
		second  string
		want    []string
	}{
		{"4.1.4", false, "_OMPI_IN_x", []string{"striping_factor", "cb_nodes"}},
		{"5.0.7", true, "_OMPI_IN_x", []string{"striping_factor", "cb_nodes"}},
		{"5.0.7", true, "marked", []string{"striping_factor", "cb_nodes"}},
		{"5.0.7", false, "marked", []string{"striping_factor", "marked", "cb_nodes"}},
		{"6.0.0rc2", true, "marked", []string{"striping_factor", "cb_nodes"}},
	} {
		release := c.release
		o := ompitest.MakeObjects(t, "openmpi-"+release+"/queues-rank-0", ob1.Component)
		info := o.Object("ompi_info_t")
		list := o.Member(info, "ompi_info_t", "super.super.opal_list_sentinel")
		entries := []inferior.Addr{o.Object("opal_info_entry_t"), o.Object("opal_info_entry_t"), o.Object("opal_info_entry_t")}
		for i, e := range entries {
			next := list
			if i+1 < len(entries) {
				next = entries[i+1]
			}
			o.Put(e, "opal_list_item_t", "opal_list_next", uint64(next))
			key := []string{"striping_factor", c.second, "cb_nodes"}[i]
			value := "value of " + key
			if release == "4.1.4" {
				o.PutText(e, "opal_info_entry_t", "ie_key", key)
				o.Put(e, "opal_info_entry_t", "ie_value", uint64(o.Text(value)))
				continue
			}
			for member, text := range map[string]string{"ie_key": key, "ie_value": value} {
				s := o.Object("opal_cstring_t")
				o.To.PutBytes(o.Member(s, "opal_cstring_t", "string"), []byte(text))
				o.Put(e, "opal_info_entry_t", member, uint64(s))
			}
			if i == 1 {
				o.Put(e, "opal_info_entry_t", "ie_internal", 1)
			}
		}
		o.Put(info, "ompi_info_t", "super.super.opal_list_sentinel.opal_list_next", uint64(entries[0]))
		o.Put(info, "ompi_info_t", "i_f_to_c_index", 2)
		o.Array("ompi_info_f_to_c_table", 0, 0, info)
		if c.marks {
			o.To.SetSymbol("opal_info_set_internal", inferior.Symbol{Addr: info})
		}
		p, q := o.Open(ob1.Component)
		h := p.Resolve(q, mqs.HandleValue{Kind: mqs.InfoHandle, Value: uint64(info)})
		var want []mqs.InfoEntry
		for _, key := range c.want {
			want = append(want, mqs.InfoEntry{Key: key, Value: "value of " + key})
		}
		if !reflect.DeepEqual(h.Info, want) || len(h.Notes) > 0 {
			t.Errorf("%s: %+v", release, h)
		}
		// A list that does not end is told.
		o.Put(entries[2], "opal_list_item_t", "opal_list_next", uint64(entries[0]))
		p, q = o.Open(ob1.Component)
		if h := p.Resolve(q, mqs.HandleValue{Kind: mqs.InfoHandle, Value: uint64(info)}); !reflect.DeepEqual(h.Info, want) || len(h.Notes) != 1 {
			t.Errorf("%s: %+v", release, h)
		}
	}
}

// A status is its bytes, or what stands at its address.
func TestStatus(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	data := make([]byte, 24)
	for i, v := range []uint32{3, 11, 0, 1, 48} {
		binary.LittleEndian.PutUint32(data[4*i:], v)
	}
	at := o.Memory(len(data))
	o.To.PutBytes(at, data)
	p, q := o.Open(ob1.Component)
	want := &mqs.MessageStatus{Source: mqs.Known[int32](3), Tag: mqs.Known[int32](11), Error: mqs.Known[int32](0), Length: mqs.Known[int64](48), Cancelled: mqs.Known(true)}
	for _, v := range []mqs.HandleValue{{Data: data}, {Value: uint64(at)}} {
		v.Kind = mqs.StatusHandle
		if h := p.Resolve(q, v); !reflect.DeepEqual(h.Status, want) {
			t.Errorf("%+v", h)
		}
	}
	for _, v := range []mqs.HandleValue{{Data: data[:8]}, {Value: 0x10}} {
		v.Kind = mqs.StatusHandle
		if h := p.Resolve(q, v); h.State != mqs.InvalidHandle || h.Status != nil {
			t.Errorf("%+v", h)
		}
	}
}

// Operations and error handlers, the program's and MPI's.
func TestOpsAndErrhandlers(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	op := func(index, flags uint64, name string) inferior.Addr {
		at := o.Object("ompi_op_t")
		o.Put(at, "ompi_op_t", "o_f_to_c_index", index)
		o.Put(at, "ompi_op_t", "o_flags", flags)
		o.PutText(at, "ompi_op_t", "o_name", name)
		return at
	}
	sum, own, other := op(1, 0x41, "MPI_SUM"), op(2, 0x40, ""), op(3, 0, "")
	o.Array("ompi_op_f_to_c_table", 0, sum, own, other)
	o.To.SetSymbol("ompi_op_f_to_c_table", inferior.Symbol{Addr: o.Words(uint64(lastArray(t, o)))}) // a pointer to it
	eh := o.Object("ompi_errhandler_t")
	o.Put(eh, "ompi_errhandler_t", "eh_f_to_c_index", 1)
	o.PutText(eh, "ompi_errhandler_t", "eh_name", "MPI_ERRORS_RETURN")
	o.Array("ompi_errhandler_f_to_c_table", 0, eh)
	p, q := o.Open(ob1.Component)
	for _, c := range []struct {
		kind        mqs.HandleKind
		at          inferior.Addr
		state       mqs.HandleState
		name        string
		commutative mqs.Maybe[bool]
	}{
		{mqs.OpHandle, sum, mqs.PredefinedHandle, "MPI_SUM", mqs.Known(true)},
		{mqs.OpHandle, own, mqs.LiveHandle, "", mqs.Known(true)},
		{mqs.OpHandle, other, mqs.LiveHandle, "", mqs.Known(false)},
		{mqs.ErrhandlerHandle, eh, mqs.PredefinedHandle, "MPI_ERRORS_RETURN", mqs.Maybe[bool]{}},
	} {
		if h := p.Resolve(q, mqs.HandleValue{Kind: c.kind, Value: uint64(c.at)}); h.State != c.state || h.Name.Value != c.name || h.Commutative != c.commutative {
			t.Errorf("%+v, want %+v", h, c)
		}
	}
}

// lastArray is the array of operations that was made.
func lastArray(t *testing.T, o *ompitest.Objects) inferior.Addr {
	t.Helper()
	found, err := o.To.FindSymbols(t.Context(), []string{"ompi_op_f_to_c_table"})
	if err != nil || found[0] == nil {
		t.Fatal(err)
	}
	return found[0].Addr
}

// The members of a group are those of its communicator.
func TestGroups(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	c := dup(t, o.Process())
	index := c.LocalGroup.Addr()
	places := make([]inferior.Addr, 64)
	g, err := o.Process().Group.Read(o.Process().R, c.LocalGroup)
	if err != nil || g.FortranIndex < 2 || int(g.FortranIndex) >= len(places) {
		t.Fatalf("%+v, %v", g, err)
	}
	places[g.FortranIndex] = index
	o.Array("ompi_group_f_to_c_table", places...)
	p, q := o.Open(ob1.Component)
	h := p.Resolve(q, mqs.HandleValue{Kind: mqs.GroupHandle, Value: uint64(c.LocalGroup)})
	want := &mqs.ProcessGroup{LocalRank: c.Model.LocalRank, Size: c.Model.Size, Members: c.Model.Group}
	if !reflect.DeepEqual(h.Group, want) || h.State != mqs.LiveHandle {
		t.Errorf("%+v, want %+v", h.Group, want)
	}
}
