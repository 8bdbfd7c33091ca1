package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/encoding"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/multi"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// ReportDOT writes the graphs of a report in the language of Graphviz.
func ReportDOT(w io.Writer, r *waitfor.Report) error {
	p := newPicture(r)
	all := newDOTGraph("job", &p.groups, 0)
	first := len(p.groups.nodes)
	for i := range p.cycles {
		all.clusters = append(all.clusters, newDOTGraph(fmt.Sprintf("cluster_%d", i), &p.cycles[i], first))
		first += len(p.cycles[i].nodes)
	}
	text, err := dot.MarshalMulti(all, "", "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// dotColors are the colours of the queues: those that other tools use.
var dotColors = map[string]string{"send": "#1a7f37", "receive": "#0969da", "unexpected": "#cf222e", "collective": "#8250df"}

// dotFills are the colours of the states that stand out.
var dotFills = map[waitfor.State]string{waitfor.InDeadlock: "#ffebe9", waitfor.Stuck: "#fff5d6", waitfor.Running: "#e2f5e6"}

// dotGraph is a graphic in the form that gonum writes.
type dotGraph struct {
	*multi.DirectedGraph
	id, title string
	clusters  []dot.Multigraph
}

// newDOTGraph returns the graph of a graphic. Its nodes have the numbers from first on.
func newDOTGraph(id string, g *graphic, first int) *dotGraph {
	out := &dotGraph{DirectedGraph: multi.NewDirectedGraph(), id: id, title: g.title}
	nodes := make([]dotNode, len(g.nodes))
	for i := range g.nodes {
		nodes[i] = dotNode{int64(first + i), &g.nodes[i]}
		out.AddNode(nodes[i])
	}
	for i := range g.edges {
		e := &g.edges[i]
		out.SetLine(dotLine{multi.Line{F: nodes[e.from], T: nodes[e.to], UID: int64(i)}, e})
	}
	return out
}

// DOTID returns the name of the graph.
func (g *dotGraph) DOTID() string { return g.id }

// Structure returns the graphs of the cycles.
func (g *dotGraph) Structure() []dot.Multigraph { return g.clusters }

// DOTAttributers returns the attributes of the graph, and of all its nodes and edges.
func (g *dotGraph) DOTAttributers() (graph, node, edge encoding.Attributer) {
	return attributes{{Key: "label", Value: dotQuote(g.title)}, {Key: "rankdir", Value: "LR"}, {Key: "fontname", Value: `"sans-serif"`}},
		attributes{{Key: "shape", Value: "box"}, {Key: "style", Value: `"rounded,filled"`}, {Key: "fillcolor", Value: `"#f6f8fa"`}, {Key: "fontname", Value: `"sans-serif"`}},
		attributes{{Key: "fontname", Value: `"sans-serif"`}, {Key: "fontsize", Value: "10"}}
}

// attributes implement gonum's interface for attributes.
type attributes []encoding.Attribute

// Attributes returns the attributes.
func (a attributes) Attributes() []encoding.Attribute { return a }

type dotNode struct {
	id int64
	*node
}

func (n dotNode) ID() int64     { return n.id }
func (n dotNode) DOTID() string { return "n" + strconv.FormatInt(n.id, 10) }
func (n dotNode) Attributes() []encoding.Attribute {
	label := append([]string{n.title}, n.lines...)
	out := attributes{{Key: "label", Value: dotQuote(strings.Join(label, "\n"))}, {Key: "tooltip", Value: dotQuote(n.full)}}
	if fill := dotFills[n.state]; fill != "" {
		out = append(out, encoding.Attribute{Key: "fillcolor", Value: dotQuote(fill)})
	}
	return out
}

type dotLine struct {
	multi.Line
	*edge
}

func (l dotLine) ReversedLine() graph.Line {
	return dotLine{multi.Line{F: l.To(), T: l.From(), UID: l.UID}, l.edge}
}

// Attributes returns the colour of the edge's queue, and its text.
func (l dotLine) Attributes() []encoding.Attribute {
	out := attributes{{Key: "color", Value: dotQuote(dotColors[l.queueOf()])}, {Key: "label", Value: dotQuote(l.text)}}
	if l.inCycle {
		out = append(out, encoding.Attribute{Key: "penwidth", Value: "3"})
	}
	return out
}

// dotQuote quotes a string. Its lines are kept, and nothing else in it has a meaning.
func dotQuote(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(printable.Line(line))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}
