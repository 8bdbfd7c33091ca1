package main

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// model is the structs that documents are made of.
type model struct {
	words   words
	objects map[reflect.Type]*object
	order   []*object // as they were found, roots left out
}

// object is a struct that is an object in a document.
type object struct {
	typ    reflect.Type
	name   string // in a schema
	doc    string
	indent int // of the line that it begins
	fields []*field
}

// shape is how a value looks in a document.
type shape int

const (
	integer   shape = iota // a number
	text                   // a string
	word                   // a string that is one of a few
	boolean                // true or false
	address                // a string of hexadecimal digits
	class                  // the key of a queue
	texts                  // a list of strings
	addresses              // a list of addresses
	ranks                  // a list of numbers
	group                  // a list of numbers, any of which may be null; equal ones are kept once
	tuples                 // a list of lists, the fields of a struct each
	ranges                 // a string of ranges of numbers
	verbatim               // a number that is kept as it is written
	objects                // a list of objects
	single                 // an object
	queues                 // several keys: see queues.go of package document
)

// field is a field of a struct and a key of its object.
type field struct {
	name  string // in Go
	key   string
	doc   string
	typ   reflect.Type // as it is declared
	value reflect.Type // without Maybe
	shape shape
	maybe bool // it is a Maybe

	null  bool       // null in place of a value that is not known, though it is no Maybe
	omit  bool       // no key if the list is empty
	line  bool       // the key begins a line
	rows  bool       // each element has a line of its own
	hex   bool       // a number is an address
	min   *int       // the smallest number
	max   *int       // the largest number of elements
	words []constant // that the value is one of
	ranks string     // a key of just the ranks of the objects, before them

	indent int               // of its line if it begins one, else of its object's
	object *object           // that are its elements
	docs   map[string]string // of the fields of queues
}

// isList is true of a value that is a list in a document.
func (f *field) isList() bool {
	return f.shape >= texts && f.shape <= objects && f.shape != ranges && f.shape != verbatim
}

// isNullable is true of a value that may be null.
func (f *field) isNullable() bool { return f.null || f.maybe }

// root is what a whole document is made of.
func (m *model) root(t reflect.Type) (*object, error) {
	o := &object{typ: t, name: snake(t.Name()), indent: -1}
	return o, m.fields(o, t)
}

// names are those of objects whose structs have another name than they.
var names = map[string]string{
	goName(reflect.TypeFor[mqs.Queues]()):           "communicator",
	goName(reflect.TypeFor[mqs.Communicator]()):     "plain_communicator", // without its queues
	goName(reflect.TypeFor[mqs.PendingOperation]()): "operation",
}

// find returns the object of a struct, which begins a line that is indented so far.
func (m *model) find(t reflect.Type, indent int) (*object, error) {
	if o := m.objects[t]; o != nil {
		if o.indent != indent && o.hasLines() {
			return nil, fmt.Errorf("%v stands in two places that are not indented alike", t)
		}
		return o, nil
	}
	o := &object{typ: t, name: cmp.Or(names[goName(t)], snake(t.Name())), indent: indent, doc: sentence(m.words.describe(t, t.Name(), m.words.comments[goName(t)]))}
	m.objects[t] = o
	m.order = append(m.order, o)
	return o, m.fields(o, t)
}

// hasLines says whether a line begins inside of an object.
func (o *object) hasLines() bool {
	return slices.ContainsFunc(o.fields, func(f *field) bool { return f.line || f.rows || f.object != nil })
}

// fields adds the fields of a struct to an object.
func (m *model) fields(o *object, t reflect.Type) error {
	for i := range t.NumField() {
		s := t.Field(i)
		if s.Anonymous {
			if err := m.fields(o, s.Type); err != nil {
				return err
			}
			continue
		}
		f := &field{name: s.Name, key: s.Tag.Get("json"), typ: s.Type, value: s.Type}
		if f.key == "-" {
			continue
		}
		err := m.options(f, s.Tag.Get("document"))
		if err == nil && (f.key == "") != (f.shape == queues) {
			err = fmt.Errorf(`the tag is to say its key, as json:"key"; or json:"-" if no document has it`)
		}
		if err == nil {
			err = m.complete(o, f)
		}
		if err != nil {
			return fmt.Errorf("%v.%s: %w", t, f.name, err)
		}
		f.doc = m.words.field(f, t)
		o.fields = append(o.fields, f)
	}
	return nil
}

