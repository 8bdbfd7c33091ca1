package mpichtest

import (
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich"
)

// Members are values of an object's members, by their paths.
type Members map[string]uint64

// Made is a recorded process of MPICH 4.0.2 over ch4:ucx, which is read by the embedded table, with objects in it
// that were not recorded. It is for tests of the rooms beside this one.
type Made struct {
	*inferiortest.Patched
	t       testing.TB
	layouts *layout.Layouts
	free    inferior.Addr
}

// Make returns a recorded process, as yet without more objects.
func Make(t testing.TB) *Made {
	t.Helper()
	const release = "MPICH 4.0.2"
	tables := layout.OfScope(layout.MustReadTables(os.DirFS(".."), "tables"), layout.ScopeAll)
	own := slices.IndexFunc(tables, func(t *layout.Table) bool { return t.Release == release })
	if own < 0 {
		t.Fatalf("there is no table of %s", release)
	}
	fields := map[string][]string{}
	for _, w := range mpich.Wants(layout.ScopeAll) {
		fields[w.Name] = append(fields[w.Name], slices.Concat(w.Members...)...)
	}
	var queries []layout.TypeQuery
	for name, list := range fields {
		queries = append(queries, layout.TypeQuery{Name: name, Fields: list})
	}
	return &Made{Patched: inferiortest.Patch(inferiortest.Recorded(t, "mpich-4.0.2-ch4-ucx-static/queues-rank-0")), t: t,
		layouts: tables[own].Layouts(queries), free: 0x10_0000_0000}
}

// Memory puts bytes where nothing was, and returns where that is. Zeros follow to the end of their page.
func (m *Made) Memory(b []byte) inferior.Addr {
	at := m.free
	whole := (len(b) + inferiortest.Page) &^ (inferiortest.Page - 1)
	m.AddMemory(at, append(slices.Clone(b), make([]byte, whole-len(b))...))
	m.free += inferior.Addr(whole + inferiortest.Page) // a range ends where its region does
	return at
}

// Ints puts an array of int.
func (m *Made) Ints(numbers ...int32) inferior.Addr {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return m.Memory(b)
}

// Text puts a string.
func (m *Made) Text(s string) inferior.Addr { return m.Memory([]byte(s + "\x00")) }

// Bytes are those of an object of a C type.
func (m *Made) Bytes(name string, members Members) []byte {
	m.t.Helper()
	size, ok := m.layouts.Size(name)
	if !ok {
		m.t.Fatalf("no type %s", name)
	}
	b := make([]byte, size)
	for path, v := range members {
		f, ok := m.layouts.Field(name, path)
		if !ok {
			m.t.Fatalf("no %s.%s", name, path)
		}
		copy(b[f.Offset:f.Offset+min(8, f.Size)], binary.LittleEndian.AppendUint64(nil, v)[:min(8, f.Size)])
	}
	return b
}

// Object puts an object of a C type.
func (m *Made) Object(name string, members Members) inferior.Addr {
	m.t.Helper()
	return m.Memory(m.Bytes(name, members))
}

// Offset is how far behind the beginning of an object one of its members stands.
func (m *Made) Offset(name, path string) inferior.Addr {
	m.t.Helper()
	f, ok := m.layouts.Field(name, path)
	if !ok {
		m.t.Fatalf("no %s.%s", name, path)
	}
	return inferior.Addr(f.Offset)
}

// Pool makes the pool of a C type that a symbol names. Its objects have the handles from first on, and a count of
// references of 1; those that are nil are free.
func (m *Made) Pool(symbol, name string, first uint32, objects ...Members) []inferior.Addr {
	m.t.Helper()
	size, _ := m.layouts.Size(name)
	direct := m.free
	var b []byte
	var at []inferior.Addr
	avail := inferior.Addr(0)
	for i, o := range objects {
		here := direct + inferior.Addr(i*size)
		at = append(at, here)
		all := Members{"handle": uint64(first) + uint64(i)}
		if o != nil {
			if _, counts := m.layouts.Field(name, "ref_count"); counts {
				all["ref_count"] = 1
			}
			for path, v := range o {
				all[path] = v
			}
		}
		of := m.Bytes(name, all)
		if o == nil {
			copy(of[m.Offset("MPIR_Handle_common", "next"):], binary.LittleEndian.AppendUint64(nil, uint64(avail)))
			avail = here
		}
		b = append(b, of...)
	}
	m.Memory(b)
	m.SetSymbol(symbol, inferior.Symbol{Addr: m.Object("MPIR_Object_alloc_t", Members{"avail": uint64(avail), "initialized": 1, "num_allocated": uint64(len(objects)),
		"size": uint64(size), "direct": uint64(direct), "direct_size": uint64(len(objects))})})
	return at
}
