package main

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// reader returns the functions that make the model of JSON, and where they keep it.
func reader(order []*object) string {
	var stores, functions strings.Builder
	keep := func(name string, t reflect.Type) { fmt.Fprintf(&stores, "%s store[%s]\n", name, goName(t)) }
	for _, o := range order {
		keep(o.store(), o.typ)
		fmt.Fprintf(&functions, "func (r *reader) read%s(v *%s) {\n", o.camel(), goName(o.typ))
		var members, end strings.Builder
		unknown := "r.skip()"
		for _, f := range o.fields {
			if f.shape == queues {
				functions.WriteString("r.queues = queuesRead{}\n")
				unknown = "r.readQueues()"
				fmt.Fprintf(&end, "v.%s = r.takeQueues()\n", f.name)
				continue
			}
			if f.shape == tuples {
				keep(f.store(), f.value.Elem())
			}
			fmt.Fprintf(&members, "case %q:\n%s\n", f.key, f.read())
		}
		fmt.Fprintf(&functions, "for r.object(); r.member(); {\nswitch string(r.key) {\n%sdefault:\n%s\n}\n}\n%s}\n\n", &members, unknown, &end)
		for _, f := range o.fields {
			if f.shape == tuples {
				f.readTuple(&functions)
			}
		}
	}
	return fmt.Sprintf("// stores have what objects are made of.\ntype stores struct {\n%s}\n\n%s", &stores, &functions)
}

// store is where the objects of a kind are.
func (o *object) store() string { return plural(o.camel()) }

// store is where the structs of a list are that are lists in a document.
func (f *field) store() string { return plural(f.value.Elem().Name()) }

// plural is the name of what has things of that name.
func plural(name string) string {
	if strings.HasSuffix(name, "s") {
		name += "e"
	}
	return strings.ToLower(name[:1]) + name[1:] + "s"
}

// read returns the code that reads a value.
func (f *field) read() string {
	v := "v." + f.name
	switch f.shape {
	case texts:
		return v + " = readList(r, &r.texts, readText)"
	case ranks:
		return v + " = readList(r, &r.numbers, readInt)"
	case addresses:
		return v + " = readList(r, &r.addresses, readAddr)"
	case group:
		return v + " = r.group()"
	case tuples:
		return fmt.Sprintf("%s = readList(r, &r.%s, (*reader).read%s)", v, f.store(), f.value.Elem().Name())
	case objects:
		list := fmt.Sprintf("readList(r, &r.%s, (*reader).read%s)", f.object.store(), f.object.camel())
		if f.value.Elem().Kind() == reflect.Pointer {
			list = "pointers(&r.members, " + list + ")"
		}
		if !f.null && !f.omit { // then a reader can't tell an empty list from none
			list = "some(" + list + ")"
		}
		return v + " = " + list
	case word:
		return fmt.Sprintf("readWord(r, &%s, %s)", v, f.constantsOf())
	}
	function := map[shape]string{integer: "readInt", text: "readText", boolean: "readBool", address: "readAddr"}[f.shape]
	switch {
	case f.hex:
		function = "readHex"
	case f.value.Kind() == reflect.Uint64 && f.shape == integer:
		function = "readUint"
	}
	if f.maybe {
		return fmt.Sprintf("readMaybe(r, &%s, %s)", v, function)
	}
	return fmt.Sprintf("%s(r, &%s)", function, v)
}

// readTuple writes the function that reads a struct that is a list in a document.
func (f *field) readTuple(b *strings.Builder) {
	t := f.value.Elem()
	fmt.Fprintf(b, "func (r *reader) read%s(v *%s) {\nvar t [%d]int32\nreadTuple(r, t[:])\n*v = %[2]s{", t.Name(), goName(t), t.NumField())
	for i := range t.NumField() {
		b.WriteString(t.Field(i).Name + ": ")
		if n := t.Field(i).Type; n.Kind() == reflect.Int32 {
			b.WriteString("t[" + strconv.Itoa(i) + "],\n")
		} else {
			fmt.Fprintf(b, "%v(t[%d]),\n", n, i)
		}
	}
	b.WriteString("}\n}\n\n")
}
