package callstack

import "testing"

// TestSystemCallArguments checks which argument of a system call names its file: a number that is taken for a path or a
// descriptor would name a file that has nothing to do with the call.
func TestSystemCallArguments(t *testing.T) {
	for _, c := range []struct {
		number     int64
		name       string
		path       uint64
		descriptor int32
		isOpen     bool
	}{
		{0, "read", 0, 5, true}, {sysOpen, "open", 5, 0, false}, {sysOpenAt, "openat", 6, 0, false}, {58, "vfork", 0, 0, false},
		{sysFutex, "futex", 0, 0, false}, {9, "mmap", 0, 0, false}, {999, "system call 999", 0, 0, false}, {-1, "system call -1", 0, 0, false},
	} {
		given := []uint64{5, 6}
		descriptor, ok := DescriptorArgument(c.number, given)
		if SystemCallName(c.number) != c.name || PathArgument(c.number, given) != c.path || descriptor != c.descriptor || ok != c.isOpen {
			t.Errorf("%d: %s, path %d, descriptor %d %v, want %+v", c.number, SystemCallName(c.number), PathArgument(c.number, given), descriptor, ok, c)
		}
		if _, ok := DescriptorArgument(c.number, nil); ok || PathArgument(c.number, nil) != 0 {
			t.Errorf("%d: it has a file without arguments", c.number)
		}
	}
}
