package bridge

// windowSize is how many bytes the window holds: what one call reads at most.
const windowSize = 4 << 20

// window is the memory that the helper shares with the debugger, as long as
// they talk; a nil window is one that the system could not give.
type window struct {
	path  string
	bytes []byte
	fd    int
}

func (w *window) describe() *Window {
	if w == nil {
		return nil
	}
	return &Window{Path: w.path, Size: len(w.bytes)}
}
