package render

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

//go:embed report/picture.css
var pictureStyle string

// Distances in a picture beyond those of its nodes.
const (
	margin       = 24.0
	headingSpace = 46.0
	legendSpace  = 62.0
	narrowest    = 880.0
	// mostTexts is the number of edges up to which edges have texts.
	mostTexts = 24
)

// ReportSVG draws the picture of a report.
func ReportSVG(w io.Writer, r *waitfor.Report) error {
	_, err := io.WriteString(w, newPicture(r).svg(true)+"\n")
	return err
}

// svg draws the picture, with its style sheet if it stands alone.
func (p picture) svg(alone bool) string {
	graphics := p.cycles
	if len(p.groups.nodes) > 0 {
		graphics = append(graphics[:len(graphics):len(graphics)], p.groups)
	}
	var body svgWriter
	width, y := narrowest, margin
	for i := range graphics {
		l := arrange(&graphics[i])
		body.printf(`<text class="heading" x="%g" y="%g">%s</text>`+"\n", margin, y+14, svgText(graphics[i].title, 90))
		body.graphic(&graphics[i], l, margin, y+headingSpace)
		y += headingSpace + l.height + partGap
		width = max(width, l.width+2*margin)
	}
	if p.moreCycles > 0 {
		body.printf(`<text class="soft" x="%g" y="%g">%d more deadlocks are not drawn.</text>`+"\n", margin, y, p.moreCycles)
		y += headingSpace
	}
	body.legend(y)
	y += legendSpace
	var out svgWriter
	out.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="picture" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" aria-label="Who waits for whom">`+"\n", width, y, width, y)
	if alone {
		out.printf("<style>\n%s</style>\n", pictureStyle)
	}
	out.printf("<defs>\n")
	for _, queue := range queueWords {
		out.printf(`<marker id="to-%s" class="%s" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="11" markerHeight="11" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.8L10 5L0 9.2z"/></marker>`+"\n", queue.word, queue.word)
	}
	out.printf("</defs>\n<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n%s</svg>", body.String())
	return out.String()
}

// queueWords are the words for queues in styles, each with its text in the legend.
var queueWords = []struct{ word, legend string }{
	{"send", "waits with a send"},
	{"receive", "with a receive"},
	{"unexpected", "with an unexpected message"},
	{"collective", "in a collective call"},
}

// stateWords are the words for states in style sheets.
var stateWords = map[waitfor.State]string{
	waitfor.InDeadlock: "deadlocked", waitfor.Stuck: "stuck", waitfor.Waiting: "waiting", waitfor.Running: "running",
	waitfor.Ended: "ended", waitfor.Unreadable: "unreadable", waitfor.Uncertain: "uncertain", waitfor.BlockedOutside: "outside", waitfor.Stopped: "stopped", "": "several",
}

type svgWriter struct{ strings.Builder }

func (w *svgWriter) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

func (w *svgWriter) graphic(g *graphic, l layout, x, y float64) {
	w.printf(`<g transform="translate(%g %g)">`+"\n", x, y)
	beside := map[[2]int]int{} // edges so far from one node to another
	labels := make([]label, len(g.edges))
	for i := range g.edges {
		e := &g.edges[i]
		key := [2]int{e.from, e.to}
		c := curveOf(l.at[e.from], l.at[e.to], beside[key])
		if labels[i] = labelOf(e, c); e.from == e.to {
			labels[i] = loopLabel(e, l.at[e.from], beside[key])
		}
		beside[key]++
		w.edge(g, e, c)
	}
	for i := range g.nodes {
		n, at := &g.nodes[i], l.at[i]
		group := ""
		if n.group >= 0 {
			group = fmt.Sprintf(` data-group="%d"`, n.group)
		}
		if n.rank.Known {
			group += fmt.Sprintf(` data-rank="%d"`, n.rank.Value)
		}
		w.printf(`<g class="node %s"%s><title>%s</title><rect x="%.1f" y="%.1f" width="%g" height="%g" rx="8"/>`,
			stateWords[n.state], group, svgText(n.full, 400), at.x-nodeWidth/2, at.y-nodeHeight/2, nodeWidth, nodeHeight)
		w.printf(`<text class="title" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`, at.x, at.y-11, svgText(n.title, 25))
		for k, line := range n.lines {
			w.printf(`<text class="soft" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`, at.x, at.y+6+15*float64(k), svgText(line, 25))
		}
		w.printf("</g>\n")
	}
	for i := range g.edges { // above all lines
		// A collective call is named in its node.
		if e := &g.edges[i]; e.text != "" && g.hasTexts() && (e.class.Known || e.inCycle) {
			w.label(e, labels[i])
		}
	}
	w.printf("</g>\n")
}

