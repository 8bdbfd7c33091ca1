// Package mutation measures how many changes of operators the quick tests notice, and names each error of a decoder that no test has seen.
//
// All mutants of some packages are in one build, in which the environment says which of them is alive: it is compiled
// once, and each mutant takes a run of those tests that come to it.
package mutation

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mutant is one change of an operator.
type mutant struct {
	id     int
	where  string // FILE:LINE:COLUMN
	change string // the operator, and what it is changed into
	pack   string // the import path of its package
}

func (m mutant) String() string { return fmt.Sprintf("%d %s: %s", m.id, m.where, m.change) }

// others are what an operator is changed into.
var others = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.AND: {token.OR}, token.OR: {token.AND}, token.XOR: {token.AND}, token.AND_NOT: {token.AND},
	token.SHL: {token.SHR}, token.SHR: {token.SHL},
	token.INC: {token.DEC}, token.DEC: {token.INC},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN}, token.OR_ASSIGN: {token.AND_ASSIGN},
	token.AND_ASSIGN: {token.OR_ASSIGN}, token.AND_NOT_ASSIGN: {token.OR_ASSIGN},
}

// source is a file that is given mutants.
type source struct {
	fset *token.FileSet
	info *types.Info
	pack *types.Package
	name string // of the file
	text []byte

	next    int // the id of the next mutant
	mutants []mutant
	edits   []edit
}

// edit is text that takes the place of some of the source.
type edit struct {
	from, to int
	text     string
}

// runtimeName is what a mutated file calls the package that chooses the mutant.
const runtimeName = "mutant__"

// mutate returns the file with all its mutants, nil if it has none.
func (s *source) mutate(f *ast.File, runtime string) ([]byte, error) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			s.statements(fn.Body)
		}
	}
	if s.mutants == nil {
		return nil, nil
	}
	at := s.offset(f.Name.End())
	s.edits = append(s.edits, edit{at, at, fmt.Sprintf("\nimport %s %q\n", runtimeName, runtime)})
	out, err := format.Source([]byte(s.apply(0, len(s.text), s.edits)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return out, nil
}

func (s *source) offset(p token.Pos) int { return s.fset.Position(p).Offset }

// apply returns a part of the source with those of the edits that are in it, none of which is in another.
func (s *source) apply(from, to int, edits []edit) string {
	var inside []edit
	for _, e := range edits {
		if e.from >= from && e.to <= to {
			inside = append(inside, e)
		}
	}
	slices.SortFunc(inside, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var b bytes.Buffer
	for _, e := range inside {
		b.Write(s.text[from:e.from])
		b.WriteString(e.text)
		from = e.to
	}
	b.Write(s.text[from:to])
	return b.String()
}

// plain is the source of a node.
func (s *source) plain(n ast.Node) string { return string(s.text[s.offset(n.Pos()):s.offset(n.End())]) }

// edited is the source of a node with the edits that there are in it so far.
func (s *source) edited(n ast.Node) string {
	return s.apply(s.offset(n.Pos()), s.offset(n.End()), s.edits)
}

// add makes a mutant and returns its id.
func (s *source) add(at token.Pos, change string) int {
	p := s.fset.Position(at)
	s.next++
	s.mutants = append(s.mutants, mutant{s.next, fmt.Sprintf("%s:%d:%d", s.name, p.Line, p.Column), change, s.pack.Path()})
	return s.next
}

// replace replaces a node, with all the edits that are in it.
func (s *source) replace(n ast.Node, text string) {
	from, to := s.offset(n.Pos()), s.offset(n.End())
	s.edits = slices.DeleteFunc(s.edits, func(e edit) bool { return e.from >= from && e.to <= to })
	s.edits = append(s.edits, edit{from, to, text})
}

// statements mutates all that is in a function, the innermost first.
func (s *source) statements(body ast.Node) {
	var open []ast.Node
	ast.Inspect(body, func(n ast.Node) bool {
		if n != nil {
			open = append(open, n)
			return true
		}
		last := len(open) - 1
		s.node(open[last])
		open = open[:last]
		return true
	})
}

func (s *source) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		s.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT && s.isMutable(n) && s.isBool(n) {
			id := s.add(n.OpPos, "! is left out")
			s.replace(n, fmt.Sprintf("%s.Bool(%d, func() bool { return %s }, func() bool { return %s })", runtimeName, id, s.plain(n.X), s.edited(n)))
		}
	case *ast.IncDecStmt:
		s.statement(n, n.TokPos, n.Tok, s.plain(n.X)+others[n.Tok][0].String())
	case *ast.AssignStmt:
		if to := others[n.Tok]; len(n.Lhs) == 1 && len(to) > 0 && s.isNumber(n.Lhs[0]) {
			s.statement(n, n.TokPos, n.Tok, s.plain(n.Lhs[0])+to[0].String()+s.plain(n.Rhs[0]))
		}
	}
}

