package inferior

// Index points to the i-th object of an array that begins at p.
func (s *Struct[T]) Index(p Ptr[T], i int) Ptr[T] { return p + Ptr[T](i*s.size) }

// Range is where an array of n objects stands that begins at p.
func (s *Struct[T]) Range(p Ptr[T], n int) Range { return Range{Addr: p.Addr(), Len: n * s.size} }
