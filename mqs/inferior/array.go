package inferior

// At returns a pointer to the i-th object of the array at p.
func At[T any](s *Struct[T], p Ptr[T], i int) Ptr[T] { return p + Ptr[T](i*s.size) }

// RangeOf returns the memory range of an array of n objects at p.
func RangeOf[T any](s *Struct[T], p Ptr[T], n int) Range {
	return Range{Addr: p.Addr(), Len: n * s.size}
}
