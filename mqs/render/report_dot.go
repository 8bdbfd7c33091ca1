package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// ReportDOT writes the graphs of a report in the language of Graphviz.
func ReportDOT(w io.Writer, r *waitfor.Report) error {
	p := newPicture(r)
	d := &dotWriter{}
	d.line("digraph job {")
	d.attributesOfAll(&p.groups)
	first := len(p.groups.nodes)
	for i := range p.cycles {
		g := &p.cycles[i]
		d.line(fmt.Sprintf("subgraph cluster_%d {", i))
		d.attributesOfAll(g)
		d.nodesAndEdges(g, first)
		d.line("}")
		first += len(g.nodes)
	}
	d.nodesAndEdges(&p.groups, 0)
	d.line("}")
	_, err := w.Write(d.text)
	return err
}

// dotColors are the colours of the queues: those that other tools use.
var dotColors = map[string]string{"send": "#1a7f37", "receive": "#0969da", "unexpected": "#cf222e", "collective": "#8250df"}

// dotFills are the colours of the states that stand out.
var dotFills = map[waitfor.State]string{waitfor.InDeadlock: "#ffebe9", waitfor.Stuck: "#fff5d6", waitfor.Running: "#e2f5e6"}

// dotWriter writes lines that are indented by the braces and brackets that are open.
type dotWriter struct {
	text  []byte
	depth int
}

func (d *dotWriter) line(text string) {
	if strings.IndexByte("}]", text[0]) >= 0 {
		d.depth--
	}
	d.text = append(d.text, strings.Repeat("  ", d.depth)...)
	d.text = append(append(d.text, text...), '\n')
	if strings.IndexByte("{[", text[len(text)-1]) >= 0 {
		d.depth++
	}
}

// attributes writes the attributes of something, which are names and values in turns.
func (d *dotWriter) attributes(of string, words ...string) {
	d.line(of + " [")
	for i := 0; i < len(words); i += 2 {
		d.line(words[i] + "=" + words[i+1])
	}
	d.line("];")
}

// attributesOfAll writes the attributes of a graph, and of all its nodes and edges.
func (d *dotWriter) attributesOfAll(g *graphic) {
	d.attributes("graph", "label", dotQuote(g.title), "rankdir", "LR", "fontname", `"sans-serif"`)
	d.attributes("node", "shape", "box", "style", `"rounded,filled"`, "fillcolor", `"#f6f8fa"`, "fontname", `"sans-serif"`)
	d.attributes("edge", "fontname", `"sans-serif"`, "fontsize", "10")
	d.text = append(d.text, '\n')
}

// nodesAndEdges writes the nodes of a graphic, which have the numbers from first on, and its edges.
func (d *dotWriter) nodesAndEdges(g *graphic, first int) {
	name := func(i int) string { return "n" + strconv.Itoa(first+i) }
	if len(g.nodes) > 0 {
		d.line("// Node definitions.")
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		label := append([]string{n.title}, n.lines...)
		words := []string{"label", dotQuote(strings.Join(label, "\n")), "tooltip", dotQuote(n.full)}
		if fill := dotFills[n.state]; fill != "" {
			words = append(words, "fillcolor", dotQuote(fill))
		}
		d.attributes(name(i), words...)
	}
	if len(g.edges) == 0 {
		return
	}
	d.text = append(d.text, '\n')
	d.line("// Edge definitions.")
	order := make([]int, len(g.edges))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(g.edges[a].from, g.edges[b].from), cmp.Compare(g.edges[a].to, g.edges[b].to))
	})
	for _, i := range order {
		e := &g.edges[i]
		words := []string{"color", dotQuote(dotColors[e.queueOf()]), "label", dotQuote(e.text)}
		if e.inCycle {
			words = append(words, "penwidth", "3")
		}
		d.attributes(name(e.from)+" -> "+name(e.to), words...)
	}
}

// dotQuote quotes a string. Its lines are kept, and nothing else in it has a meaning.
func dotQuote(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(printable.Line(line))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}
