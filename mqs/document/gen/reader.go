package main

import (
	"fmt"
	"reflect"
	"strings"
)

// reader returns the structs that JSON is read into, and the functions that make the model of them.
func reader(order []*object) string {
	var b strings.Builder
	for _, o := range order {
		fmt.Fprintf(&b, "type %s struct {\n", o.mirror())
		for _, f := range o.fields {
			if f.shape == queues {
				b.WriteString("queuesJSON\n")
			} else {
				fmt.Fprintf(&b, "%s %s `json:%q`\n", f.name, f.mirror(), f.key)
			}
		}
		fmt.Fprintf(&b, "}\n\nfunc (r *reader) read%s(v *%s, d *%s) {\n", o.camel(), goName(o.typ), o.mirror())
		for _, f := range o.fields {
			f.read(&b)
		}
		b.WriteString("}\n\n")
	}
	return b.String()
}

// mirror is the type that an object is read into.
func (o *object) mirror() string { return o.name + "JSON" }

// mirror is the type that a value is read into: what is not there, or null, is nil.
func (f *field) mirror() string {
	var t string
	switch f.shape {
	case text, word:
		t = "string"
	case address:
		t = "inferior.Addr"
	case group:
		t = "jsontext.Value"
	case tuples:
		t = fmt.Sprintf("[][%d]%v", f.value.Elem().NumField(), f.value.Elem().Field(0).Type)
	case objects:
		t = "[]" + f.object.mirror()
	case single:
		t = "*" + f.object.mirror()
	default:
		t = f.value.String()
	}
	if f.maybe {
		return "*" + t
	}
	return t
}

// read writes the code that makes a value of the model of what was read.
func (f *field) read(b *strings.Builder) {
	v, d := "v."+f.name, "d."+f.name
	say := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	switch f.shape {
	case text:
		if f.maybe {
			say("%s = r.internMaybe(%s)", v, d)
		} else {
			say("%s = r.intern(%s)", v, d)
		}
	case word:
		if f.value.PkgPath() == "" {
			say("%s = oneOf(%s, %s)", v, d, f.constantsOf())
		} else {
			say("%s = oneOf(%s(%s), %s)", v, goName(f.value), d, f.constantsOf())
		}
	case texts:
		say("%s = r.internAll(%s)", v, d)
	case group:
		say("%s = r.group(%s)", v, d)
	case queues:
		say("%s = r.queues(&d.queuesJSON)", v)
	case tuples:
		say("if %s != nil {\n%s = make(%v, len(%s))\n}", d, v, f.value, d)
		say("for i, t := range %s {\n%s[i] = %s{", d, v, goName(f.value.Elem()))
		for i := range f.value.Elem().NumField() {
			s := f.value.Elem().Field(i)
			say("%s: %v(t[%d]),", s.Name, s.Type, i)
		}
		say("}\n}")
	case objects:
		f.readObjects(b)
	case single:
		say("if %s != nil {\n%s = new(%s)\nr.read%s(%s, %s)\n}", d, v, goName(f.value), f.object.camel(), v, d)
	case address:
		if f.maybe && f.hex {
			say("%s = number(%s)", v, d)
			break
		}
		fallthrough
	default:
		if f.maybe {
			say("%s = maybe(%s)", v, d)
		} else {
			say("%s = %s", v, d)
		}
	}
}

// readObjects writes the code that reads a list of objects. One that may be null is empty if it
// is there without elements.
func (f *field) readObjects(b *strings.Builder) {
	v, d := "v."+f.name, "d."+f.name
	say := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	condition := "len(" + d + ") > 0"
	if f.null {
		condition = d + " != nil"
	}
	say("if %s {\n%s = make(%v, len(%s))\n}", condition, v, f.value, d)
	if f.value.Elem().Kind() == reflect.Pointer {
		say("for i := range %s {\n%s[i] = new(%s)\nr.read%s(%s[i], &%s[i])\n}", d, v, goName(f.object.typ), f.object.camel(), v, d)
	} else {
		say("for i := range %s {\nr.read%s(&%s[i], &%s[i])\n}", d, f.object.camel(), v, d)
	}
}
