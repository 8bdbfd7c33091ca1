package ch4

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ofi"
)

// Where the module's variable is in the data, and the objects of libfabric that its first interface has.
const (
	ofiOwnAt     = dataAt + 0x400
	ofiContextAt = ofiOwnAt + 64 // of the first interface
	ofiDomain    = inferior.Addr(0x70_0000)
	ofiAddresses = inferior.Addr(0x71_0000)
	ofiEndpoint  = inferior.Addr(0x72_0000)
	ofiQueue     = inferior.Addr(0x73_0000)
)

// hiddenOFI is a process whose data has the module's variable and the device's: the table of this program's processes has
// another address for each of three.
func hiddenOFI(t *testing.T) *inferiortest.Process {
	t.Helper()
	p, _ := overOFI(t)
	p.Types["MPIDI_OFI_context_t"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{"rx": field(8, 8, layout.KindPointer),
		"domain": field(16, 8, layout.KindPointer), "av": field(24, 8, layout.KindPointer), "cq": field(32, 8, layout.KindPointer)}}
	p.Types["MPIDI_CH4_Global_t"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{"n_vcis": field(0, 4, layout.KindSigned), "per_vci": field(8, 48, layout.KindArray),
		"avt_mgr.av_tables": field(56, 8, layout.KindPointer)}}
	for at, class := range map[inferior.Addr]ofi.Class{ofiEndpoint: ofi.ClassEndpoint, ofiDomain: ofi.ClassDomain, ofiAddresses: ofi.ClassAddresses, ofiQueue: ofi.ClassCompletions} {
		p.PutUint64(at, uint64(class))
	}
	p.Put(dataAt, make([]byte, inferiortest.Page))
	p.PutUint32(globalAt, 1)
	p.PutUint64(globalAt+56, uint64(tablesAt))
	p.PutUint64(tablesAt, uint64(tableAt))
	p.PutUint32(tableAt, members)
	p.Put(tableAt+8, make([]byte, members*ofiEntrySize))
	for i := range inferior.Addr(members) {
		p.PutUint64(tableAt+8+ofiEntrySize*i, uint64(10+i))
	}
	putSettings(p, ofiOwnAt)
	putContext(p, ofiContextAt)
	p.Symbols["MPI_T_PVAR_ALL_HANDLES"] = &inferior.Symbol{Addr: dataAt}
	return p
}

// The module's variable is the one place in the data that leads to an endpoint, and has been set to what it can have been.
// The device's is what leads to a table that has another address for each process.
func TestHiddenOFI(t *testing.T) {
	const elsewhere = 0x9000_0000
	found := []inferior.Addr{globalAt}
	for name, c := range map[string]struct {
		change func(p *inferiortest.Process)
		want   []inferior.Addr
	}{
		"as it is":                       {func(*inferiortest.Process) {}, found},
		"no endpoint":                    {func(p *inferiortest.Process) { p.PutUint64(ofiContextAt+8, 0) }, nil},
		"an endpoint in the data":        {func(p *inferiortest.Process) { p.PutUint64(ofiContextAt+8, uint64(dataAt)) }, nil},
		"an endpoint at no word":         {func(p *inferiortest.Process) { p.PutUint64(ofiContextAt+8, uint64(ofiEndpoint)+4) }, nil},
		"an endpoint of the kernel's":    {func(p *inferiortest.Process) { p.PutUint64(ofiContextAt+8, 1<<47) }, nil},
		"an endpoint that can't be read": {func(p *inferiortest.Process) { p.PutUint64(ofiContextAt+8, elsewhere) }, nil},
		"the receiving half of one":      {func(p *inferiortest.Process) { p.PutUint64(ofiEndpoint, uint64(ofi.ClassReceives)) }, found},
		"another object":                 {func(p *inferiortest.Process) { p.PutUint64(ofiEndpoint, uint64(ofi.ClassDomain)) }, nil},
		"no domain there":                {func(p *inferiortest.Process) { p.PutUint64(ofiDomain, uint64(ofi.ClassEndpoint)) }, nil},
		"no addresses there":             {func(p *inferiortest.Process) { p.PutUint64(ofiAddresses, 0) }, nil},
		"no completions there":           {func(p *inferiortest.Process) { p.PutUint64(ofiQueue, uint64(ofi.ClassAddresses)) }, nil},
		"no domain":                      {func(p *inferiortest.Process) { p.PutUint64(ofiContextAt+16, 0) }, nil},
		"no addresses":                   {func(p *inferiortest.Process) { p.PutUint64(ofiContextAt+24, 0) }, nil},
		"no completions":                 {func(p *inferiortest.Process) { p.PutUint64(ofiContextAt+32, 0) }, nil},
		"no virtual interface":           {func(p *inferiortest.Process) { p.PutUint32(ofiOwnAt, 0) }, nil},
		"too many networks":              {func(p *inferiortest.Process) { p.PutUint32(ofiOwnAt+4, maxNetworks+1) }, nil},
		"tags of no bit":                 {func(p *inferiortest.Process) { p.PutUint32(ofiOwnAt+16+16, 0) }, nil},
		"the same once more":             {func(p *inferiortest.Process) { putContext(p, ofiContextAt+0x400); putSettings(p, ofiOwnAt+0x400) }, nil},
		"one more that was never set":    {func(p *inferiortest.Process) { putContext(p, ofiContextAt+0x400) }, found},
		"a table of one more":            {func(p *inferiortest.Process) { p.PutUint32(tableAt, members+1) }, nil},
		"two processes of one address":   {func(p *inferiortest.Process) { p.PutUint64(tableAt+8+ofiEntrySize, 10) }, nil},
		"a process without an address":   {func(p *inferiortest.Process) { p.PutUint64(tableAt+8+ofiEntrySize, ^uint64(0)) }, nil},
		"no tables":                      {func(p *inferiortest.Process) { p.PutUint64(globalAt+56, 0) }, nil},
		"without the module's types":     {func(p *inferiortest.Process) { delete(p.Types, "MPIDI_OFI_global_t") }, nil},
		"without what tells its place":   {func(p *inferiortest.Process) { delete(p.Types["MPIDI_OFI_context_t"].Fields, "cq") }, nil},
		"a table that leads to nothing":  {func(p *inferiortest.Process) { p.PutUint64(tablesAt, elsewhere) }, nil},
	} {
		p := hiddenOFI(t)
		c.change(p)
		lib, got := hiddenIn(t, ofiModule{}, p)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if at := lib.Symbols[symOFI].Addr; c.want != nil && at != ofiOwnAt {
			t.Errorf("%s: the module's variable is at %s", name, at)
		}
	}
}

// putContext puts an interface's objects at a place of the data.
func putContext(p *inferiortest.Process, at inferior.Addr) {
	p.PutUint64(at+8, uint64(ofiEndpoint), uint64(ofiDomain), uint64(ofiAddresses), uint64(ofiQueue))
}

// putSettings puts what the module has been set to there.
func putSettings(p *inferiortest.Process, at inferior.Addr) {
	p.PutUint32(at, 1, 1)
	p.PutUint32(at+16+8, 20, 0, 31)
}