// hasTexts says whether there is room for texts of edges.
func (g *graphic) hasTexts() bool { return len(g.edges) <= mostTexts }

func (w *svgWriter) edge(g *graphic, e *edge, c curve) {
	cycle := ""
	if e.inCycle {
		cycle = " cycle"
	}
	full := fmt.Sprintf("%s to %s: %s", g.nodes[e.from].title, g.nodes[e.to].title, e.text)
	if e.count > 1 {
		full += fmt.Sprintf(" (%d pairs of ranks)", e.count)
	}
	w.printf(`<g class="edge %s%s"><title>%s</title><path d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f" marker-end="url(#to-%s)"/></g>`+"\n",
		e.queueOf(), cycle, svgText(full, 400), c[0].x, c[0].y, c[1].x, c[1].y, c[2].x, c[2].y, c[3].x, c[3].y, e.queueOf())
}

// label is the text of an edge: its lines, the position of the first, and which part of a line is at
// this position.
type label struct {
	lines  []string
	at     point
	anchor string
}

// lineHeight is the height of a label's line.
const lineHeight = 13.0

// labelOf returns the label of an edge, beside the middle of its bend, in at most two lines.
func labelOf(e *edge, c curve) label {
	l := label{lines: inTwoLines(printable.Line(e.text), mostLabel), at: c.beside(12), anchor: "middle"}
	away := l.at.x - (c[0].x+c[3].x)/2
	if math.Abs(away) > 0.4*math.Abs(l.at.y-(c[0].y+c[3].y)/2) {
		l.anchor = map[bool]string{true: "start", false: "end"}[away > 0]
	}
	if l.at.y < (c[0].y+c[3].y)/2 {
		l.at.y -= lineHeight * float64(len(l.lines)-1)
	}
	l.at.y += 4
	return l
}

// loopLabel returns the label of an edge from a node to itself, above the earlier ones.
func loopLabel(e *edge, node point, beside int) label {
	l := label{lines: inTwoLines(printable.Line(e.text), mostLabel), anchor: "middle"}
	bottom := node.y - nodeHeight/2 - loopHeight - textHeight*float64(beside) - 4
	l.at = point{node.x, bottom - lineHeight*float64(len(l.lines)-1)}
	return l
}

func (w *svgWriter) label(e *edge, l label) {
	w.printf(`<text class="label %s" text-anchor="%s">`, e.queueOf(), l.anchor)
	for i, line := range l.lines {
		w.printf(`<tspan x="%.1f" y="%.1f">%s</tspan>`, l.at.x, l.at.y+lineHeight*float64(i), svgText(line, mostLabel))
	}
	w.printf("</text>\n")
}

// mostLabel is the number of characters in a line of a label.
const mostLabel = 26

// inTwoLines breaks a text after a word if it is longer than most characters.
func inTwoLines(s string, most int) []string {
	runes := []rune(s)
	if len(runes) <= most {
		return []string{s}
	}
	at := strings.LastIndexByte(string(runes[:most+1]), ' ')
	if at <= 0 {
		return []string{s}
	}
	return []string{s[:at], s[at+1:]}
}

