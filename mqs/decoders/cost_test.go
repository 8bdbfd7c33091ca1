package decoders_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/render"
)

// forged is a recording with something else in it than what was recorded.
type forged struct {
	t     *testing.T
	index map[string]any
	pages map[inferior.Addr][]byte
	free  inferior.Addr // where nothing was
	// process is what was recorded.
	process inferior.Inferior
}

const page = 4096

func forge(t *testing.T, name string) *forged {
	t.Helper()
	file := inferiortest.File(t, name)
	f := &forged{t: t, pages: map[inferior.Addr][]byte{}, free: 1 << 32, process: inferiortest.Recorded(t, name)}
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		r, err := z.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	index := json.NewDecoder(bytes.NewReader(read("recording.json")))
	index.UseNumber() // registers have 64 bits
	if err := index.Decode(&f.index); err != nil {
		t.Fatal(err)
	}
	memory := read("memory")
	for _, p := range f.first()["memory"].([]any) {
		var at inferior.Addr
		if err := at.UnmarshalJSON([]byte(`"` + p.(map[string]any)["address"].(string) + `"`)); err != nil {
			t.Fatal(err)
		}
		n, _ := p.(map[string]any)["length"].(json.Number).Int64()
		f.write(at, memory[:n])
		memory = memory[n:]
	}
	return f
}

// first is the only process of the recording.
func (f *forged) first() map[string]any {
	return f.index["processes"].([]any)[0].(map[string]any)
}

func (f *forged) write(at inferior.Addr, b []byte) {
	for len(b) > 0 {
		p := at &^ (page - 1)
		if f.pages[p] == nil {
			f.pages[p] = make([]byte, page)
		}
		n := copy(f.pages[p][at-p:], b)
		at, b = at+inferior.Addr(n), b[n:]
	}
}

func (f *forged) int32(at inferior.Addr, v int32) {
	f.write(at, binary.LittleEndian.AppendUint32(nil, uint32(v)))
}

func (f *forged) pointer(at, v inferior.Addr) {
	f.write(at, binary.LittleEndian.AppendUint64(nil, uint64(v)))
}

// array makes an array of n times the same pointer, and returns where it is.
func (f *forged) array(n int, v inferior.Addr) inferior.Addr {
	at := f.free
	f.write(at, bytes.Repeat(binary.LittleEndian.AppendUint64(nil, uint64(v)), n))
	f.free = (f.free + inferior.Addr(8*n) + 2*page) &^ (page - 1)
	return at
}

// file is the recording's file.
func (f *forged) file() []byte {
	var memory bytes.Buffer
	pieces := []any{}
	for _, at := range slices.Sorted(maps.Keys(f.pages)) {
		pieces = append(pieces, map[string]any{"address": at.String(), "length": page})
		memory.Write(f.pages[at])
	}
	f.first()["memory"] = pieces
	index, err := json.Marshal(f.index)
	if err != nil {
		f.t.Fatal(err)
	}
	return pack(f.t, index, memory.Bytes())
}

