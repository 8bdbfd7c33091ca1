package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
)

// merger returns the functions that take objects apart into what ranks have alike and what differs, and those that put
// them together again.
func merger(order []*object) string {
	var b strings.Builder
	for _, o := range order {
		fmt.Fprintf(&b, "func (m *merger) merge%s(v *%s) {\n", o.camel(), goName(o.typ))
		for _, f := range o.fields {
			fmt.Fprintln(&b, f.merge())
		}
		fmt.Fprintf(&b, "}\n\nfunc (u *unmerger) unmerge%s(v *%s) {\n", o.camel(), goName(o.typ))
		for _, f := range o.fields {
			fmt.Fprintln(&b, f.unmerge())
		}
		fmt.Fprint(&b, "}\n\n")
		for _, f := range o.fields {
			if f.shape == tuples {
				f.unmergeTuple(&b)
			}
		}
	}
	sum := sha256.Sum256([]byte(b.String()))
	return fmt.Sprintf("// mergedFormat changes with what follows.\nconst mergedFormat = %q\n\n%s", hex.EncodeToString(sum[:8]), &b)
}

// merge returns the code that takes a value apart.
func (f *field) merge() string {
	v := "v." + f.name
	one := func(v string) string {
		switch f.shape {
		case integer, address, addresses, ranks:
			return "m.number(uint64(" + v + "))"
		case text, texts, word:
			return "m.text(string(" + v + "))"
		case boolean:
			return "m.bool(" + v + ")"
		case objects:
			if f.value.Elem().Kind() != reflect.Pointer {
				v = "&" + v
			}
			return "m.merge" + f.object.camel() + "(" + v + ")"
		case tuples:
			var parts []string
			for i := range f.value.Elem().NumField() {
				parts = append(parts, "m.number(uint64("+v+"."+f.value.Elem().Field(i).Name+"))")
			}
			return strings.Join(parts, "\n")
		}
		panic(fmt.Sprintf("nobody merges %s", f.name))
	}
	switch {
	case f.shape == queues:
		return "m.queues(&" + v + ")"
	case f.shape == group:
		return "m.group(" + v + ")"
	case f.isList():
		return fmt.Sprintf("m.list(len(%s), %[1]s == nil)\nfor i := range %[1]s {\n%s\n}", v, one(v+"[i]"))
	case f.maybe:
		return fmt.Sprintf("if m.bool(%s.Known) {\n%s\n}", v, one(v+".Value"))
	}
	return one(v)
}

// unmerge returns the code that puts it together again.
func (f *field) unmerge() string {
	v := "v." + f.name
	list := func(store, read string) string { return fmt.Sprintf("unmergeList(u, &u.%s, %s)", store, read) }
	switch f.shape {
	case queues:
		return v + " = u.queues()"
	case group:
		return v + " = u.group()"
	case texts:
		return v + " = " + list("texts", "(*unmerger).readText")
	case ranks:
		return v + " = " + list("numbers", "unmergeInt")
	case addresses:
		return v + " = " + list("addresses", "unmergeInt")
	case tuples:
		return v + " = " + list(f.store(), "(*unmerger).unmerge"+f.value.Elem().Name())
	case objects:
		read := list(f.object.store(), "(*unmerger).unmerge"+f.object.camel())
		if f.value.Elem().Kind() == reflect.Pointer {
			read = "pointers(&u.members, " + read + ")"
		}
		if !f.null && !f.omit {
			read = "some(" + read + ")"
		}
		return v + " = " + read
	}
	one := func(v string) string {
		switch f.shape {
		case text:
			return "u.readText(&" + v + ")"
		case word:
			return fmt.Sprintf("unmergeWord(u, &%s, %s)", v, f.constantsOf())
		case boolean:
			return v + " = u.bool()"
		}
		return "unmergeInt(u, &" + v + ")"
	}
	if f.maybe {
		return fmt.Sprintf("if %s.Known = u.bool(); %[1]s.Known {\n%s\n}", v, one(v+".Value"))
	}
	return one(v)
}

// unmergeTuple writes the function that puts a struct together that is a list in a document.
func (f *field) unmergeTuple(b *strings.Builder) {
	t := f.value.Elem()
	fmt.Fprintf(b, "func (u *unmerger) unmerge%s(v *%s) {\n", t.Name(), goName(t))
	for i := range t.NumField() {
		fmt.Fprintf(b, "unmergeInt(u, &v.%s)\n", t.Field(i).Name)
	}
	b.WriteString("}\n\n")
}
