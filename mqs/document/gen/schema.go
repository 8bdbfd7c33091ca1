package main

import (
	"encoding/json"
	"reflect"
	"strings"
)

// member is a member of a JSON object whose members are in order. Its value is an object or lines
// too, a slice of values, or what encoding/json writes.
type member struct {
	key   string
	value any
}

// members are a JSON object on one line, lines one with a line for each member.
type (
	members []member
	lines   []member
)

// base is where the schemas are kept.
const base = "https://github.com/mpi-queues/mpi-queues/mqs/document/"

// schema returns the JSON schema of a document.
func schema(root *object, version, file, title, description string) []byte {
	out := lines{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$id", base + file}, {"title", title}, {"description", description}}
	out = append(out, root.schema(member{"schema", members{{"const", json.RawMessage(version)}}})...)
	var defs lines
	if root.hasAddress() {
		defs = append(defs, member{"address", members{{"type", "string"}, {"pattern", "^0x[0-9a-f]+$"}}})
	}
	root.each(map[*object]bool{}, func(o *object) { defs = append(defs, member{o.name, o.schema()}) })
	return []byte(written(append(out, member{"$defs", defs}), "\n") + "\n")
}

// each calls f once for each object beneath this one, in the order of the fields.
func (o *object) each(seen map[*object]bool, f func(*object)) {
	for _, field := range o.fields {
		if inner := field.object; inner != nil && !seen[inner] {
			seen[inner] = true
			f(inner)
			inner.each(seen, f)
		}
	}
}

// schema describes an object, which may have more properties than the struct.
func (o *object) schema(properties ...member) lines {
	var required []string
	for _, p := range properties {
		required = append(required, p.key)
	}
	for _, f := range o.fields {
		for _, p := range f.properties() {
			if !f.omit {
				required = append(required, p.key)
			}
			properties = append(properties, p)
		}
	}
	var out lines
	if o.doc != "" {
		out = append(out, member{"description", o.doc})
	}
	return append(out, member{"type", "object"}, member{"additionalProperties", false}, member{"required", required}, member{"properties", lines(properties)})
}

// properties describe the keys of a field.
func (f *field) properties() members {
	if f.shape == queues {
		return f.queues()
	}
	own := member{f.key, f.schema()}
	if f.ranks == "" {
		return members{own}
	}
	just := *f
	just.shape, just.object, just.doc = ranks, nil, f.doc
	for _, inner := range f.object.fields {
		if inner.name == "Rank" {
			just.min = inner.min
		}
	}
	return members{{f.ranks, just.schema()}, own}
}

// queues describe the keys that stand for the queues of a communicator: see queues.go of
// package document.
func (f *field) queues() (out members) {
	operations := nullable(members{{"type", "array"}, {"items", reference(f.object.name)}})
	var reasons, totals members
	for _, c := range queueKeys() {
		out = append(out, member{c.value, append(members{{"description", f.docs["Operations"]}}, operations...)})
		reasons = append(reasons, member{c.value, members{{"type", "string"}}})
		totals = append(totals, member{c.value, members{{"type", []string{"integer", "null"}}}})
	}
	for _, m := range []struct {
		key, doc   string
		properties members
	}{{"unavailable", clause(f.docs["Unavailable"]), reasons}, {"totals", clause(f.docs["Total"]), totals}} {
		out = append(out, member{m.key, members{{"description", "For each queue, " + m.doc}, {"type", "object"}, {"additionalProperties", false}, {"properties", m.properties}}})
	}
	return out
}

func reference(name string) members { return members{{"$ref", "#/$defs/" + name}} }

// nullable describes what may be null too.
func nullable(schema members) members {
	return members{{"oneOf", []members{schema, {{"type", "null"}}}}}
}

// schema describes a value.
func (f *field) schema() members {
	var out members
	if f.doc != "" {
		out = append(out, member{"description", f.doc})
	}
	typed := func(name string) {
		if f.isNullable() {
			out = append(out, member{"type", []string{name, "null"}})
		} else {
			out = append(out, member{"type", name})
		}
	}
	var items members
	switch f.shape {
	case integer:
		typed("integer")
		return append(out, f.bounds()...)
	case text:
		typed("string")
		return out
	case boolean:
		typed("boolean")
		return out
	case verbatim:
		typed("number")
		return out
	case word, class:
		var values []any
		for _, c := range f.words {
			values = append(values, c.value)
		}
		if f.isNullable() {
			values = append(values, nil)
		}
		return append(out, member{"enum", values})
	case ranges:
		typed("string")
		return append(out, member{"pattern", "^([0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)?$"})
	case address:
		if f.isNullable() {
			return append(out, nullable(reference("address"))...)
		}
		return append(out, reference("address")...)
	case texts:
		items = members{{"type", "string"}}
	case addresses:
		items = reference("address")
	case ranks:
		items = append(members{{"type", "integer"}}, f.bounds()...)
	case group:
		items = append(members{{"type", []string{"integer", "null"}}}, f.bounds()...)
	case tuples:
		n := f.value.Elem().NumField()
		prefix := make([]members, n)
		for i := range prefix {
			prefix[i] = members{{"type", "integer"}}
		}
		items = members{{"type", "array"}, {"prefixItems", prefix}, {"minItems", n}, {"maxItems", n}}
	case objects:
		items = reference(f.object.name)
	case single:
		if f.isNullable() {
			return append(out, nullable(reference(f.object.name))...)
		}
		return append(out, reference(f.object.name)...)
	}
	list := members{{"type", "array"}}
	if f.max != nil {
		list = append(list, member{"maxItems", *f.max})
	}
	list = append(list, member{"items", items})
	if f.null {
		list = nullable(list)
	}
	return append(out, list...)
}

// bounds describe what numbers there may be.
func (f *field) bounds() members {
	switch {
	case f.min != nil:
		return members{{"minimum", *f.min}}
	case f.isUnsigned():
		return members{{"minimum", 0}}
	}
	return nil
}

// hasAddress says whether a document has addresses.
func (o *object) hasAddress() (found bool) {
	o.each(map[*object]bool{}, func(inner *object) {
		for _, f := range inner.fields {
			found = found || f.shape == address || f.shape == addresses
		}
	})
	return found
}

// written is a value in JSON; newLine begins those of its lines.
func written(value any, newLine string) string {
	var elements []string
	key := func(m member, newLine string) {
		elements = append(elements, written(m.key, "")+": "+written(m.value, newLine))
	}
	switch v := value.(type) {
	case lines:
		inner := newLine + "  "
		for _, m := range v {
			key(m, inner)
		}
		return "{" + inner + strings.Join(elements, ","+inner) + newLine + "}"
	case members:
		for _, m := range v {
			key(m, newLine)
		}
		return "{" + strings.Join(elements, ", ") + "}"
	case json.RawMessage:
		return string(v)
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Slice {
		for i := range v.Len() {
			elements = append(elements, written(v.Index(i).Interface(), newLine))
		}
		return "[" + strings.Join(elements, ", ") + "]"
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // a string, a number, a bool or nil
	}
	return strings.TrimSuffix(b.String(), "\n")
}