func pack(t *testing.T, index, memory []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, b := range map[string][]byte{"recording.json": index, "memory": memory} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// show does with a recording what `replay' does, and returns what it has to say of the process.
func show(t *testing.T, file []byte) string {
	t.Helper()
	targets, err := inferior.ReadRecording(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err.Error()
	}
	s := &mqs.Snapshot{}
	for _, tg := range targets {
		p, err := read.Read(t.Context(), tg, decoders.All, read.Filter{Internal: true})
		if err != nil {
			p = read.Failed(tg.Info(), err)
		}
		s.Processes = append(s.Processes, p)
	}
	if err := document.Write(io.Discard, s); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := render.Text(&text, s, render.Style{}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// symbol is where a symbol of the recorded process is.
func (f *forged) symbol(name string) inferior.Addr {
	f.t.Helper()
	found, err := f.process.FindSymbols(f.t.Context(), []string{name})
	if err != nil || found[0] == nil {
		f.t.Fatal(name, err)
	}
	return found[0].Addr
}

// bind binds structs to the layouts of the recording or, of Open MPI 4.1.4, of its table.
func (f *forged) bind(structs any) *inferior.Reader {
	f.t.Helper()
	r := inferior.NewReader(f.t.Context(), f.process)
	l, err := inferior.FromDebugInfo(r, inferior.Queries(structs))
	if err != nil {
		f.t.Fatal(err)
	}
	if l.Empty() {
		tables := layout.MustReadTables(os.DirFS("../openmpi"), "tables")
		at := slices.IndexFunc(tables, func(t *layout.Table) bool {
			return t.Fits(r.Info().PointerSize, r.Info().BigEndian, r.Info().Architecture)
		})
		l = tables[at].Layouts(inferior.Queries(structs))
	}
	if err := inferior.Bind(structs, l); err != nil {
		f.t.Fatal(err)
	}
	return r
}

func readAt[T any](f *forged, r *inferior.Reader, s *inferior.Struct[T], at inferior.Addr) T {
	f.t.Helper()
	v, err := s.Read(r, inferior.Ptr[T](at))
	if err != nil {
		f.t.Fatal(err)
	}
	return v
}

// places are where the members of an object at a stand.
func places[T any](s *inferior.Struct[T], a inferior.Addr) T {
	return inferior.Places(s, inferior.Ptr[T](a))
}

// The parts of Open MPI's structures that are forged.
type ompi struct {
	Array inferior.Struct[struct {
		Addr inferior.Addr `c:"addr"`
	}] `c:"opal_pointer_array_t"`
	Comm inferior.Struct[struct {
		PML   inferior.Addr `c:"c_pml_comm"`
		Group inferior.Addr `c:"c_local_group"`
	}] `c:"ompi_communicator_t"`
	Group inferior.Struct[struct {
		Count inferior.Embedded[struct{}] `c:"grp_proc_count"`
		Procs inferior.Embedded[struct{}] `c:"grp_proc_pointers"`
	}] `c:"ompi_group_t"`
	OB1 inferior.Struct[struct {
		Count   inferior.Embedded[struct{}] `c:"num_procs"`
		Procs   inferior.Addr               `c:"procs"`
		ProcsAt inferior.Embedded[struct{}] `c:"procs"`
	}] `c:"mca_pml_ob1_comm_t"`
	Request inferior.Struct[struct {
		Complete inferior.Embedded[struct{}] `c:"req_complete"`
	}] `c:"ompi_request_t"`
}

// communicator reads a communicator of the process by its index.
func (o *ompi) communicator(f *forged, r *inferior.Reader, index int) (pml, group inferior.Addr) {
	f.t.Helper()
	comms, err := r.Pointers(readAt(f, r, &o.Array, f.symbol("ompi_mpi_communicators")).Addr, index+1)
	if err != nil {
		f.t.Fatal(err)
	}
	c := readAt(f, r, &o.Comm, comms[index])
	return c.PML, c.Group
}

// The parts of MPICH's.
type mpichs struct {
	Pool inferior.Struct[struct {
		Direct    inferior.Addr               `c:"direct"`
		DirectN   int32                       `c:"direct_size"`
		Indirect  inferior.Embedded[struct{}] `c:"indirect"`
		Blocks    inferior.Embedded[struct{}] `c:"indirect_size"`
		Allocated inferior.Embedded[struct{}] `c:"num_allocated"`
		Size      int32                       `c:"size"`
	}] `c:"MPIR_Object_alloc_t"`
	Comm inferior.Struct[struct {
		Size   inferior.Embedded[struct{}] `c:"local_size"`
		Remote inferior.Embedded[struct{}] `c:"remote_size"`
		Map    inferior.Embedded[struct{}] `c:"dev.ch4.map"`
	}] `c:"MPIR_Comm"`
	Map inferior.Struct[struct {
		Mode   inferior.Embedded[struct{}] `c:"mode"`
		Count  inferior.Embedded[struct{}] `c:"size"`
		Offset inferior.Embedded[struct{}] `c:"reg.offset"`
	}] `c:"MPIDI_rank_map_t"`
}

const (
	ofOpenMPI = "openmpi-4.1.4/queues-rank-0"
	ofMPICH   = "mpich-4.0.2-ch4/queues-rank-0"
)

// Recordings of some kilobytes in which a number stands for much memory, or many pointers
// for the same. Each ends by a bound that it names, at the cost of a small one.
func TestHostileRecordings(t *testing.T) {
	for name, c := range map[string]struct {
		of    string
		forge func(f *forged)
		says  string
	}{
		"a type of a terabyte": {"mpich-4.0.2-ch3-debug/queues-rank-0", func(f *forged) {
			f.first()["types"].(map[string]any)["MPIR_Process_t"].(map[string]any)["size"] = 1 << 40
		}, "MPIR_Process_t has 1099511627776 bytes, which can't be right"},
		"a group of millions": {ofOpenMPI, func(f *forged) {
			var o ompi
			r := f.bind(&o)
			_, group := o.communicator(f, r, 0)
			f.int32(inferior.Addr(readAt(f, r, &o.Group, group).Count), 1<<24)
		}, "cannot read 134217728 bytes"},
		"a hundred thousand peers that are one": {ofOpenMPI, func(f *forged) {
			const peers = 1 << 17
			var o ompi
			r := f.bind(&o)
			pml, _ := o.communicator(f, r, 0)
			ob1 := readAt(f, r, &o.OB1, pml)
			procs, err := r.Pointers(ob1.Procs, 2)
			if err != nil {
				f.t.Fatal(err)
			}
			f.int32(inferior.Addr(ob1.Count), peers)
			f.pointer(inferior.Addr(ob1.ProcsAt), f.array(peers, cmp.Or(procs[1], procs[0])))
		}, "gave up after"},
		"communicators of millions without memory": {ofMPICH, func(f *forged) {
			const members = 1 << 22
			var m mpichs
			r := f.bind(&m)
			pool := readAt(f, r, &m.Pool, f.symbol("MPIR_Comm_mem"))
			for i := range 8 {
				c := places(&m.Comm, pool.Direct+inferior.Addr(i*int(pool.Size)))
				f.int32(inferior.Addr(c.Size), members)
				f.int32(inferior.Addr(c.Remote), members)
				ranks := places(&m.Map, inferior.Addr(c.Map))
				f.int32(inferior.Addr(ranks.Count), members)
				f.int32(inferior.Addr(ranks.Mode), 2) // MPIDI_RANK_MAP_OFFSET
				f.pointer(inferior.Addr(ranks.Offset), inferior.Addr(i))
			}
		}, "gave up after"},
		"a pool whose blocks are one": {ofMPICH, func(f *forged) {
			const blocks, each = 8000, 512
			var m mpichs
			r := f.bind(&m)
			pool := readAt(f, r, &m.Pool, f.symbol("MPIR_Request_mem"))
			block := f.array(each*int(pool.Size)/8, 0x0000000100000001)
			f.pointer(inferior.Addr(pool.Indirect), f.array(blocks, block))
			f.int32(inferior.Addr(pool.Blocks), blocks)
			f.int32(inferior.Addr(pool.Allocated), blocks*each+pool.DirectN)
		}, "twice"},
		"a block that is counted before it is there": {ofMPICH, func(f *forged) {
			// From 4.3 a pool says how many objects are in a block.
			fields := f.first()["types"].(map[string]any)["MPIR_Object_alloc_t"].(map[string]any)["fields"].(map[string]any)
			fields["indirect_block_size"] = fields["direct_size"]
			var m mpichs
			r := f.bind(&m)
			pool := readAt(f, r, &m.Pool, f.symbol("MPIR_Request_mem"))
			f.pointer(inferior.Addr(pool.Indirect), f.array(1, f.array(int(pool.DirectN*pool.Size)/8, 0)))
			f.int32(inferior.Addr(pool.Blocks), 1)
			f.int32(inferior.Addr(pool.Allocated), 3*pool.DirectN)
		}, "Pending receives"},
		"a stack of pointers to requests": {ofOpenMPI, func(f *forged) {
			const words, elements = 1 << 15, 1 << 16
			p, err := read.Read(f.t.Context(), f.process, []read.Decoder{openmpi.Decoder{}}, read.Filter{})
			if err != nil {
				f.t.Fatal(err)
			}
			var open []inferior.Addr
			for _, op := range p.Communicators[0].Queue[mqs.PendingReceives].Operations {
				if op.Status == mqs.Pending && op.Kind == "irecv" {
					open = append(open, op.Request.Value)
				}
			}
			var o ompi
			f.bind(&o)
			array := f.array(elements, open[1])
			stack := f.array(words, 0)
			for i := range words {
				f.pointer(stack+inferior.Addr(8*i), array+inferior.Addr(8*i))
			}
			f.pointer(inferior.Addr(places(&o.Request, open[0]).Complete), stack)
			frame := func(function string, at inferior.Addr) map[string]any {
				return map[string]any{"function": function, "stack_pointer": at.String()}
			}
			f.first()["threads"] = []any{map[string]any{"number": 1, "complete": true, "frames": []any{
				frame("poll", stack), frame("MPI_Waitany", stack+64), frame("main", stack+8*words)}}}
		}, "gave up after"},
	} {
		t.Run(name, func(t *testing.T) {
			f := forge(t, c.of)
			c.forge(f)
			file := f.file()
			var said string
			n := cost.Of(func() { said = show(t, file) })
			t.Logf("a file of %d KiB takes %d MiB", len(file)>>10, n>>20)
			if n > cost.Most || len(file) > 256<<10 {
				t.Errorf("a file of %d KiB takes %d MiB", len(file)>>10, n>>20)
			}
			if !strings.Contains(said, c.says) {
				t.Errorf("%q is not said:\n%s", c.says, said[:min(len(said), 3000)])
			}
		})
	}
}
