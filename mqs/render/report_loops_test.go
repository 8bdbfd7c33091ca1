package render

import (
	"bytes"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// looped are reports in which groups of ranks wait for others of the same group.
func looped() map[string]*waitfor.Report {
	send, receive := mqs.Known(mqs.PendingSends), mqs.Known(mqs.PendingReceives)
	const text = `tag 7 on "halo exchange of the ocean"`
	group := func(first int32, call string) waitfor.Group {
		return waitfor.Group{Ranks: []int32{first, first + 1, first + 2}, State: waitfor.InDeadlock, Call: call, File: "ring.c", Line: int(first) + 10, Text: call}
	}
	loop := func(at int, class mqs.Maybe[mqs.OpClass]) waitfor.Edge {
		return waitfor.Edge{From: at, To: at, Class: class, Count: 3, InCycle: true, Text: text}
	}
	none := mqs.Maybe[mqs.OpClass]{}
	return map[string]*waitfor.Report{
		"one":                {Groups: []waitfor.Group{group(0, "MPI_Waitall")}, Edges: []waitfor.Edge{loop(0, receive)}},
		"three loops on one": {Groups: []waitfor.Group{group(0, "MPI_Waitall")}, Edges: []waitfor.Edge{loop(0, receive), loop(0, send), loop(0, none)}},
		"five alone": {Groups: []waitfor.Group{group(0, "MPI_Waitall"), group(3, "MPI_Recv"), group(6, "MPI_Send"), group(9, "MPI_Send"), group(12, "MPI_Send")},
			Edges: []waitfor.Edge{loop(0, receive), loop(0, send), loop(1, receive), loop(2, send), loop(3, send), loop(4, send)}},
		"in a circle and behind it": {Groups: []waitfor.Group{group(0, "MPI_Waitall"), group(3, "MPI_Recv"), group(6, "MPI_Send"), group(9, "MPI_Send")},
			Edges: []waitfor.Edge{loop(0, receive), loop(1, receive), loop(2, send), loop(3, send), loop(3, receive),
				{From: 0, To: 1, Class: receive, Count: 1, Text: text}, {From: 1, To: 0, Class: receive, Count: 1, Text: text},
				{From: 2, To: 0, Class: send, Count: 1, Text: text}, {From: 3, To: 0, Class: send, Count: 1, Text: text}}},
	}
}

// box is what something takes of a picture.
type box struct {
	what                     string
	left, top, right, bottom float64
}

func (b box) overlaps(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

// Texts of a picture, by their places, anchors and sizes.
var (
	textsOf = regexp.MustCompile(`(?s)<text class="([a-z ]+)"( text-anchor="middle")?(?: x="([-0-9.]+)" y="([-0-9.]+)")?>(.*?)</text>`)
	spans   = regexp.MustCompile(`<tspan x="([-0-9.]+)" y="([-0-9.]+)">(.*?)</tspan>`)
	rects   = regexp.MustCompile(`<title>[^<]*</title><rect x="([-0-9.]+)" y="([-0-9.]+)" width="([-0-9.]+)" height="([-0-9.]+)"`)
	moves   = regexp.MustCompile(`<g transform="translate\(([-0-9.]+) ([-0-9.]+)\)">`)
)

func number64(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// boxes are those of the headings, labels and nodes of a picture with one graphic.
func boxes(t *testing.T, svg string) []box {
	t.Helper()
	var out []box
	m := moves.FindStringSubmatch(svg)
	dx, dy := number64(t, m[1]), number64(t, m[2])
	line := func(what, text string, x, y, size float64, isMiddle bool) {
		width := 0.53 * size * float64(len([]rune(html.UnescapeString(text)))) // as wide as a sans-serif font is
		if isMiddle {
			x -= width / 2
		}
		out = append(out, box{what + " " + text, x, y - 0.8*size, x + width, y + 0.2*size})
	}
	for _, m := range textsOf.FindAllStringSubmatch(svg, -1) {
		switch {
		case m[1] == "heading":
			line("heading", m[5], number64(t, m[3]), number64(t, m[4]), 15, false)
		case strings.HasPrefix(m[1], "label"):
			for _, s := range spans.FindAllStringSubmatch(m[5], -1) {
				line(m[1], s[3], number64(t, s[1])+dx, number64(t, s[2])+dy, 11, m[2] != "")
			}
		}
	}
	for _, m := range rects.FindAllStringSubmatch(svg, -1) {
		x, y := number64(t, m[1])+dx, number64(t, m[2])+dy
		out = append(out, box{"node", x, y, x + number64(t, m[3]), y + number64(t, m[4])})
	}
	return out
}

// Whatever waits for itself: its text covers no heading, no node and no other text, and is
// within the picture.
func TestTextsOfLoopsCoverNothing(t *testing.T) {
	size := regexp.MustCompile(`<svg [^>]*width="([0-9.]+)" height="([0-9.]+)"`)
	for name, r := range looped() {
		var b bytes.Buffer
		if err := ReportSVG(&b, r); err != nil {
			t.Fatal(err)
		}
		all := boxes(t, b.String())
		m := size.FindStringSubmatch(b.String())
		width, height := number64(t, m[1]), number64(t, m[2])
		labels := 0
		for i, a := range all {
			if strings.HasPrefix(a.what, "label") {
				labels++
			}
			if a.left < 0 || a.top < 0 || a.right > width || a.bottom > height {
				t.Errorf("%s: %+v is not within the picture", name, a)
			}
			for _, o := range all[:i] {
				if a.overlaps(o) {
					t.Errorf("%s: %+v and %+v overlap", name, a, o)
				}
			}
		}
		if labels < len(r.Edges) {
			t.Errorf("%s: %d lines of labels of %d edges", name, labels, len(r.Edges))
		}
	}
}
