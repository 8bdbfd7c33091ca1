package recordings

import (
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/recording"
)

// architectures are those, other than most recordings', that folders are named
// after: how each has its pointers, as the debugger said.
var architectures = map[string]struct {
	pointerSize int
	bigEndian   bool
}{
	"i386":    {4, false},
	"powerpc": {4, true},
}

// Nothing assumes the architecture of the machine that looks: what is read of
// processes with narrower pointers, and with the other order of bytes, is held
// against their accounts as all recordings are, and here is that they are such.
// Those of i386 were live; those of powerpc are core files that qemu-ppc wrote,
// read by gdb-multiarch.
func TestArchitectures(t *testing.T) {
	for name, want := range architectures {
		t.Run(name, func(t *testing.T) {
			files, err := filepath.Glob("*-" + name + "/*.mpiq")
			if err != nil || len(files) == 0 {
				t.Fatalf("no recordings: %v", err)
			}
			for _, file := range files {
				r, err := recording.Open(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, tg := range r.Processes {
					info := tg.Info()
					if info.PointerSize != want.pointerSize || info.BigEndian != want.bigEndian {
						t.Errorf("%s: %s has pointers of %d bytes, big-endian is %t", file, info.Architecture, info.PointerSize, info.BigEndian)
					}
				}
			}
		})
	}
}
