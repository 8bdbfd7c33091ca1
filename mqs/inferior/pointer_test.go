package inferior_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// A pointer is read as what it points to and as nothing else: the compiler refuses the rest.
func TestPointersAreNotMixed(t *testing.T) {
	const before = `package p
import "github.com/mpi-queues/mpi-queues/mqs/inferior"
type group struct { Size int32 ` + "`c:\"size\"`" + ` }
type comm struct {
	Group inferior.Ptr[group] ` + "`c:\"group\"`" + `
	Own   inferior.Embedded[group] ` + "`c:\"own\"`" + `
	PML   inferior.Ptr[struct{}] ` + "`c:\"pml\"`" + `
}
func f(r *inferior.Reader, s *inferior.Struct[group], c comm) {
	var err error
	`
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "source", nil)
	for line, compiles := range map[string]bool{
		"_, err = s.Read(r, c.Group)":     true,
		"_, err = s.Read(r, c.Own.Ptr())": true,
		"_, err = s.Read(r, c.PML)":       false,
		"_, err = s.Read(r, c.Own)":       false,
	} {
		f, err := parser.ParseFile(fset, "p.go", before+line+"\n_ = err\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		conf := types.Config{Importer: from}
		if _, err := conf.Check("p", fset, []*ast.File{f}, nil); (err == nil) != compiles {
			t.Errorf("%s: %v", line, err)
		}
	}
}
