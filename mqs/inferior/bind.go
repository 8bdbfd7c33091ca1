package inferior

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Struct reads one C type into the Go struct T. Each field of T is tagged with
// the C member that it takes:
//
//	Index uint32      `c:"c_index|c_contextid"` // spellings, newest first
//	Topo  inferior.Addr `c:"c_topo,optional"`     // its zero value where there is none
//
// Members are paths with dots between levels; a field that is itself such a
// struct puts its own tag before the paths of its fields. Integers take their
// width and sign from the layout. [Ptr] and [Addr] take pointers, [Text] strings, and
// [Embedded] the address of the member itself. A Struct is made by [Bind].
type Struct[T any] struct{ binding }

// binding is the part of a [Struct] that does not depend on T. Functions that are not generic do the work, because each package that
// uses a Struct compiles all its methods again for each type argument.
type binding struct {
	name  string
	size  int
	steps []step
}

// Text is a string member: characters in place, or a pointer to them. An array without a length ends where
// the string does.
type Text struct {
	inline []byte
	at     Addr
}

// Read returns the string, of at most limit bytes.
func (t Text) Read(r *Reader, limit int) (string, error) {
	if t.inline != nil {
		s, _, _ := bytes.Cut(t.inline[:min(len(t.inline), limit)], []byte{0})
		return string(s), r.Spend(len(s))
	}
	if t.at == 0 {
		return "", nil
	}
	return r.CString(t.at, limit)
}

// maxStruct bounds the size of a C type that is read, which debug information or a recording says, in
// bytes: UCX's ucp_worker_t has 142,000. maxSpread bounds that of one of which only places are
// taken: MPICH's MPIDI_OFI_global_t has 3.5 million in 4.3.
const (
	maxStruct = 1 << 20
	maxSpread = 1 << 30
)

// Ptr is a pointer to an object of the C type that T reads, 0 for NULL. Only the [Struct] of that
// type reads what it points to.
type Ptr[T any] uint64

// Addr is where it points to.
func (p Ptr[T]) Addr() Addr { return Addr(p) }

func (p Ptr[T]) String() string { return Addr(p).String() }

// Embedded is the address of a member that is itself an object of the C type that T reads, 0 where
// there is no such member.
type Embedded[T any] uint64

// Ptr points to the member.
func (e Embedded[T]) Ptr() Ptr[T] { return Ptr[T](e) }

// Addr is where the member stands.
func (e Embedded[T]) Addr() Addr { return Addr(e) }

func (e Embedded[T]) String() string { return Addr(e).String() }

func (e Embedded[T]) isEmbedded() {}

// embedded are the Go types that take the address of a member.
type embedded interface{ isEmbedded() }

var (
	typeEmbedded = reflect.TypeFor[embedded]()
	typeText     = reflect.TypeFor[Text]()
)

// member is a Go field and the C members that it may be.
type member struct {
	index    []int
	typ      reflect.Type
	paths    []string
	optional bool
}

// members lists the tagged fields of a Go struct, nested ones included.
func members(t reflect.Type, prefix string, index []int) []member {
	var out []member
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("c")
		if !ok {
			continue
		}
		names, options, _ := strings.Cut(tag, ",")
		at := append(append([]int(nil), index...), i)
		if f.Type.Kind() == reflect.Struct && f.Type != typeText {
			out = append(out, members(f.Type, prefix+names+".", at)...)
			continue
		}
		m := member{index: at, typ: f.Type, optional: options == "optional"}
		for _, name := range strings.Split(names, "|") {
			m.paths = append(m.paths, prefix+name)
		}
		out = append(out, m)
	}
	return out
}

// memberLists are the members of Go structs by their types, of which there are as many as the program has: each
// command binds them anew.
var memberLists sync.Map

// membersOf lists the tagged fields of a Go struct, nested ones included. The caller must not change the list.
func membersOf(t reflect.Type) []member {
	if known, ok := memberLists.Load(t); ok {
		return known.([]member)
	}
	list := members(t, "", nil)
	memberLists.Store(t, list)
	return list
}

