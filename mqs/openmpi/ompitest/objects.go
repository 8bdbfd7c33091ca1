package ompitest

import (
	"encoding/binary"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// Objects are made-up objects of Open MPI in the memory of a recorded process, whose layouts they have. Memory and
// symbols are those of the process To.
type Objects struct {
	To *inferiortest.Patched

	t       testing.TB
	p       *ompi.Process
	next    inferior.Addr
	classes map[string]inferior.Addr
}

// MakeObjects returns a recorded process without objects of its own.
func MakeObjects(t testing.TB, recording string, components ...ompi.Component) *Objects {
	t.Helper()
	to := inferiortest.Patch(inferiortest.Recorded(t, recording))
	p, _ := MustOpen(t, to, components...)
	to.AddMemory(firstObject, make([]byte, objectMemory))
	return &Objects{To: to, t: t, p: p, next: firstObject, classes: map[string]inferior.Addr{}}
}

// SetRelease changes the version that the library names, and opens the process again. If the layout of that release fits, the
// process and objects that are made later use it.
func (o *Objects) SetRelease(release string, components ...ompi.Component) {
	o.t.Helper()
	o.To.SetSymbol("ompi_version_string", inferior.Symbol{Addr: o.Text(release)})
	o.p, _ = o.Open(components...)
}

// Where objects stand: apart from all else, as far as anybody reads ahead.
const (
	firstObject  = inferior.Addr(0x1000_0000)
	objectMemory = 1 << 20 // bytes
)

// Process returns the process as it was before anything was added, or as [Objects.SetRelease] has opened it.
func (o *Objects) Process() *ompi.Process { return o.p }

// Memory returns so many bytes of zeros.
func (o *Objects) Memory(size int) inferior.Addr {
	const alignment = 64
	at := o.next
	o.next += inferior.Addr((size + alignment - 1) / alignment * alignment)
	if o.next > firstObject+objectMemory {
		o.t.Fatal("there is no more room for objects")
	}
	return at
}

// Text puts a string there.
func (o *Objects) Text(s string) inferior.Addr {
	at := o.Memory(len(s) + 1)
	o.To.PutBytes(at, []byte(s))
	return at
}

// Class is the class of objects of a type, which has the size of its layout.
func (o *Objects) Class(name string) inferior.Addr {
	if at, ok := o.classes[name]; ok {
		return at
	}
	size, ok := o.p.Layouts.Size(name)
	if !ok {
		size = 64 // it stands in another object, and is not read
	}
	at, text := o.Memory(256), o.Text(name)
	o.Put(at, "opal_class_t", "cls_name", uint64(text))
	o.Put(at, "opal_class_t", "cls_sizeof", uint64(size))
	o.classes[name] = at
	return at
}

// Object makes an object of a type, of which all members are 0.
func (o *Objects) Object(name string) inferior.Addr {
	o.t.Helper()
	size, ok := o.p.Layouts.Size(name)
	if !ok {
		o.t.Fatalf("no %s", name)
	}
	at := o.Memory(size)
	o.IsA(at, name)
	return at
}

// IsA gives what stands at an address the class of a type.
func (o *Objects) IsA(at inferior.Addr, name string) {
	o.To.PutPointer(at+Offset(o.t, o.p, "opal_object_t", "obj_class"), o.Class(name))
}

// Put gives a member of an object a value.
func (o *Objects) Put(at inferior.Addr, name, member string, value uint64) {
	o.t.Helper()
	f, ok := o.p.Layouts.Field(name, member)
	if !ok {
		o.t.Fatalf("no %s.%s", name, member)
	}
	b := binary.LittleEndian.AppendUint64(nil, value)
	o.To.PutBytes(at+inferior.Addr(f.Offset), b[:min(f.Size, len(b))])
}

// PutText gives a member that has its characters in place a value.
func (o *Objects) PutText(at inferior.Addr, name, member, value string) {
	o.t.Helper()
	f, ok := o.p.Layouts.Field(name, member)
	if !ok || len(value) >= f.Size {
		o.t.Fatalf("%s.%s has %d bytes", name, member, f.Size)
	}
	o.To.PutBytes(at+inferior.Addr(f.Offset), append([]byte(value), 0))
}

// Member is where a member of an object stands.
func (o *Objects) Member(at inferior.Addr, name, member string) inferior.Addr {
	o.t.Helper()
	return at + Offset(o.t, o.p, name, member)
}

// Integers adds an array of values of type int.
func (o *Objects) Integers(values ...int32) inferior.Addr {
	at := o.Memory(4 * len(values))
	for i, v := range values {
		o.To.PutUint32(at+inferior.Addr(4*i), uint32(v))
	}
	return at
}

// Words adds an array of values of a pointer's width.
func (o *Objects) Words(values ...uint64) inferior.Addr {
	at := o.Memory(8 * len(values))
	for i, v := range values {
		o.To.PutUint64(at+inferior.Addr(8*i), v)
	}
	return at
}

// Array adds an array of objects that a symbol stands for.
func (o *Objects) Array(symbol string, objects ...inferior.Addr) {
	at := o.Object("opal_pointer_array_t")
	free := 0
	words := make([]uint64, len(objects))
	for i, to := range objects {
		if words[i] = uint64(to); to == 0 {
			free++
		}
	}
	o.Put(at, "opal_pointer_array_t", "size", uint64(len(objects)))
	o.Put(at, "opal_pointer_array_t", "number_free", uint64(free))
	o.Put(at, "opal_pointer_array_t", "addr", uint64(o.Words(words...)))
	o.To.SetSymbol(symbol, inferior.Symbol{Addr: at})
}

// HashTable makes what stands at an address a hash table.
func (o *Objects) HashTable(at inferior.Addr, held map[uint32]inferior.Addr) {
	size, _ := o.p.Layouts.Size("opal_hash_element_t")
	o.IsA(at, "opal_hash_table_t")
	elements := o.Memory(2 * len(held) * size)
	place := elements
	for key, value := range held {
		o.Put(place, "opal_hash_element_t", "valid", 1)
		o.Put(place, "opal_hash_element_t", "key.u32", uint64(key))
		o.Put(place, "opal_hash_element_t", "value", uint64(value))
		place += inferior.Addr(2 * size)
	}
	o.Put(at, "opal_hash_table_t", "ht_table", uint64(elements))
	o.Put(at, "opal_hash_table_t", "ht_capacity", uint64(2*len(held)))
	o.Put(at, "opal_hash_table_t", "ht_size", uint64(len(held)))
}

// Open opens the process with its objects.
func (o *Objects) Open(components ...ompi.Component) (*ompi.Process, ompi.Queues) {
	o.t.Helper()
	return MustOpen(o.t, o.To, components...)
}
