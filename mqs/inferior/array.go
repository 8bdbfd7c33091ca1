package inferior

// At points to the i-th object of an array of them that begins at p.
func At[T any](s *Struct[T], p Ptr[T], i int) Ptr[T] { return p + Ptr[T](i*s.size) }

// RangeOf is where an array of n objects is that begins at p.
func RangeOf[T any](s *Struct[T], p Ptr[T], n int) Range {
	return Range{Addr: p.Addr(), Len: n * s.size}
}
