//go:build full

package mutation

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// claiming are the packages whose errors refuse a layout or memory: each of these errors claims something of the process.
var claiming = []string{"mqs/openmpi", "mqs/mpich", "mqs/transport", "mqs/callstack"}

// TestClaims fails for each claim that no test has violated: such a claim may be true of every process, or of none.
func TestClaims(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	var patterns []string
	for _, name := range claiming {
		patterns = append(patterns, "./"+name+"/...")
	}
	ran := cover(t, root, patterns)
	packs, err := list(root, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	claims := 0
	for _, p := range packs {
		if !isNamed(p.ImportPath, claiming) || strings.HasSuffix(p.ImportPath, "test") {
			continue
		}
		for _, name := range p.GoFiles {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			blocks := ran[p.ImportPath+"/"+name]
			for _, call := range claimsOf(f) {
				claims++
				at := fset.Position(call.Pos())
				if !slices.ContainsFunc(blocks, func(b block) bool { return b.has(at) }) {
					file, _ := filepath.Rel(root, at.Filename)
					t.Errorf("%s:%d: no test has seen this fail: %s", file, at.Line, text(call))
				}
			}
		}
	}
	t.Logf("%d claims", claims)
}

// claimsOf are the calls in functions of a file that make an error. Errors that variables of the package hold are compared, and
// made once.
func claimsOf(f *ast.File) (out []*ast.CallExpr) {
	for _, d := range f.Decls {
		if _, isFunc := d.(*ast.FuncDecl); !isFunc {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if s, ok := call.Fun.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && (x.Name == "fmt" && s.Sel.Name == "Errorf" || x.Name == "errors" && s.Sel.Name == "New") {
						out = append(out, call)
					}
				}
			}
			return true
		})
	}
	return out
}

// text is what an error says, as the source has it.
func text(call *ast.CallExpr) string {
	if l, ok := call.Args[0].(*ast.BasicLit); ok {
		return l.Value
	}
	return "an error"
}

// block is a piece of a file, from a line and a column to others.
type block struct{ line, column, endLine, endColumn int }

func (b block) has(at token.Position) bool {
	begins := cmp.Or(cmp.Compare(b.line, at.Line), cmp.Compare(b.column, at.Column))
	ends := cmp.Or(cmp.Compare(at.Line, b.endLine), cmp.Compare(at.Column, b.endColumn))
	return begins <= 0 && ends < 0
}

// cover runs the tests of all suites, and returns which blocks of the packages they came to, by the import paths of the files.
func cover(t *testing.T, root string, patterns []string) map[string][]block {
	profile := filepath.Join(t.TempDir(), "cover.out")
	args := []string{"test", "-vet=off", "-count=1", "-short", "-timeout=1h", "-coverpkg=" + strings.Join(patterns, ","), "-coverprofile=" + profile}
	for _, of := range suites {
		if pack := "./" + of.pack; !slices.Contains(args, pack) {
			args = append(args, pack)
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "MPI_QUEUES_TEST_WHOLE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]block{}
	for line := range strings.Lines(string(lines)) {
		file, rest, isBlock := strings.Cut(line, ".go:")
		if !isBlock {
			continue // the first line, which has the mode
		}
		var b block
		var statements, count int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.line, &b.column, &b.endLine, &b.endColumn, &statements, &count); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if count > 0 {
			out[file+".go"] = append(out[file+".go"], b)
		}
	}
	return out
}