// Queries lists the types that structs of [Struct] fields bind, each type once, with every
// spelling of every member, for one batch.
func Queries(structs ...any) []layout.TypeQuery {
	var out []layout.TypeQuery
	at := map[string]int{}
	for _, of := range structs {
		eachStruct(of, func(name string, _ bool, b binder) {
			i, again := at[name]
			if !again {
				i = len(out)
				at[name], out = i, append(out, layout.TypeQuery{Name: name})
			}
			for _, m := range membersOf(b.goType()) {
				for _, path := range m.paths {
					if !again || !slices.Contains(out[i].Fields, path) {
						out[i].Fields = append(out[i].Fields, path)
					}
				}
			}
		})
	}
	return out
}

// Bind makes every [Struct] field of *structs ready to read by the layouts.
// Each is tagged with the name of its C type (spellings newest first, and
// "optional", as for members). One error names all that is missing; a type that lacks a member stays unbound.
func Bind(structs any, l *layout.Layouts) error {
	var missing []error
	eachStruct(structs, func(name string, optional bool, b binder) {
		if _, ok := l.Size(name); !ok && optional {
			return
		}
		if err := bind(b.core(), b.goType(), name, l); err != nil {
			missing = append(missing, err)
		}
	})
	return errors.Join(missing...)
}

// binder is a [Struct] of any Go struct.
type binder interface {
	goType() reflect.Type
	core() *binding
}

func eachStruct(structs any, f func(name string, optional bool, b binder)) {
	v := reflect.ValueOf(structs).Elem()
	for i := range v.NumField() {
		if b, ok := v.Field(i).Addr().Interface().(binder); ok {
			name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("c"), ",")
			f(name, options == "optional", b)
		}
	}
}

func (s *Struct[T]) goType() reflect.Type { return reflect.TypeFor[T]() }

func (s *binding) core() *binding { return s }

// bind finds the members of the C type for the fields of the Go struct t.
func bind(s *binding, t reflect.Type, name string, l *layout.Layouts) error {
	size, ok := l.Size(name)
	if !ok {
		return fmt.Errorf("no type %s", name)
	}
	all := membersOf(t)
	most := maxStruct
	if len(all) > 0 && !slices.ContainsFunc(all, func(m member) bool { return !m.typ.Implements(typeEmbedded) }) {
		most = maxSpread
	}
	if size < 0 || size > most {
		return fmt.Errorf("%s has %d bytes, which can't be right", name, size)
	}
	*s = binding{name: name, size: size}
	var missing []string
	for _, m := range all {
		path, f, ok := pick(l, name, m.paths)
		switch {
		case ok && fits(m.typ, f) && f.Offset >= 0 && f.Size >= 0 && f.Size <= size && f.Offset <= size-f.Size:
			s.steps = append(s.steps, newStep(t, m, path, f))
		case ok:
			missing = append(missing, fmt.Sprintf("%s is a %s of %d bytes at %d", path, f.Kind, f.Size, f.Offset))
		case !m.optional:
			missing = append(missing, "no "+strings.Join(m.paths, " or "))
		}
	}
	if missing != nil {
		*s = binding{}
		return fmt.Errorf("%s: %s", name, strings.Join(missing, ", "))
	}
	return nil
}

func pick(l *layout.Layouts, name string, paths []string) (string, layout.Field, bool) {
	for _, path := range paths {
		if f, ok := l.Field(name, path); ok {
			return path, f, true
		}
	}
	return "", layout.Field{}, false
}

// fits says whether a member can be read into a Go type without loss.
func fits(t reflect.Type, f layout.Field) bool {
	integer := f.Size == 1 || f.Size == 2 || f.Size == 4 || f.Size == 8
	switch {
	case t.Implements(typeEmbedded):
		return true
	case t == typeText:
		return f.Kind == layout.KindArray || f.Kind == layout.KindPointer && integer
	}
	switch t.Kind() {
	case reflect.Bool:
		return integer
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return integer && f.Size <= int(t.Size()) && f.Kind != layout.KindStruct && f.Kind != layout.KindArray && f.Kind != layout.KindFloat
	}
	return false
}

// Bound is true once [Bind] has found the type; optional ones may stay unbound.
func (s *binding) Bound() bool { return s.name != "" }

