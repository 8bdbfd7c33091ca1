package main

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// sample returns for each document a function that returns what it is made of with every field
// filled, each with another value as far as its type has so many.
func sample(roots ...*object) string {
	var s filler
	var b strings.Builder
	for _, o := range roots {
		fmt.Fprintf(&b, "func sample%s() *%s {\nreturn &%[2]s%s\n}\n\n", o.typ.Name(), goName(o.typ), s.object(o))
	}
	return b.String()
}

// filler makes values as Go code.
type filler struct{ last, turn int }

func (s *filler) next() int {
	s.last++
	return s.last
}

func (s *filler) object(o *object) string {
	return s.fields(o, o.typ)
}

// fields fills the fields of a struct that an object has. One that is embedded is a field in Go.
func (s *filler) fields(o *object, t reflect.Type) string {
	var b strings.Builder
	b.WriteString("{\n")
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			fmt.Fprintf(&b, "%s: %s%s,\n", f.Name, goName(f.Type), s.fields(o, f.Type))
			continue
		}
		for _, f := range o.fields {
			if f.name == t.Field(i).Name {
				fmt.Fprintf(&b, "%s: %s,\n", f.name, s.value(f))
			}
		}
	}
	return b.String() + "}"
}

func (s *filler) value(f *field) string {
	one := func(t reflect.Type) string {
		switch f.shape {
		case text, texts:
			return strconv.Quote(fmt.Sprintf("%s %d", f.key, s.next()))
		case word:
			return strings.Split(f.constantsOf(), ", ")[s.next()%len(f.words)]
		case boolean:
			return "true"
		case verbatim:
			return strconv.Quote(strconv.Itoa(s.next()) + ".5")
		case address, addresses:
			return fmt.Sprintf("%#x", 0xffff_0000_0000_0000+uint64(s.next()))
		case class:
			return "mqs.UnexpectedMessages"
		case objects:
			return s.object(f.object)
		case single:
			return "&" + goName(f.value) + s.object(f.object)
		case tuples:
			var values []string
			for i := range t.NumField() {
				values = append(values, fmt.Sprintf("%s: %d", t.Field(i).Name, s.next()))
			}
			return "{" + strings.Join(values, ", ") + "}"
		default:
			return strconv.Itoa(s.next())
		}
	}
	switch {
	case f.shape == queues:
		return s.queues(f)
	case f.maybe:
		return fmt.Sprintf("mqs.Known[%v](%s)", f.value, one(f.value))
	case f.shape == group:
		return fmt.Sprintf("%v{mqs.Known[int32](%d), {}}", f.typ, s.next())
	case f.value.Kind() != reflect.Slice:
		return one(f.value)
	}
	elements := 1
	if f.object != nil && f.object.hasQueues() {
		elements = len(mqs.OpClasses) // each of which has them in other states
	}
	var b strings.Builder
	for range elements {
		b.WriteString(one(f.value.Elem()) + ",")
	}
	return fmt.Sprintf("%v{%s}", f.typ, strings.TrimSuffix(b.String(), ","))
}

// hasQueues says whether an object has the keys of queues.
func (o *object) hasQueues() bool {
	return slices.ContainsFunc(o.fields, func(f *field) bool { return f.shape == queues })
}

// queues fills each of the queues of a communicator in another way, and those of the next one by
// turns.
func (s *filler) queues(f *field) string {
	operation := func() string { return fmt.Sprintf("[]mqs.PendingOperation{%s}", s.object(f.object)) }
	ways := []func() string{
		func() string { return fmt.Sprintf("{Operations: %s, Total: %d}", operation(), s.next()) },
		func() string { return fmt.Sprintf("{Operations: %s, Total: 1, Incomplete: true}", operation()) },
		func() string { return fmt.Sprintf("{Unavailable: %q}", fmt.Sprintf("unavailable %d", s.next())) },
	}
	var b strings.Builder
	for i := range mqs.OpClasses {
		b.WriteString(ways[(s.turn+i)%len(ways)]() + ",\n")
	}
	s.turn++
	return "[3]*mqs.Queue{\n" + b.String() + "}"
}
