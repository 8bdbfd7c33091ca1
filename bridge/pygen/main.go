// Command pygen writes the Python side of the protocol, constants and typed
// dictionaries, from the Go source of package bridge.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"unicode"
)

func main() {
	out := flag.String("o", "", "the file to write")
	flag.Parse()
	text, err := generate(".")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, text, 0o644); err != nil {
		log.Fatal(err)
	}
}

// sources are the protocol's, in package bridge.
var sources = []string{"protocol.go", "callbacks.go"}

const head = `# Generated from bridge/protocol.go and callbacks.go by bridge/pygen. Do not edit.
"""The protocol between the debugger's extension and the helper."""

from __future__ import annotations

from typing import List, Optional, TypedDict

`

// generate reads the protocol's Go sources in a folder and returns the Python module.
func generate(folder string) ([]byte, error) {
	var decls []ast.Decl
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, source), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		decls = append(decls, file.Decls...)
	}
	var b bytes.Buffer
	b.WriteString(head)
	var classes bytes.Buffer
	for _, d := range decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				doc := s.Doc
				if doc == nil {
					doc = g.Doc
				}
				comment(&b, "", doc)
				fmt.Fprintf(&b, "%s = %s\n", upperSnake(s.Names[0].Name), s.Values[0].(*ast.BasicLit).Value)
			case *ast.TypeSpec:
				if err := class(&classes, s.Name.Name, g.Doc, s.Type.(*ast.StructType)); err != nil {
					return nil, err
				}
			}
		}
	}
	b.Write(classes.Bytes())
	return b.Bytes(), nil
}

func class(b *bytes.Buffer, name string, doc *ast.CommentGroup, t *ast.StructType) error {
	lines := wrap(doc, 88)
	fmt.Fprintf(b, "\n\nclass %s(TypedDict):\n    \"\"\"%s", name, lines[0])
	for _, line := range lines[1:] {
		fmt.Fprintf(b, "\n    %s", line)
	}
	if len(lines) > 1 {
		b.WriteString("\n    ")
	}
	b.WriteString("\"\"\"\n")
	if len(t.Fields.List) > 0 {
		b.WriteString("\n")
	}
	for _, f := range t.Fields.List {
		typ, err := python(f.Type)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, f.Names[0].Name, err)
		}
		comment(b, "    ", f.Doc)
		fmt.Fprintf(b, "    %s: %s\n", reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), typ)
	}
	return nil
}

func comment(b *bytes.Buffer, indent string, doc *ast.CommentGroup) {
	for _, line := range wrap(doc, 94) {
		fmt.Fprintf(b, "%s# %s\n", indent, line)
	}
}

// wrap returns a comment in lines of at most width characters.
func wrap(doc *ast.CommentGroup, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(plain(doc.Text())) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// plain takes the brackets of Go's doc links out of a comment.
func plain(s string) string { return strings.NewReplacer("[", "", "]", "").Replace(s) }

func python(t ast.Expr) (string, error) {
	switch t := t.(type) {
	case *ast.Ident:
		switch t.Name {
		case "int", "int32", "int64", "uint64":
			return "int", nil
		case "float64":
			return "float", nil
		case "string":
			return "str", nil
		case "bool":
			return "bool", nil
		}
		return t.Name, nil
	case *ast.StarExpr:
		inner, err := python(t.X)
		return "Optional[" + inner + "]", err
	case *ast.ArrayType:
		if id, ok := t.Elt.(*ast.Ident); ok && id.Name == "byte" {
			return "Optional[str]", nil // base64, or null
		}
		inner, err := python(t.Elt)
		return "List[" + inner + "]", err
	}
	return "", fmt.Errorf("no Python type for %T", t)
}

func upperSnake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(rune(s[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}
