package render

import (
	"bytes"
	"io"
)

// trimmer drops the blanks that text/tabwriter leaves at the end of lines.
type trimmer struct {
	w    io.Writer
	held int // blanks that have come and are not written yet
}

var blanks = bytes.Repeat([]byte{' '}, 256)

func (t *trimmer) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		text := bytes.TrimLeft(b, " ")
		t.held += len(b) - len(text)
		if len(text) == 0 {
			break
		}
		if text[0] == '\n' {
			t.held = 0
		}
		for t.held > 0 {
			k := min(t.held, len(blanks))
			if _, err := t.w.Write(blanks[:k]); err != nil {
				return 0, err
			}
			t.held -= k
		}
		end := bytes.IndexByte(text, ' ')
		if end < 0 {
			end = len(text)
		}
		if line := bytes.IndexByte(text[1:end], '\n'); line >= 0 {
			end = line + 1
		}
		if _, err := t.w.Write(text[:end]); err != nil {
			return 0, err
		}
		b = text[end:]
	}
	return n, nil
}
