package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// words are the comments and constants of the model's packages.
type words struct {
	comments  map[string]string     // of types and fields: "mqs.Process", "mqs.Process.PID"
	constants map[string][]constant // by type: "mqs.Phase"
	values    map[string]string     // of constants: "mqs.AnyRank"
	keys      map[string]string     // of fields in a document: "mqs.Process.PID"
}

// constant is one of the words that a type has.
type constant struct {
	name  string // in Go, with its package
	value string
	doc   string
}

// read reads the sources of a package, which is in a folder.
func (w *words) read(path, folder string) error {
	if w.comments == nil {
		*w = words{map[string]string{}, map[string][]constant{}, map[string]string{}, map[string]string{}}
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, f.Name()), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				w.declaration(filepath.Base(path)+".", g)
			}
		}
	}
	return nil
}

func (w *words) declaration(pkg string, g *ast.GenDecl) {
	for _, s := range g.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			w.comments[pkg+s.Name.Name] = cmp.Or(s.Doc.Text(), g.Doc.Text())
			if t, ok := s.Type.(*ast.StructType); ok {
				for _, f := range t.Fields.List {
					for _, name := range f.Names {
						w.comments[pkg+s.Name.Name+"."+name.Name] = f.Doc.Text()
						if f.Tag != nil {
							w.keys[pkg+s.Name.Name+"."+name.Name] = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
						}
					}
				}
			}
		case *ast.ValueSpec:
			if g.Tok != token.CONST || len(s.Values) == 0 {
				continue
			}
			c := constant{pkg + s.Names[0].Name, expression(s.Values[0]), cmp.Or(s.Doc.Text(), s.Comment.Text())}
			w.values[c.name] = c.value
			if lit, ok := s.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING && s.Type != nil {
				w.constants[pkg+expression(s.Type)] = append(w.constants[pkg+expression(s.Type)], c)
			}
		}
	}
}

// expression is an expression as it is written, a string without its quotes.
func expression(e ast.Expr) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), e); err != nil {
		panic(err) // the parser has read it
	}
	if s, err := strconv.Unquote(b.String()); err == nil {
		return s
	}
	return b.String()
}

// link is one of Go's doc links, to a declaration of the same package.
var link = regexp.MustCompile(`\[([A-Z]\w*(?:\.[A-Z]\w*)?)\]`)

// nothing is Go's word for what is null in a document.
var nothing = regexp.MustCompile(`\bnil\b`)

// describe says what a comment says, in the words of a document: without the name that it
// begins with, and with values and keys in place of links to constants and fields.
func (w *words) describe(t reflect.Type, name, comment string) string {
	s := strings.Join(strings.Fields(comment), " ")
	for _, prefix := range []string{name + " ", "is ", "are "} {
		s = strings.TrimPrefix(s, prefix)
	}
	s = nothing.ReplaceAllString(s, "null")
	return link.ReplaceAllStringFunc(s, func(found string) string {
		found = strings.Trim(found, "[]")
		to := filepath.Base(t.PkgPath()) + "." + found
		if owner, _, ok := strings.Cut(found, "."); ok && owner != t.Name() {
			return cmp.Or(names[to[:strings.LastIndex(to, ".")]], snake(owner)) + "." + w.keys[to]
		}
		return cmp.Or(w.values[to], w.keys[to], snake(found))
	})
}

// field says what there is to know of a field of an object.
func (w *words) field(f *field, owner reflect.Type) string {
	doc := sentence(w.describe(owner, f.name, w.comments[goName(owner)+"."+f.name]))
	constants := w.constants[goName(f.value)]
	if doc == "" && len(constants) > 0 {
		doc = sentence(w.describe(f.value, f.value.Name(), w.comments[goName(f.value)]))
	}
	if len(constants) == 0 {
		return doc
	}
	var meanings []string
	for _, c := range constants {
		_, name, _ := strings.Cut(c.name, ".")
		meaning := strings.TrimSuffix(w.describe(f.value, name, c.doc), ".")
		meanings = append(meanings, fmt.Sprintf("%s: %s", c.value, meaning))
	}
	return doc + " " + strings.Join(meanings, "; ") + "."
}

// sentence is a text that begins with a capital.
func sentence(s string) string { return strings.ToUpper(s[:min(len(s), 1)]) + s[min(len(s), 1):] }

// clause is one that does not.
func clause(s string) string { return strings.ToLower(s[:min(len(s), 1)]) + s[min(len(s), 1):] }

// goName is a type's name as code outside of its package has it.
func goName(t reflect.Type) string { return filepath.Base(t.PkgPath()) + "." + t.Name() }