// Name is the C type's name.
func (s *binding) Name() string { return s.name }

// Size is the C type's size in bytes.
func (s *binding) Size() int { return s.size }

// Resize sets the size of the type in bytes. It is for types that end with an array whose length the layouts may not know.
func (s *binding) Resize(size int) { s.size = size }

// Read reads the object that p points to: its whole memory first, then the fields.
func (s *Struct[T]) Read(r *Reader, p Ptr[T]) (T, error) {
	var out T
	err := readObject(&s.binding, r, p.Addr(), unsafe.Pointer(&out), unsafe.Sizeof(out))
	return out, err
}

// readObject reads the C object at an address into the Go struct that to points to, which has size bytes.
func readObject(s *binding, r *Reader, at Addr, to unsafe.Pointer, size uintptr) error {
	if err := r.Spend(int(size)); err != nil {
		return err
	}
	if s.size > maxStruct {
		return fmt.Errorf("%s has %d bytes, and is not read as a whole", s.name, s.size)
	}
	b, err := r.Bytes(at, s.size)
	if err != nil {
		return fmt.Errorf("%s at %s: %w", s.name, at, err)
	}
	if r.watcher != nil {
		r.watcher.SawObject(s.name, at, fields(s))
	}
	decode(s, r.order, at, b, to)
	return nil
}

// Decode decodes an object from its bytes, which may come from elsewhere than the process's memory. It returns false if
// there are fewer bytes than the C type has.
func Decode[T any](s *Struct[T], r *Reader, b []byte) (T, bool) {
	var out T
	if len(b) < s.size {
		return out, false
	}
	decode(&s.binding, r.order, 0, b, unsafe.Pointer(&out))
	return out, true
}

// Places returns a T with only its [Embedded] fields set, to the addresses of these members in the object at p. It reads no memory.
// Use it for objects that are much larger than the members of interest.
func Places[T any](s *Struct[T], p Ptr[T]) T {
	var out T
	places(&s.binding, p.Addr(), unsafe.Pointer(&out))
	return out
}

// places stores the addresses of the embedded members of the C object at an address in the Go struct that to points to.
func places(s *binding, at Addr, to unsafe.Pointer) {
	for i := range s.steps {
		if st := &s.steps[i]; st.how == asAddress {
			// This is within the Go struct: st.to is the offset of one of its fields.
			*(*Addr)(unsafe.Add(to, st.to)) = at + Addr(st.field.Offset)
		}
	}
}

// OffsetOf returns how far behind the beginning of an object the member stands that a field of T
// takes, in bytes; false if the type lacks it. field returns the address of that field.
func OffsetOf[T, F any](s *Struct[T], field func(*T) *F) (Addr, bool) {
	f, ok := memberOf(s, field)
	return Addr(f.Offset), ok
}

// SizeOf returns how many bytes the member has that a field of T takes, 0 if the type lacks it. field returns
// the address of that field.
func SizeOf[T, F any](s *Struct[T], field func(*T) *F) int {
	f, _ := memberOf(s, field)
	return f.Size
}

// memberOf is the member that a field of T takes.
func memberOf[T, F any](s *Struct[T], field func(*T) *F) (layout.Field, bool) {
	var t T
	return memberAt(&s.binding, uintptr(unsafe.Pointer(field(&t)))-uintptr(unsafe.Pointer(&t)))
}

// memberAt returns the C member for the Go field at an offset, in bytes.
func memberAt(s *binding, at uintptr) (layout.Field, bool) {
	for i := range s.steps {
		if s.steps[i].to == at {
			return s.steps[i].field, true
		}
	}
	return layout.Field{}, false
}

// ContainerOf returns the object of which the member stands at p that a field of T takes, as
// container_of of C programs does; 0 if the type lacks the member. field returns the address of that field.
func ContainerOf[T, M any](s *Struct[T], p Ptr[M], field func(*T) *Embedded[M]) Ptr[T] {
	offset, ok := OffsetOf(s, field)
	if !ok {
		return 0
	}
	return Ptr[T](p) - Ptr[T](offset)
}
