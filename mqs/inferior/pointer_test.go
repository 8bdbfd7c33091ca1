package inferior_test

import (
	"context"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
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

// A member leads back to the object that it is in, and an array of pointers is read as what they point to.
func TestContainerOf(t *testing.T) {
	type link struct{}
	type item struct {
		Link inferior.Embedded[link] `c:"link"`
		Gone inferior.Embedded[link] `c:"gone,optional"`
	}
	p := inferiortest.New()
	p.Types["item_t"] = &layout.Layout{Size: 32, Fields: map[string]layout.Field{"link": field(24, 8, layout.KindStruct)}}
	p.Memory[0x1000] = []byte{0: 0x18, 1: 0x20, 8: 0x78, 9: 0x30, 15: 0}
	r := inferior.NewReader(context.Background(), p)
	var bound struct {
		Item inferior.Struct[item] `c:"item_t"`
	}
	l, err := inferior.FromDebugInfo(r, inferior.Queries(&bound))
	if err != nil {
		t.Fatal(err)
	}
	if err := inferior.Bind(&bound, l); err != nil {
		t.Fatal(err)
	}
	links, err := inferior.ReadPointers(r, inferior.Ptr[inferior.Ptr[link]](0x1000), 2)
	if err != nil || !slices.Equal(links, []inferior.Ptr[link]{0x2018, 0x3078}) {
		t.Fatalf("%v, %v", links, err)
	}
	if got := inferior.ContainerOf(&bound.Item, links[0], func(i *item) *inferior.Embedded[link] { return &i.Link }); got != 0x2000 {
		t.Errorf("it is in the item at %s", got)
	}
	if got := inferior.ContainerOf(&bound.Item, links[0], func(i *item) *inferior.Embedded[link] { return &i.Gone }); got != 0 {
		t.Errorf("it is in the item at %s, which lacks the member", got)
	}
}
