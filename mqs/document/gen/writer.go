package main

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// code is Go code that appends to b.
type code struct {
	strings.Builder
	raw string // what is to be appended next, as it is
}

// say adds a statement.
func (c *code) say(format string, args ...any) {
	if c.raw != "" {
		fmt.Fprintf(c, "b = append(b, %s...)\n", literal(c.raw))
		c.raw = ""
	}
	fmt.Fprintf(c, format+"\n", args...)
}

// add adds statements that append a value.
func (c *code) add(format string, args ...any) { c.say("b = "+format, args...) }

// literal is a string as Go code.
func literal(s string) string {
	if strconv.CanBackquote(s) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

// writer returns the functions that append objects to a buffer, and those that append the
// members of a document that is an object itself; they follow its version.
func writer(order []*object, roots ...*object) string {
	c := new(code)
	for _, o := range slices.Concat(order, roots) {
		c.say("func append%s(b []byte, s *jsonout.Sink, v *%s) []byte {", o.camel(), goName(o.typ))
		before := "{"
		if slices.Contains(roots, o) {
			before = ", "
		}
		for _, f := range o.fields {
			f.write(c, before)
			before = ", "
		}
		c.raw += "}"
		c.say("return b\n}\n")
	}
	return c.String()
}

// begin is what stands before a value: what ends the one before, and the key.
func (f *field) begin(key, before string) string {
	if f.line {
		before = strings.TrimRight(before, " ") + newLine(f.indent)
	}
	return fmt.Sprintf("%s%q: ", before, key)
}

func newLine(indent int) string { return "\n" + strings.Repeat(" ", indent) }

// write writes the code that appends a value, before being what stands before the key.
func (f *field) write(c *code, before string) {
	v := "v." + f.name
	if f.shape == queues {
		c.add("appendQueues(b, s, &%s)", v)
		return
	}
	if f.ranks != "" {
		c.raw += f.begin(f.ranks, before) + "["
		c.say("for i := range %s {", v)
		c.add("strconv.AppendInt(jsonout.Comma(b, i), int64(%s[i].Rank), 10)", v)
		c.say("}")
		c.raw += "]"
	}
	if f.omit {
		c.say("if len(%s) > 0 {", v)
		defer c.say("}")
	}
	c.raw += f.begin(f.key, before)
	value, null := v, ""
	switch {
	case f.maybe:
		value, null = v+".Value", "!"+v+".Known"
	case !f.null:
	case f.isList() || f.shape == single:
		null = v + " == nil"
	case f.shape == integer:
		null = fmt.Sprintf("%s < %d", v, *f.min)
	default:
		null = v + ` == ""`
	}
	if null != "" {
		c.say("if %s {", null)
		c.raw += "null"
		c.say("} else {")
	}
	if f.isList() {
		f.writeList(c)
	} else {
		f.writeValue(c, value)
	}
	if null != "" {
		c.say("}")
	}
}

// writeValue writes the code that appends a value that is no list.
func (f *field) writeValue(c *code, v string) {
	switch f.shape {
	case integer:
		if f.isUnsigned() {
			c.add("strconv.AppendUint(b, uint64(%s), 10)", v)
		} else {
			c.add("strconv.AppendInt(b, int64(%s), 10)", v)
		}
	case text:
		c.add("jsonout.Text(b, %s)", v)
	case word:
		if f.value.PkgPath() != "" {
			v = "string(" + v + ")"
		}
		c.add("jsonout.Text(b, %s)", v)
	case boolean:
		c.add("strconv.AppendBool(b, %s)", v)
	case address:
		c.add("jsonout.Hex(b, uint64(%s))", v)
	case class:
		c.add("jsonout.Text(b, %s.String())", v)
	case ranges:
		c.add("jsonout.Text(b, waitfor.Ranges(%s))", v)
	case verbatim:
		c.add("append(b, %s...)", v)
	case single:
		c.add("append%s(b, s, %s)", f.object.camel(), v)
	}
}

// writeList writes the code that appends a list.
func (f *field) writeList(c *code) {
	v := "v." + f.name
	c.raw += "["
	c.say("for i := range %s {", v)
	c.add("jsonout.Comma(b, i)")
	if f.rows {
		c.raw += newLine(f.indent + 1)
	}
	switch f.shape {
	case texts:
		c.add("jsonout.Text(b, %s[i])", v)
	case addresses:
		c.add("jsonout.Hex(b, uint64(%s[i]))", v)
	case ranks:
		c.add("strconv.AppendInt(b, int64(%s[i]), 10)", v)
	case group:
		c.say("if %s[i].Known {", v)
		c.add("strconv.AppendInt(b, int64(%s[i].Value), 10)", v)
		c.say("} else {")
		c.raw += "null"
		c.say("}")
	case tuples:
		separator := "["
		for i := range f.value.Elem().NumField() {
			c.raw += separator
			c.add("strconv.AppendInt(b, int64(%s[i].%s), 10)", v, f.value.Elem().Field(i).Name)
			separator = ","
		}
		c.raw += "]"
	case objects:
		element := v + "[i]"
		if f.value.Elem().Kind() != reflect.Pointer {
			element = "&" + element
		}
		c.add("s.Full(append%s(b, s, %s))", f.object.camel(), element)
	}
	c.say("}")
	c.raw += "]"
}

// isUnsigned is true of a number that is never negative.
func (f *field) isUnsigned() bool { return f.value.Kind() >= reflect.Uint }
