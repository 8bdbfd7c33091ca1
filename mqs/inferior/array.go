package inferior

import "unsafe"

// Index points to the i-th object of an array that begins at p.
func (s *Struct[T]) Index(p Ptr[T], i int) Ptr[T] { return p + Ptr[T](i*s.size) }

// Range is where an array of n objects stands that begins at p.
func (s *Struct[T]) Range(p Ptr[T], n int) Range { return Range{Addr: p.Addr(), Len: n * s.size} }

// MemberOf returns where in an object the member stands that a field of T takes, and how many bytes it has, without
// reading anything; false if the type lacks the member. field returns the address of that field.
func MemberOf[T, M any](s *Struct[T], p Ptr[T], field func(*T) *Embedded[M]) (at Ptr[M], size int, ok bool) {
	var t T
	to := uintptr(unsafe.Pointer(field(&t))) - uintptr(unsafe.Pointer(&t))
	for i := range s.steps {
		if st := &s.steps[i]; st.to == to {
			return Ptr[M](p) + Ptr[M](st.field.Offset), st.field.Size, true
		}
	}
	return 0, 0, false
}