// isMutable is true of what is no constant.
func (s *source) isMutable(e ast.Expr) bool {
	t, ok := s.info.Types[e]
	return ok && t.Value == nil && t.Type != nil
}

func (s *source) isNumber(e ast.Expr) bool {
	basic, ok := s.info.TypeOf(e).Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0
}

// statement mutates a statement. That of a for clause can't have another shape.
func (s *source) statement(n ast.Stmt, at token.Pos, was token.Token, mutated string) {
	if s.isInClause(n) {
		return
	}
	id := s.add(at, fmt.Sprintf("%s becomes %s", was, others[was][0]))
	s.replace(n, fmt.Sprintf("if %s.Is(%d) { %s } else { %s }", runtimeName, id, mutated, s.edited(n)))
}

// isInClause says whether a statement stands in a for or if clause: there is a brace or a semicolon behind it in its line.
func (s *source) isInClause(n ast.Stmt) bool {
	rest, _, _ := strings.Cut(string(s.text[s.offset(n.End()):]), "\n")
	rest, _, _ = strings.Cut(rest, "//")
	return strings.TrimSpace(rest) != ""
}

// binary mutates an operator with two operands.
func (s *source) binary(n *ast.BinaryExpr) {
	if !s.isMutable(n) {
		return
	}
	if basic, ok := s.info.TypeOf(n).Underlying().(*types.Basic); !ok || basic.Info()&types.IsString != 0 {
		return // texts are put together
	}
	for _, to := range others[n.Op] {
		if to == token.QUO || to == token.AND && basicFloat(s.info.TypeOf(n)) {
			continue // by zero, which is no matter of the operator
		}
		id := s.add(n.OpPos, fmt.Sprintf("%s becomes %s", n.Op, to))
		original, mutated := s.edited(n), s.plain(n.X)+" "+to.String()+" "+s.plain(n.Y)
		if s.isBool(n) {
			s.replace(n, fmt.Sprintf("%s.Bool(%d, func() bool { return %s }, func() bool { return %s })", runtimeName, id, mutated, original))
			continue
		}
		name := types.TypeString(s.info.TypeOf(n), s.qualifier)
		if strings.Contains(name, "?") {
			s.mutants, s.next = s.mutants[:len(s.mutants)-1], s.next-1
			continue
		}
		s.replace(n, fmt.Sprintf("%s.Of(%d, func() %s { return %s }, func() %s { return %s })", runtimeName, id, name, mutated, name, original))
	}
}

func basicFloat(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsFloat != 0
}

func (s *source) isBool(e ast.Expr) bool {
	basic, ok := s.info.TypeOf(e).(*types.Basic)
	return ok && basic.Info()&types.IsBoolean != 0
}

// qualifier writes the types of this package and those of packages whose names the file can have, by their last part; "?"
// for others.
func (s *source) qualifier(p *types.Package) string {
	switch {
	case p == s.pack:
		return ""
	case bytes.Contains(s.text, []byte(p.Path()+`"`)):
		return p.Name()
	}
	return "?"
}
