package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// sources are the protocol's, in package bridge.
var sources = []string{"protocol.go", "jobs.go", "callbacks.go"}

// module is what the import paths of the project's packages begin with.
const module = "github.com/mpi-queues/mpi-queues/"

// protocol is what the sources define, in their order.
type protocol struct {
	constants []constant
	messages  []message
}

type constant struct {
	name, value string
	doc         *ast.CommentGroup
}

// message is a struct of the protocol, or one of another package that it has a name for.
type message struct {
	name     string
	doc      *ast.CommentGroup
	fields   *ast.FieldList
	from     *pkg
	original string // its name in that package
}

// pkg is the source of a package.
type pkg struct {
	folder  string
	types   map[string]*ast.TypeSpec
	imports map[string]*pkg // of the project's, by the last part of their paths
}

// readProtocol reads package bridge, which is in a folder, and the packages that it imports.
func readProtocol(folder string) (*protocol, error) {
	bridge, files, err := readPackage(folder, filepath.Join(folder, ".."), sources)
	if err != nil {
		return nil, err
	}
	p := new(protocol)
	for _, file := range files {
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				if err := p.declaration(bridge, g); err != nil {
					return nil, err
				}
			}
		}
	}
	return p, nil
}

func (p *protocol) declaration(bridge *pkg, g *ast.GenDecl) error {
	for _, s := range g.Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			doc := s.Doc
			if doc == nil {
				doc = g.Doc
			}
			p.constants = append(p.constants, constant{s.Names[0].Name, s.Values[0].(*ast.BasicLit).Value, doc})
		case *ast.TypeSpec:
			m := message{name: s.Name.Name, doc: g.Doc, from: bridge, original: s.Name.Name}
			if alias, ok := s.Type.(*ast.SelectorExpr); ok {
				var err error
				if m.from, err = bridge.imported(alias.X.(*ast.Ident).Name); err != nil {
					return err
				}
				m.original = alias.Sel.Name
				if s = m.from.types[m.original]; s == nil {
					return fmt.Errorf("no type %s in %s", m.original, m.from.folder)
				}
			}
			t, ok := s.Type.(*ast.StructType)
			if !ok {
				return fmt.Errorf("%s is no struct", m.name)
			}
			m.fields = t.Fields
			p.messages = append(p.messages, m)
		}
	}
	return nil
}

// imported is one of the packages that a package imports.
func (p *pkg) imported(name string) (*pkg, error) {
	if p.imports[name] == nil {
		return nil, fmt.Errorf("%s imports no %s of the project", p.folder, name)
	}
	return p.imports[name], nil
}

// readPackage reads files of the package in a folder, all if it is given none, and what they
// import of the project, whose root is another folder.
func readPackage(folder, root string, names []string) (*pkg, []*ast.File, error) {
	if names == nil {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
				names = append(names, e.Name())
			}
		}
	}
	p := &pkg{folder, map[string]*ast.TypeSpec{}, map[string]*pkg{}}
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, name), nil, parser.ParseComments)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, file)
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					p.types[s.Name.Name] = s
				case *ast.ImportSpec:
					path, err := strconv.Unquote(s.Path.Value)
					if err != nil {
						return nil, nil, err
					}
					below, own := strings.CutPrefix(path, module)
					if !own || p.imports[filepath.Base(path)] != nil {
						continue
					}
					inner, _, err := readPackage(filepath.Join(root, below), root, nil)
					if err != nil {
						return nil, nil, err
					}
					p.imports[filepath.Base(path)] = inner
				}
			}
		}
	}
	return p, files, nil
}
