package bridge

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func mapFile(t *testing.T, f *os.File, size int) []byte {
	t.Helper()
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(b) })
	return b
}