func (w *svgWriter) legend(y float64) {
	x := margin
	for _, q := range queueWords {
		w.printf(`<g class="edge %s"><line x1="%g" y1="%g" x2="%g" y2="%g" stroke-width="3"/></g><text class="soft" x="%g" y="%g">%s</text>`+"\n",
			q.word, x, y, x+24, y, x+30, y+4, q.legend)
		x += 52 + 7*float64(len(q.legend))
	}
	x, y = margin, y+24
	for _, s := range []waitfor.State{waitfor.InDeadlock, waitfor.Stuck, waitfor.Waiting, waitfor.Running} {
		w.printf(`<g class="node %s"><rect x="%g" y="%g" width="24" height="14" rx="3"/></g><text class="soft" x="%g" y="%g">%s</text>`+"\n",
			stateWords[s], x, y-7, x+30, y+4, s)
		x += 52 + 7*float64(len(s))
	}
	w.printf(`<text class="soft" x="%g" y="%g">thick: the cycle of a deadlock; arrows go to the one waited for</text>`+"\n", x, y+4)
}

// curve is a cubic curve: its start, its two control points, and its end.
type curve [4]point

// curveOf returns a curve from one node to another. It is bent so that the curve back is apart from
// it, and bent more for each edge beside it.
func curveOf(from, to point, beside int) curve {
	if from == to {
		const wide, size = 22, loopHeight / 0.75
		x, y := from.x+[...]float64{0, -56, 56}[beside%3], from.y-nodeHeight/2
		return curve{{x - wide, y}, {x - wide - 10, y - size}, {x + wide + 10, y - size}, {x + wide, y}}
	}
	far := math.Hypot(to.x-from.x, to.y-from.y)
	along := point{(to.x - from.x) / far, (to.y - from.y) / far}
	aside := point{along.y, -along.x}
	start, end := nodeBorder(from, along, aside), nodeBorder(to, point{-along.x, -along.y}, aside)
	chord := point{end.x - start.x, end.y - start.y}
	bend := min(max(0.22*math.Hypot(chord.x, chord.y), 12), 60) + 34*float64(beside)
	return curve{start,
		{start.x + chord.x*0.3 + aside.x*bend, start.y + chord.y*0.3 + aside.y*bend},
		{end.x - chord.x*0.3 + aside.x*bend, end.y - chord.y*0.3 + aside.y*bend}, end}
}

// nodeBorder returns the point at which a line from beside a node's centre leaves the node.
func nodeBorder(middle, along, aside point) point {
	const shift, clear = 9, 2
	o := point{aside.x * shift, aside.y * shift}
	out := math.Inf(1)
	if along.x != 0 {
		out = (math.Copysign(nodeWidth/2+clear, along.x) - o.x) / along.x
	}
	if along.y != 0 {
		out = min(out, (math.Copysign(nodeHeight/2+clear, along.y)-o.y)/along.y)
	}
	return point{middle.x + o.x + along.x*out, middle.y + o.y + along.y*out}
}

// beside returns the point that is this far outside of the middle of the bend.
func (c curve) beside(far float64) point {
	x, y := (c[0].x+3*c[1].x+3*c[2].x+c[3].x)/8, (c[0].y+3*c[1].y+3*c[2].y+c[3].y)/8
	outX, outY := x-(c[0].x+c[3].x)/2, y-(c[0].y+c[3].y)/2
	part := far / max(math.Hypot(outX, outY), 1e-9)
	return point{x + outX*part, y + outY*part}
}

// svgText makes a text safe for XML, and at most as wide as most characters.
func svgText(s string, most int) string { return html.EscapeString(truncate(printable.Line(s), most)) }

// widthOf returns the width of a character. East Asian characters are as wide as two.
func widthOf(r rune) int {
	if r >= 0x1100 && r < 0x1200 || r >= 0x2e80 {
		return 2
	}
	return 1
}

// truncate shortens a text that is wider than most characters.
func truncate(s string, most int) string {
	width := 0
	end := 0 // where the ellipsis still fits
	for i, r := range s {
		if width < most {
			end = i
		}
		if width += widthOf(r); width > most {
			return s[:end] + "…"
		}
	}
	return s
}
