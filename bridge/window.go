package bridge

// windowSize is how many bytes the window holds: what one call reads at most.
const windowSize = 4 << 20

// window is the memory that the helper shares with the debugger; a nil window
// is one that the system could not give.
type window struct {
	path  string
	bytes []byte
	free  func()
}

// shared is true if there is a window.
func (w *window) shared() bool { return w != nil }

func (w *window) describe() *Window {
	if w == nil {
		return nil
	}
	return &Window{Path: w.path, Size: len(w.bytes)}
}

func (w *window) close() {
	if w != nil {
		w.free()
	}
}
