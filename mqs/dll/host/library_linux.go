package host

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
)

// library is the DLL. It is loaded once and never unloaded.
type library struct {
	state *wire.State
	entry map[abi.Entry]uintptr
}

// load loads the DLL and looks its entry points up.
func load(path string, state *wire.State) (*library, error) {
	l := &library{state, map[abi.Entry]uintptr{}}
	state.Enter(abi.None) // its constructors run
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	state.Leave()
	if err != nil {
		return nil, fmt.Errorf("it can't be loaded: %w", err)
	}
	for _, e := range abi.Entries() {
		if f, err := purego.Dlsym(handle, e.String()); err == nil && f != 0 {
			l.entry[e] = f
		}
	}
	return l, nil
}

// has says whether the DLL has an entry point.
func (l *library) has(e abi.Entry) bool { return l.entry[e] != 0 }

// missing lists the entry points that the DLL lacks.
func (l *library) missing() []abi.Entry {
	var out []abi.Entry
	for _, e := range abi.Entries() {
		if !l.has(e) {
			out = append(out, e)
		}
	}
	return out
}

// call calls an entry point that the DLL has and returns what it returns: a
// pointer, or an int in its low half.
func (l *library) call(e abi.Entry, args ...uintptr) uintptr {
	l.state.Enter(e)
	defer l.state.Leave()
	r, _, _ := purego.SyscallN(l.entry[e], args...)
	return r
}

// code calls an entry point that returns a result code.
func (l *library) code(e abi.Entry, args ...uintptr) int32 { return int32(l.call(e, args...)) }

// maxText is the longest text that is taken from a DLL, in bytes.
const maxText = 4096

// errorText returns what a result code means, and whether the DLL has no words for it.
func (l *library) errorText(code int32) (text string, wordless bool) {
	words := l.errorWords(code)
	if own := map[int32]string{abi.NoInformation: "no information", abi.EndOfList: "end of list"}[code]; own != "" {
		if l.hasWordsFor(words) {
			return fmt.Sprintf("%s (%s)", own, words), false
		}
		return own, false
	}
	switch {
	case words != "":
		return fmt.Sprintf("%s (code %d)", words, code), false
	case code < abi.FirstUserCode:
		return fmt.Sprintf("code %d, which the interface does not define, and for which the DLL has no words", code), true
	}
	return fmt.Sprintf("code %d, for which the DLL has no words", code), true
}

// noCode is more than any code that a DLL has.
const noCode = 1 << 12

// hasWordsFor says whether the DLL's words for a code are not those that it has for any number.
func (l *library) hasWordsFor(words string) bool { return words != "" && words != l.errorWords(noCode) }

// isSilent reports whether the DLL's text for a result code is empty, as opposed to missing. That is how the DLLs of MPICH 1
// and LAM/MPI refuse a process of another MPI, or one that asks not to be shown (dll_mpich.c, dll_lam.c).
func (l *library) isSilent(code int32) bool {
	text, ok := cString(l.call(abi.DLLErrorString, uintptr(uint32(code))), maxText)
	return ok && text == ""
}

// errorWords are what the DLL says of a result code, empty if nothing.
func (l *library) errorWords(code int32) string {
	text, _ := cString(l.call(abi.DLLErrorString, uintptr(uint32(code))), maxText)
	return text
}

// failure is an entry point's failure.
type failure struct {
	text     string
	wordless bool // the DLL has no words for the result code
}

func (f *failure) Error() string { return f.text }

// failure returns the failure of an entry point.
func (l *library) failure(e abi.Entry, code int32) error {
	text, wordless := l.errorText(code)
	return &failure{fmt.Sprintf("%s failed: %s", e, text), wordless}
}

// address is that of a Go variable, for the DLL to write to while it is called.
func address[T any](v *T) uintptr { return uintptr(unsafe.Pointer(v)) }
