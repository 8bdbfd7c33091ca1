package ch4

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Where things are in a process whose table of addresses has two endpoints for each of three processes.
const (
	dataAt, globalAt   = inferior.Addr(0x10_0000), inferior.Addr(0x10_0100)
	tablesAt, tableAt  = inferior.Addr(0x20_0000), inferior.Addr(0x20_1000)
	entriesAt          = tableAt + 8
	endpointsAt        = inferior.Addr(0x30_0000)
	workerAt           = 0x40_0000
	entrySize, members = 16, 3
)

// withTable is that process: each endpoint begins with its worker.
func withTable() *inferiortest.Process {
	p := inferiortest.New()
	p.Types["MPIR_Request"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{"dev.ch4.netmod.ucx.message_handler": field(8, 8, layout.KindPointer)}}
	p.Types["MPIDI_CH4_Global_t"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{"n_vcis": field(0, 4, layout.KindSigned), "per_vci": field(8, 48, layout.KindArray),
		"avt_mgr.av_tables": field(56, 8, layout.KindPointer)}}
	p.Types["MPIDI_av_table_t"] = &layout.Layout{Size: 8, Fields: map[string]layout.Field{"size": field(0, 4, layout.KindSigned), "table": field(8, 0, layout.KindArray)}}
	p.Types["MPIDI_av_entry_t"] = &layout.Layout{Size: entrySize, Fields: map[string]layout.Field{"netmod.ucx.dest": field(0, entrySize, layout.KindArray)}}
	p.Put(dataAt, make([]byte, inferiortest.Page))
	p.PutUint32(globalAt, 1)
	p.PutUint64(globalAt+56, uint64(tablesAt))
	p.PutUint64(tablesAt, uint64(tableAt))
	p.PutUint32(tableAt, members)
	for i := range inferior.Addr(members) {
		p.PutUint64(entriesAt+entrySize*i, uint64(endpointsAt+0x100*i), 0)
		p.PutUint64(endpointsAt+0x100*i, workerAt)
	}
	p.Symbols["MPI_T_PVAR_ALL_HANDLES"] = &inferior.Symbol{Addr: dataAt}
	return p
}

// ucxOf are the netmod's objects in a process.
func ucxOf(t *testing.T, p *inferiortest.Process) *ucxObjects {
	t.Helper()
	d := over(p)
	d.lib.Process.Size = members
	d.lib.Symbols[symGlobal] = inferior.Symbol{Addr: globalAt}
	_, own, err := ucxNetmod{}.bind(d.lib)
	if err != nil {
		t.Fatal(err)
	}
	return own.(*ucxObjects)
}

// The device's variable is what leads to a table that has an endpoint of one worker for each process.
func TestHiddenUCX(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *inferiortest.Process)
		want   []inferior.Addr
	}{
		"as it is":                       {func(*inferiortest.Process) {}, []inferior.Addr{globalAt}},
		"as many interfaces as may be":   {func(p *inferiortest.Process) { p.PutUint32(globalAt, maxVCIs) }, []inferior.Addr{globalAt}},
		"no interfaces":                  {func(p *inferiortest.Process) { p.PutUint32(globalAt, 0) }, nil},
		"too many interfaces":            {func(p *inferiortest.Process) { p.PutUint32(globalAt, maxVCIs+1) }, nil},
		"no tables":                      {func(p *inferiortest.Process) { p.PutUint64(globalAt+56, 0) }, nil},
		"tables in the data":             {func(p *inferiortest.Process) { p.PutUint64(globalAt+56, uint64(dataAt)) }, nil},
		"tables that can't be read":      {func(p *inferiortest.Process) { p.PutUint64(globalAt+56, 0x9000_0000) }, nil},
		"a table of one more":            {func(p *inferiortest.Process) { p.PutUint32(tableAt, members+1) }, nil},
		"a process without an endpoint":  {func(p *inferiortest.Process) { p.PutUint64(entriesAt+entrySize, 0) }, nil},
		"one with its second endpoint":   {func(p *inferiortest.Process) { p.PutUint64(entriesAt+entrySize, 0, uint64(endpointsAt)) }, []inferior.Addr{globalAt}},
		"an endpoint that can't be read": {func(p *inferiortest.Process) { p.PutUint64(entriesAt+entrySize, 0x9000_0000) }, nil},
		"an endpoint without a worker":   {func(p *inferiortest.Process) { p.PutUint64(endpointsAt+0x200, 0) }, nil},
		"an endpoint of another worker":  {func(p *inferiortest.Process) { p.PutUint64(endpointsAt+0x200, workerAt+8) }, nil},
		"the same once more": {func(p *inferiortest.Process) {
			p.PutUint32(globalAt+0x100, 1)
			p.PutUint64(globalAt+0x138, uint64(tablesAt))
		}, []inferior.Addr{globalAt, globalAt + 0x100}},
		"without the types of the tables": {func(p *inferiortest.Process) { delete(p.Types, "MPIDI_av_table_t") }, nil},
	} {
		p := withTable()
		c.change(p)
		if _, got := hiddenIn(t, ucxNetmod{}, p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// What UCX may call a process is known of those that the table has a place for.
func TestPeersOfUCX(t *testing.T) {
	p := withTable()
	p.PutUint64(entriesAt, uint64(endpointsAt), uint64(endpointsAt+0x40))
	o := ucxOf(t, p)
	peers := func(at ...inferior.Addr) (out []transport.Peer) {
		for _, a := range at {
			out = append(out, mqs.Known(uint64(a)))
		}
		return out
	}
	for name, c := range map[string]struct {
		table int32
		place int64
		want  []transport.Peer
	}{
		"with two endpoints": {0, 0, peers(endpointsAt, endpointsAt+0x40)}, "the last one": {0, members - 1, peers(endpointsAt + 0x200)}, "behind the last": {0, members, nil}, "before the first": {0, -1, nil},
		"of no table": {1, 0, nil}, "below the first table": {-1, 0, nil}, "above the last table": {maxTables, 0, nil},
	} {
		for range 2 { // the second time it is not read again
			if got := o.peers(c.table, c.place); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
	}
}

// The message of a request that MPI_Mprobe has made is where that says, and of what can't be read there is none.
func TestTakenOfUCX(t *testing.T) {
	p := withTable()
	p.PutUint64(0x1008, 0x77)
	if o := ucxOf(t, p); o.taken(0x1000) != 0x77 || o.taken(0x9000_0000) != 0 {
		t.Errorf("%s, %s", o.taken(0x1000), o.taken(0x9000_0000))
	}
}

// hiddenIn is where a module finds the device's variable in the data of a process with so many members, and the library, whose
// symbols it may have added to.
func hiddenIn(t *testing.T, m module, p *inferiortest.Process) (*mpir.Library, []inferior.Addr) {
	t.Helper()
	d := over(p)
	d.lib.Process.Size = members
	var bound struct {
		Global inferior.Struct[global] `c:"MPIDI_CH4_Global_t"`
	}
	if err := inferior.Bind(&bound, d.lib.Layouts); err != nil {
		t.Fatal(err)
	}
	image, ok := mpir.NewImage(d.lib.Reader, d.lib.Symbols)
	if !ok || !image.Grow() {
		t.Fatal("there is no data")
	}
	return d.lib, m.hidden(d.lib, &bound.Global, image)
}
