package render

import (
	"bufio"
	"strings"
	"unicode/utf8"
)

// table aligns cells in columns. text/tabwriter does so too, but it takes five times as long, which is
// half of a command that shows a hundred thousand operations, and it ends lines with blanks.
type table struct {
	text   []byte
	ends   []int // where each cell ends in text, row by row
	widths []int // of the columns, in characters
}

func newTable(columns int) *table { return &table{widths: make([]int, columns)} }

// cell adds the next cell, in a new row if the last one is full.
func (t *table) cell(s string) {
	col := len(t.ends) % len(t.widths)
	t.widths[col] = max(t.widths[col], utf8.RuneCountInString(s))
	t.text = append(t.text, s...)
	t.ends = append(t.ends, len(t.text))
}

var blanks = strings.Repeat(" ", 128)

// write writes the rows, two blanks between columns and none at the end.
func (t *table) write(w *bufio.Writer, indent string) {
	start, pending := 0, 0
	for i, end := range t.ends {
		col := i % len(t.widths)
		if col == 0 {
			w.WriteString(indent)
			pending = 0
		}
		cell := t.text[start:end]
		start = end
		if len(cell) > 0 {
			for ; pending > len(blanks); pending -= len(blanks) {
				w.WriteString(blanks)
			}
			w.WriteString(blanks[:pending])
			_, _ = w.Write(cell) // bufio keeps the error until Flush
			pending = 0
		}
		pending += t.widths[col] + 2 - utf8.RuneCount(cell)
		if col == len(t.widths)-1 {
			w.WriteString("\n")
		}
	}
}
