package locate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fake is a process's memory, in pages: what is on none can't be read.
type fake struct {
	symbols map[string][2]uint64
	bytes   map[uint64]byte
	pages   map[uint64]bool
	width   int
	big     bool
}

func (f *fake) Symbol(name string) (addr, size uint64, ok bool) {
	s, ok := f.symbols[name]
	return s[0], s[1], ok
}

func (f *fake) Bytes(addr uint64, n int) ([]byte, error) {
	if n > maxPath {
		return nil, errors.New("too much at once")
	}
	out := make([]byte, n)
	for i := range out {
		if a := addr + uint64(i); f.pages[a/pageSize] {
			out[i] = f.bytes[a]
			continue
		}
		return nil, fmt.Errorf("nothing at %#x", addr)
	}
	return out, nil
}

func (f *fake) PointerSize() int { return f.width }
func (f *fake) BigEndian() bool  { return f.big }

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
				f := &fake{map[string][2]uint64{}, map[uint64]byte{}, map[uint64]bool{}, width, big}
				c.put(f)
				got := Read(f)
				if !slices.Equal(got.Candidates, c.want) || len(got.Problems) != c.problems {
					t.Errorf("%s, %d bytes, %t: %.200v", name, width, big, got)
				}
			}
		}
	}
}

func TestPresence(t *testing.T) {
	f := &fake{symbols: map[string][2]uint64{IgnoreQueues: {}, ProcessTable: {}}, width: 8}
	if got := Read(f); !got.Ignore || !got.Starter {
		t.Error(got)
	}
	if got := Read(&fake{width: 8}); got.Ignore || got.Starter {
		t.Error(got)
	}
}

func TestDefault(t *testing.T) {
	want := []string{"/a/libtvmpich.so", "/a/libtvibmmpi.so", "/a/libxmpi.so", "/b/libtvmpich.so", "/b/libtvibmmpi.so", "/b/libxmpi.so"}
	if got := Default([]string{"/a", "/b/", "/a"}); !slices.Equal(got, want) {
		t.Error(got)
	}
}
