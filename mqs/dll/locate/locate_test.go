package locate

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// fake is a process of which some memory and symbols are known.
type fake struct {
	*inferiortest.Process
	size uint64 // of the variable that names the DLL, in bytes, 0 if not known
}

func newFake(width int, big bool) *fake {
	f := &fake{Process: inferiortest.New()}
	f.Identity = inferior.Info{PointerSize: width, BigEndian: big}
	return f
}

// variable is a symbol at an address.
func (f *fake) variable(name string, at inferior.Addr) { f.Symbols[name] = &inferior.Symbol{Addr: at} }

// named is the variable that names the DLL, of a size.
func (f *fake) named(at inferior.Addr, size int) {
	f.variable(DLLName, at)
	f.size = uint64(size)
}

func (f *fake) put(at inferior.Addr, text string) { f.Put(at, []byte(text)) }

// word is a pointer's bytes.
func (f *fake) word(to inferior.Addr) string { return string(f.Pointer(to)) }

// read reads what the process says.
func (f *fake) read(t *testing.T) Found {
	t.Helper()
	found, err := Read(inferior.NewReader(t.Context(), f), f.size)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

const (
	place    = 0x10000
	list     = 0x20000
	strings1 = 0x30fe0 // crosses into the next page
	strings2 = 0x55613
)

func TestRead(t *testing.T) {
	long := "/" + strings.Repeat("x", maxPath-2)
	for name, c := range map[string]struct {
		put      func(f *fake)
		want     []Candidate
		problems int
	}{
		"nothing": {put: func(*fake) {}},
		"array": {func(f *fake) {
			f.named(place, 4096)
			f.put(place, "/opt/dll.so\x00")
		}, []Candidate{{"/opt/dll.so", DLLName}}, 0},
		"array of no known size": {func(f *fake) {
			f.named(place, 0)
			f.put(place, "/opt/dll.so\x00")
		}, []Candidate{{"/opt/dll.so", DLLName}}, 0},
		"array at the end of a page": {func(f *fake) {
			f.named(place-12, 0)
			f.put(place-12, "/opt/dll.so\x00")
		}, []Candidate{{"/opt/dll.so", DLLName}}, 0},
		"bare name": {func(f *fake) {
			f.named(place, 0)
			f.put(place, "dll.so\x00")
		}, []Candidate{{"dll.so", DLLName}}, 0},
		"array as long as a pointer": {func(f *fake) {
			f.named(place, f.Identity.PointerSize)
			f.put(place, "/so\x00\x00\x00\x00\x00"[:f.Identity.PointerSize])
		}, []Candidate{{"/so", DLLName}}, 0},
		"pointer": {func(f *fake) {
			f.named(place, f.Identity.PointerSize)
			f.put(place, f.word(strings1))
			f.put(strings1, "/opt/a long way/across/pages/dll.so\x00")
		}, []Candidate{{"/opt/a long way/across/pages/dll.so", DLLName}}, 0},
		"pointer whose bytes are letters": {func(f *fake) {
			at := binary.LittleEndian.Uint32([]byte("aaaa"))
			f.named(place, 0)
			f.put(place, f.word(inferior.Addr(at))+"\x00")
			f.put(inferior.Addr(at), "/opt/dll.so\x00")
		}, []Candidate{{"/opt/dll.so", DLLName}}, 0},
		"pointer to a bare name": {func(f *fake) {
			f.named(place, 0)
			f.put(place, f.word(strings2))
			f.put(strings2, "dll.so\x00")
		}, []Candidate{{"dll.so", DLLName}}, 0},
		"null pointer": {put: func(f *fake) {
			f.named(place, 0)
			f.put(place, f.word(0))
		}},
		"empty array": {put: func(f *fake) {
			f.named(place, 100)
			f.put(place, "\x00")
		}},
		"neither": {put: func(f *fake) {
			f.named(place, 0)
			f.put(place, "\x01\x02\x03\x04\x05\x06\x07\x08")
		}, problems: 1},
		"not mapped": {put: func(f *fake) { f.named(place, 0) }, problems: 1},
		"longest": {func(f *fake) {
			f.named(place, 8192)
			f.put(place, long+"\x00")
		}, []Candidate{{long, DLLName}}, 0},
		"too long": {put: func(f *fake) {
			f.named(place, 8192)
			f.put(place, long+"x\x00")
		}, problems: 1},
		"terminal commands": {put: func(f *fake) {
			f.named(place, 64)
			f.put(place, "/opt/\x1b[2J.so\x00")
		}, problems: 1},
		"locations": {func(f *fake) {
			f.variable(DLLLocations, place)
			f.named(place+64, 0)
			f.put(place, f.word(list))
			f.put(list, f.word(strings1)+f.word(strings2)+f.word(strings1)+f.word(0xdead0000)+f.word(list+512)+f.word(0))
			f.put(strings1, "/opt/one.so\x00")
			f.put(strings2, "\x00")
			f.put(list+512, "/opt/two.so\x00")
			f.put(place+64, "/opt/three.so\x00")
		}, []Candidate{{"/opt/one.so", DLLLocations}, {"/opt/two.so", DLLLocations}, {"/opt/three.so", DLLName}}, 1},
		"locations not set": {put: func(f *fake) {
			f.variable(DLLLocations, place)
			f.put(place, f.word(0))
		}},
		"endless locations": {func(f *fake) {
			f.variable(DLLLocations, place)
			f.put(place, f.word(list))
			for i := range 1000 {
				f.put(list+inferior.Addr(i*f.Identity.PointerSize), f.word(strings2))
			}
			f.put(strings2, "/opt/one.so\x00")
		}, []Candidate{{"/opt/one.so", DLLLocations}}, 1},
	} {
		for _, width := range []int{4, 8} {
			for _, big := range []bool{false, true} {
				f := newFake(width, big)
				c.put(f)
				got := f.read(t)
				if !slices.Equal(got.Candidates, c.want) || len(got.Problems) != c.problems {
					t.Errorf("%s, %d bytes, %t: %.200v", name, width, big, got)
				}
			}
		}
	}
}

func TestPresence(t *testing.T) {
	f := newFake(8, false)
	f.variable(IgnoreQueues, 0)
	f.variable(ProcessTable, 0)
	if got := f.read(t); !got.Ignore || !got.Starter {
		t.Error(got)
	}
	if got := newFake(8, false).read(t); got.Ignore || got.Starter {
		t.Error(got)
	}
}

func TestDefault(t *testing.T) {
	want := []string{"/a/libtvmpich.so", "/a/libtvibmmpi.so", "/a/libxmpi.so", "/b/libtvmpich.so", "/b/libtvibmmpi.so", "/b/libxmpi.so"}
	if got := Default([]string{"/a", "/b/", "/a"}); !slices.Equal(got, want) {
		t.Error(got)
	}
}

// DLLs for handles are named apart from those for queues.
func TestReadHandles(t *testing.T) {
	f := newFake(8, false)
	f.variable(DLLLocations, place)
	f.put(place, f.word(list))
	for i, name := range HandleLocations {
		at := inferior.Addr(place + 0x100*(i+1))
		f.variable(name, at)
		f.put(at, f.word(at+16))
		f.put(at+16, f.word(at+64)+f.word(strings2)+f.word(0))
		f.put(at+64, "/opt/"+name+".so\x00")
	}
	f.put(strings2, "/opt/both.so\x00")
	got, err := ReadHandles(inferior.NewReader(t.Context(), f))
	want := []Candidate{
		{"/opt/mpidbg_dll_locations.so", "mpidbg_dll_locations"}, {"/opt/both.so", "mpidbg_dll_locations"},
		{"/opt/MPI_D_dll_locations.so", "MPI_D_dll_locations"},
	}
	if err != nil || !slices.Equal(got.Candidates, want) || len(got.Problems) != 0 {
		t.Errorf("%.500v, %v", got, err)
	}
	f = newFake(8, false)
	f.variable(HandleLocations[0], place)
	if got, err := ReadHandles(inferior.NewReader(t.Context(), f)); err != nil || len(got.Candidates) != 0 || len(got.Problems) != 1 {
		t.Errorf("%.500v, %v", got, err)
	}
}
