package render

import (
	"bufio"
	"slices"
	"strings"
	"unicode/utf8"
)

// table aligns cells in columns. text/tabwriter does so too, but it takes five times as long, which is
// half of a command that shows a hundred thousand operations, and it ends lines with blanks.
type table struct {
	text   []byte
	cells  []cell // row by row
	widths []int  // of the columns, in characters
}

// cell is where a cell ends in a table's text, and how many characters it has.
type cell struct{ end, width int }

func newTable(columns int) *table { return &table{widths: make([]int, columns)} }

// grow makes room for so many more rows, so that what is there need not be moved when they come.
func (t *table) grow(rows int) {
	const usual = 8 // characters of a cell
	n := rows * len(t.widths)
	t.cells, t.text = slices.Grow(t.cells, n), slices.Grow(t.text, n*usual)
}

// cell adds the next cell, in a new row if the last one is full.
func (t *table) cell(s string) {
	col := len(t.cells) % len(t.widths)
	width := utf8.RuneCountInString(s)
	t.widths[col] = max(t.widths[col], width)
	t.text = append(t.text, s...)
	t.cells = append(t.cells, cell{len(t.text), width})
}

var blanks = strings.Repeat(" ", 128)

// write writes the rows, two blanks between columns and none at the end.
func (t *table) write(w *bufio.Writer, indent string) {
	start := 0
	for row := t.cells; len(row) > 0; row = row[len(t.widths):] {
		w.WriteString(indent)
		pending := 0
		for col, c := range row[:len(t.widths)] {
			text := t.text[start:c.end]
			start = c.end
			if len(text) > 0 {
				for ; pending > len(blanks); pending -= len(blanks) {
					w.WriteString(blanks)
				}
				w.WriteString(blanks[:pending])
				_, _ = w.Write(text) // bufio keeps the error until Flush
				pending = 0
			}
			pending += t.widths[col] + 2 - c.width
		}
		w.WriteString("\n")
	}
}
