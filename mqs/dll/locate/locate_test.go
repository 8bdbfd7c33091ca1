package locate

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// fake is a process's memory, in pages: what is on none can't be read.
type fake struct {
	inferior.Inferior                      // nothing else is asked for
	symbols           map[string][2]uint64 // with their sizes
	bytes             map[uint64]byte
	pages             map[uint64]bool
	width             int
	big               bool
}

func (f *fake) Info() inferior.Info { return inferior.Info{PointerSize: f.width, BigEndian: f.big} }

func (f *fake) FindSymbols(_ context.Context, names []string) ([]*inferior.Symbol, error) {
	out := make([]*inferior.Symbol, len(names))
	for i, name := range names {
		if s, ok := f.symbols[name]; ok {
			out[i] = &inferior.Symbol{Addr: inferior.Addr(s[0])}
		}
	}
	return out, nil
}

func (f *fake) ReadMemory(_ context.Context, ranges []inferior.Range) ([][]byte, error) {
	out := make([][]byte, len(ranges))
	for i, r := range ranges {
		for a := uint64(r.Addr); len(out[i]) < r.Len && f.pages[a/pageSize]; a++ {
			out[i] = append(out[i], f.bytes[a])
		}
	}
	return out, nil
}

// read reads what the process says.
func (f *fake) read(t *testing.T) Found {
	t.Helper()
	found, err := Read(inferior.NewReader(t.Context(), f), f.symbols[DLLName][1])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (f *fake) put(at uint64, text string) {
	for i, b := range []byte(text) {
		f.bytes[at+uint64(i)] = b
		f.pages[(at+uint64(i))/pageSize] = true
	}
}

// word is a pointer's bytes.
func (f *fake) word(v uint64) string {
	var order binary.AppendByteOrder = binary.LittleEndian
	if f.big {
		order = binary.BigEndian
	}
	if f.width == 4 {
		return string(order.AppendUint32(nil, uint32(v)))
	}
	return string(order.AppendUint64(nil, v))
}

const (
	pageSize = 4096
	variable = 0x10000
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
			f.symbols[DLLName] = [2]uint64{variable, 4096}
			f.put(variable, "/opt/dll.so\x00")
		}, []Candidate{{"/opt/dll.so", DLLName}}, 0},
		"array of no known size": {func(f *fake) {
			f.symbols[DLLName] = [2]uint64{variable, 0}
			f.put(variable, "/opt/dll.so\x00")
		}, []Candidate{{"/opt/dll.so", DLLName}}, 0},
		"array at the end of a page": {func(f *fake) {
			f.symbols[DLLName] = [2]uint64{variable - 12, 0}
			f.put(variable-12, "/opt/dll.so\x00")
		}, []Candidate{{"/opt/dll.so", DLLName}}, 0},
		"bare name": {func(f *fake) {
			f.symbols[DLLName] = [2]uint64{variable, 0}
			f.put(variable, "dll.so\x00")
		}, []Candidate{{"dll.so", DLLName}}, 0},
		"array as long as a pointer": {func(f *fake) {
			f.symbols[DLLName] = [2]uint64{variable, uint64(f.width)}
			f.put(variable, "/so\x00\x00\x00\x00\x00"[:f.width])
		}, []Candidate{{"/so", DLLName}}, 0},
		"pointer": {func(f *fake) {
			f.symbols[DLLName] = [2]uint64{variable, uint64(f.width)}
			f.put(variable, f.word(strings1))
			f.put(strings1, "/opt/a long way/across/pages/dll.so\x00")
		}, []Candidate{{"/opt/a long way/across/pages/dll.so", DLLName}}, 0},
		"pointer whose bytes are letters": {func(f *fake) {
			at := binary.LittleEndian.Uint32([]byte("aaaa"))
			f.symbols[DLLName] = [2]uint64{variable, 0}
			f.put(variable, f.word(uint64(at))+"\x00")
			f.put(uint64(at), "/opt/dll.so\x00")
		}, []Candidate{{"/opt/dll.so", DLLName}}, 0},
		"pointer to a bare name": {func(f *fake) {
			f.symbols[DLLName] = [2]uint64{variable, 0}
			f.put(variable, f.word(strings2))
			f.put(strings2, "dll.so\x00")
		}, []Candidate{{"dll.so", DLLName}}, 0},
		"null pointer": {put: func(f *fake) {
			f.symbols[DLLName] = [2]uint64{variable, 0}
			f.put(variable, f.word(0))
		}},
		"empty array": {put: func(f *fake) {
			f.symbols[DLLName] = [2]uint64{variable, 100}
			f.put(variable, "\x00")
		}},
		"neither": {put: func(f *fake) {
			f.symbols[DLLName] = [2]uint64{variable, 0}
			f.put(variable, "\x01\x02\x03\x04\x05\x06\x07\x08")
		}, problems: 1},
		"not mapped": {put: func(f *fake) { f.symbols[DLLName] = [2]uint64{variable, 0} }, problems: 1},
		"longest": {func(f *fake) {
			f.symbols[DLLName] = [2]uint64{variable, 8192}
			f.put(variable, long+"\x00")
		}, []Candidate{{long, DLLName}}, 0},
		"too long": {put: func(f *fake) {
			f.symbols[DLLName] = [2]uint64{variable, 8192}
			f.put(variable, long+"x\x00")
		}, problems: 1},
		"terminal commands": {put: func(f *fake) {
			f.symbols[DLLName] = [2]uint64{variable, 64}
			f.put(variable, "/opt/\x1b[2J.so\x00")
		}, problems: 1},
		"locations": {func(f *fake) {
			f.symbols[DLLLocations] = [2]uint64{variable, 0}
			f.symbols[DLLName] = [2]uint64{variable + 64, 0}
			f.put(variable, f.word(list))
			f.put(list, f.word(strings1)+f.word(strings2)+f.word(strings1)+f.word(0xdead0000)+f.word(list+512)+f.word(0))
			f.put(strings1, "/opt/one.so\x00")
			f.put(strings2, "\x00")
			f.put(list+512, "/opt/two.so\x00")
			f.put(variable+64, "/opt/three.so\x00")
		}, []Candidate{{"/opt/one.so", DLLLocations}, {"/opt/two.so", DLLLocations}, {"/opt/three.so", DLLName}}, 1},
		"locations not set": {put: func(f *fake) {
			f.symbols[DLLLocations] = [2]uint64{variable, 0}
			f.put(variable, f.word(0))
		}},
		"endless locations": {func(f *fake) {
			f.symbols[DLLLocations] = [2]uint64{variable, 0}
			f.put(variable, f.word(list))
			for i := range 1000 {
				f.put(list+uint64(i*f.width), f.word(strings2))
			}
			f.put(strings2, "/opt/one.so\x00")
		}, []Candidate{{"/opt/one.so", DLLLocations}}, 1},
	} {
		for _, width := range []int{4, 8} {
			for _, big := range []bool{false, true} {
				f := &fake{symbols: map[string][2]uint64{}, bytes: map[uint64]byte{}, pages: map[uint64]bool{}, width: width, big: big}
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
	f := &fake{symbols: map[string][2]uint64{IgnoreQueues: {}, ProcessTable: {}}, width: 8}
	if got := f.read(t); !got.Ignore || !got.Starter {
		t.Error(got)
	}
	if got := (&fake{width: 8}).read(t); got.Ignore || got.Starter {
		t.Error(got)
	}
}

func TestDefault(t *testing.T) {
	want := []string{"/a/libtvmpich.so", "/a/libtvibmmpi.so", "/a/libxmpi.so", "/b/libtvmpich.so", "/b/libtvibmmpi.so", "/b/libxmpi.so"}
	if got := Default([]string{"/a", "/b/", "/a"}); !slices.Equal(got, want) {
		t.Error(got)
	}
}