// options reads the tag that the comment of package document explains.
func (m *model) options(f *field, tag string) (err error) {
	for option := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "":
		case "null":
			f.null = true
		case "omit":
			f.omit = true
		case "line":
			f.line = true
		case "rows":
			f.rows = true
		case "hex":
			f.hex = true
		case "tuple":
			f.shape = tuples
		case "ranges":
			f.shape = ranges
		case "number":
			f.shape = verbatim
		case "queues":
			f.shape = queues
		case "ranks":
			f.ranks = value
		case "words":
			f.words = choice(value)
		case "min":
			f.min, err = number(value)
		case "max":
			f.max, err = number(value)
		default:
			err = fmt.Errorf("there is no option %q", option)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func number(s string) (*int, error) {
	n, err := strconv.Atoi(s)
	return &n, err
}

// choice is words that a tag lists; or all of the type that it names.
func choice(tag string) (out []constant) {
	if tag == reflect.TypeFor[mqs.OpClass]().Name() {
		return queueKeys()
	}
	for w := range strings.SplitSeq(tag, "|") {
		out = append(out, constant{value: w})
	}
	return out
}

// queueKeys are the keys of the queues of a communicator.
func queueKeys() (out []constant) {
	for _, c := range mqs.OpClasses {
		out = append(out, constant{value: c.String()})
	}
	return out
}

// complete finds out how the value looks.
func (m *model) complete(o *object, f *field) (err error) {
	f.indent = o.indent
	if f.line {
		f.indent++
	}
	if strings.HasPrefix(f.typ.Name(), "Maybe[") {
		f.maybe, f.value = true, f.typ.Field(0).Type
	}
	if f.words == nil {
		f.words = m.words.constants[goName(f.value)]
	}
	switch t := f.value; {
	case f.shape != 0: // the tag says it
		if f.shape == queues {
			err = m.queue(f)
		}
	case f.hex || t == reflect.TypeFor[inferior.Addr]():
		f.shape = address
	case t == reflect.TypeFor[mqs.OpClass]():
		f.shape, f.words = class, queueKeys()
	case t.Kind() == reflect.String && f.words != nil:
		f.shape = word
	case t.Kind() == reflect.String:
		f.shape = text
	case t.Kind() == reflect.Bool:
		f.shape = boolean
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		f.shape = integer
		if f.null && f.min == nil {
			err = errors.New("null needs a min: what is below is null")
		}
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		f.shape, f.value = single, t.Elem()
		if f.object = m.objects[f.value]; f.object == nil { // else its lines are indented as there
			f.object, err = m.find(f.value, f.indent)
		}
	case t.Kind() != reflect.Slice:
		err = fmt.Errorf("no document has a %v", t)
	case t.Elem().Kind() == reflect.String:
		f.shape = texts
	case t.Elem() == reflect.TypeFor[inferior.Addr]():
		f.shape = addresses
	case t.Elem() == reflect.TypeFor[int32]():
		f.shape = ranks
	case t.Elem() == reflect.TypeFor[mqs.Maybe[int32]]():
		f.shape = group
	default:
		if t = t.Elem(); t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return fmt.Errorf("no document has a list of %v", t)
		}
		f.shape, f.rows = objects, true
		f.object, err = m.find(t, f.indent+1)
	}
	return err
}

// camel is the object's name as part of Go's: NearMiss.
func (o *object) camel() string {
	var b strings.Builder
	for part := range strings.SplitSeq(o.name, "_") {
		b.WriteString(sentence(part))
	}
	return b.String()
}

// queue finds out what there is to know of the queues of a communicator.
func (m *model) queue(f *field) (err error) {
	f.docs = map[string]string{}
	queue := reflect.TypeFor[mqs.Queue]()
	for i := range queue.NumField() {
		inner := &field{name: queue.Field(i).Name, value: queue.Field(i).Type}
		f.docs[inner.name] = m.words.field(inner, queue)
	}
	f.object, err = m.find(reflect.TypeFor[mqs.PendingOperation](), f.indent+2)
	return err
}

// snake is a name of Go's as a document has it: near_miss.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// constantsOf are the words that a field's value is one of, as Go code.
func (f *field) constantsOf() string {
	var out []string
	for _, c := range f.words {
		if c.name == "" {
			out = append(out, strconv.Quote(c.value))
		} else {
			out = append(out, c.name)
		}
	}
	return strings.Join(out, ", ")
}
