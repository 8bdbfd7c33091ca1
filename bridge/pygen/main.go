// Command pygen writes the Python side of the protocol, constants and typed
// dictionaries, from the Go source of package bridge and of the types that it borrows.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"log"
	"os"
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

const head = `# Generated from bridge/protocol.go, jobs.go and callbacks.go by bridge/pygen. Do not edit.
"""The protocol between the debugger's extension and the helper."""

from __future__ import annotations

from typing import Dict, List, Optional, TypedDict

`

// generate reads the protocol's Go sources in a folder and returns the Python module.
func generate(folder string) ([]byte, error) {
	p, err := readProtocol(folder)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString(head)
	for _, c := range p.constants {
		comment(&b, "", c.doc)
		fmt.Fprintf(&b, "%s = %s\n", upperSnake(c.name), c.value)
	}
	for _, m := range p.messages {
		if err := p.class(&b, m); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// class writes a message as a class.
func (p *protocol) class(b *bytes.Buffer, m message) error {
	lines := wrap(m.doc, 88)
	fmt.Fprintf(b, "\n\nclass %s(TypedDict):\n    \"\"\"%s", m.name, lines[0])
	for _, line := range lines[1:] {
		fmt.Fprintf(b, "\n    %s", line)
	}
	if len(lines) > 1 {
		b.WriteString("\n    ")
	}
	b.WriteString("\"\"\"\n")
	if len(m.fields.List) > 0 {
		b.WriteString("\n")
	}
	for _, f := range m.fields.List {
		tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
		if tag.Get("protocol") == "-" {
			continue
		}
		typ, err := p.python(m.from, f.Type)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", m.name, f.Names[0].Name, err)
		}
		key, _, _ := strings.Cut(tag.Get("json"), ",")
		comment(b, "    ", f.Doc)
		fmt.Fprintf(b, "    %s: %s\n", key, typ)
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

// plain takes the brackets of Go's doc links out of a comment, and has JSON's word for nil.
func plain(s string) string {
	return strings.NewReplacer("[", "", "]", "", " nil ", " null ", " nil.", " null.").Replace(s)
}

// python is the Python type of one of Go's, as the source of a package has it.
func (p *protocol) python(from *pkg, t ast.Expr) (string, error) {
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
		return p.named(from, t.Name)
	case *ast.SelectorExpr:
		imported, err := from.imported(t.X.(*ast.Ident).Name)
		if err != nil {
			return "", err
		}
		return p.named(imported, t.Sel.Name)
	case *ast.StarExpr:
		inner, err := p.python(from, t.X)
		return "Optional[" + inner + "]", err
	case *ast.ArrayType:
		if id, ok := t.Elt.(*ast.Ident); ok && id.Name == "byte" {
			return "Optional[str]", nil // base64, or null
		}
		inner, err := p.python(from, t.Elt)
		return "List[" + inner + "]", err
	case *ast.MapType:
		key, err := p.python(from, t.Key)
		if err != nil {
			return "", err
		}
		inner, err := p.python(from, t.Value)
		return "Dict[" + key + ", " + inner + "]", err
	}
	return "", fmt.Errorf("no Python type for %T", t)
}

// named is the Python type of a named one: the message that it is, or what it is made of.
func (p *protocol) named(from *pkg, name string) (string, error) {
	for _, m := range p.messages {
		if m.from == from && m.original == name {
			return m.name, nil
		}
	}
	spec := from.types[name]
	if spec == nil {
		return "", fmt.Errorf("no type %s in %s", name, from.folder)
	}
	if _, ok := spec.Type.(*ast.StructType); ok {
		return "", fmt.Errorf("the protocol has no name for %s of %s", name, from.folder)
	}
	return p.python(from, spec.Type)
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
