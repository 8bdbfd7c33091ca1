package main

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// die is a type or a member in an object file's DWARF.
type die struct {
	tag        dwarf.Tag
	name       string
	size       int64 // bytes, -1 if it is not said
	of         dwarf.Offset
	offset     int64 // of a member, bytes
	encoding   int64
	elements   int64 // of one dimension of an array, 0 if it is not said
	value      int64 // of an enumerator
	isDeclared bool  // and not defined
	isBitField bool
	children   []*die
}

// DWARF's encodings of base types that are no unsigned numbers (DWARF 5, section 7.8).
const (
	encodingFloat      = 0x04
	encodingSigned     = 0x05
	encodingSignedChar = 0x06
)

// object is the types of an object file.
type object struct {
	dies  map[dwarf.Offset]*die
	named map[string]*die // the first definition of each name; a typedef goes before a tag
	// listed are the types of the table that is made.
	listed map[string]*die
	// pointerSize is the width of a pointer, in bytes.
	pointerSize int
	byteOrder   string
}

// readObject reads the types that an object file of the compiler's describes. It is for our own
// files only: package elf does not bound what it reads.
func readObject(path string) (*object, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := f.DWARF()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	o := &object{dies: map[dwarf.Offset]*die{}, named: map[string]*die{}, listed: map[string]*die{}, pointerSize: 8, byteOrder: "little"}
	if f.Class == elf.ELFCLASS32 {
		o.pointerSize = 4
	}
	if f.Data == elf.ELFDATA2MSB {
		o.byteOrder = "big"
	}
	root := &die{}
	if err := o.children(data.Reader(), root); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, tags := range [][]dwarf.Tag{{dwarf.TagTypedef}, {dwarf.TagStructType, dwarf.TagUnionType}} {
		for _, unit := range root.children {
			for _, d := range unit.children {
				if o.named[d.name] == nil && d.name != "" && o.isDefined(d, tags) {
					o.named[d.name] = d
				}
			}
		}
	}
	return o, nil
}

// isDefined says whether a type of one of some tags is defined in the file.
func (o *object) isDefined(d *die, tags []dwarf.Tag) bool {
	for _, tag := range tags {
		if d.tag == tag {
			s := o.strip(d)
			return s != nil && !s.isDeclared
		}
	}
	return false
}

// children reads what stands below a type, as far as the end of its list.
func (o *object) children(r *dwarf.Reader, parent *die) error {
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return err
		}
		d := newDIE(e)
		o.dies[e.Offset] = d
		parent.children = append(parent.children, d)
		if e.Children {
			if err := o.children(r, d); err != nil {
				return err
			}
		}
	}
}

func newDIE(e *dwarf.Entry) *die {
	number := func(a dwarf.Attr, without int64) int64 {
		if v, ok := e.Val(a).(int64); ok {
			return v
		}
		return without
	}
	d := &die{tag: e.Tag, size: number(dwarf.AttrByteSize, -1), offset: number(dwarf.AttrDataMemberLoc, 0),
		encoding: number(dwarf.AttrEncoding, 0), value: number(dwarf.AttrConstValue, 0)}
	d.name, _ = e.Val(dwarf.AttrName).(string)
	d.of, _ = e.Val(dwarf.AttrType).(dwarf.Offset)
	d.isDeclared, _ = e.Val(dwarf.AttrDeclaration).(bool)
	d.isBitField = e.AttrField(dwarf.AttrBitSize) != nil
	d.elements = number(dwarf.AttrCount, number(dwarf.AttrUpperBound, -1)+1)
	return d
}

// strip is a type without typedefs and qualifiers, nil for void.
func (o *object) strip(d *die) *die {
	for d != nil {
		switch d.tag {
		case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType:
			d = o.dies[d.of]
		default:
			return d
		}
	}
	return nil
}

// nameOf is the outermost name of a type: that of a typedef, or the tag of a struct or union.
func (o *object) nameOf(d *die) string {
	for d != nil && d.name == "" && d.of != 0 {
		d = o.dies[d.of]
	}
	if d == nil {
		return ""
	}
	return d.name
}

// sizeOf is the size of a type in bytes.
func (o *object) sizeOf(d *die) (int64, error) {
	d = o.strip(d)
	switch {
	case d == nil:
		return 0, errors.New("a type without a size")
	case d.size >= 0:
		return d.size, nil
	case d.tag == dwarf.TagPointerType:
		return int64(o.pointerSize), nil
	case d.tag == dwarf.TagArrayType:
		size, err := o.sizeOf(o.dies[d.of])
		for _, dimension := range d.children {
			size *= dimension.elements
		}
		return size, err
	}
	return 0, fmt.Errorf("a %s without a size", d.tag)
}

// kindOf is the kind of a type, "" for what a table does not have.
func (o *object) kindOf(d *die) layout.Kind {
	d = o.strip(d)
	if d == nil {
		return ""
	}
	switch d.tag {
	case dwarf.TagPointerType:
		return layout.KindPointer
	case dwarf.TagStructType, dwarf.TagUnionType:
		return layout.KindStruct
	case dwarf.TagArrayType:
		return layout.KindArray
	case dwarf.TagEnumerationType:
		for _, e := range d.children {
			if e.value < 0 {
				return layout.KindSigned
			}
		}
		return layout.KindUnsigned
	case dwarf.TagBaseType:
		switch d.encoding {
		case encodingSigned, encodingSignedChar:
			return layout.KindSigned
		case encodingFloat:
			return layout.KindFloat
		}
		return layout.KindUnsigned
	}
	return ""
}

// types are the layouts that answer the queries, with those of the members on the way. What the
// file does not define is absent.
func (o *object) types(queries []layout.TypeQuery) (map[string]layout.Type, error) {
	out := map[string]layout.Type{}
	for _, q := range queries {
		d := o.named[q.Name]
		if d == nil {
			continue
		}
		if err := o.list(out, q.Name, d); err != nil {
			return nil, err
		}
		for _, path := range q.Fields {
			if err := o.member(out, q.Name, d, path); err != nil {
				return nil, fmt.Errorf("%s.%s: %w", q.Name, path, err)
			}
		}
	}
	o.link(out)
	return out, nil
}

// link names the types of members that are whole types which the table lists.
func (o *object) link(out map[string]layout.Type) {
	for name, typ := range out {
		for field, f := range typ.Fields {
			if f.Kind != layout.KindStruct || f.Type != "" {
				continue
			}
			m, _ := o.find(o.listed[name], field)
			if of := o.nameOf(o.dies[m.of]); out[of].Size != 0 {
				f.Type = of
				typ.Fields[field] = f
			}
		}
	}
}

// list adds a type to those of a table.
func (o *object) list(out map[string]layout.Type, name string, d *die) error {
	size, err := o.sizeOf(d)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if known, ok := out[name]; !ok {
		o.listed[name] = d
		out[name] = layout.Type{Size: int(size), Fields: map[string]layout.Member{}}
	} else if known.Size != int(size) {
		return fmt.Errorf("two types are called %s, one of %d and one of %d bytes", name, known.Size, size)
	}
	return nil
}

// member adds the member at a path to the listed type that it starts from, and those on the way
// to theirs. It adds nothing if there is none.
func (o *object) member(out map[string]layout.Type, name string, d *die, path string) error {
	if !o.has(d, path) {
		return nil
	}
	head, rest, isNested := strings.Cut(path, ".")
	m, offset := o.find(d, head)
	typ := o.dies[m.of]
	size, err := o.sizeOf(typ)
	if err != nil {
		return err
	}
	f := out[name].Fields[head]
	f.Field = layout.Field{Offset: int(offset), Size: int(size), Kind: o.kindOf(typ)}
	if isNested {
		f.Type = cmp.Or(o.nameOf(typ), name+"."+head)
	}
	out[name].Fields[head] = f
	if !isNested {
		return nil
	}
	if err := o.list(out, f.Type, typ); err != nil {
		return err
	}
	return o.member(out, f.Type, typ, rest)
}

// has says whether a type has the member at a path, and it can be in a table.
func (o *object) has(d *die, path string) bool {
	head, rest, isNested := strings.Cut(path, ".")
	m, _ := o.find(d, head)
	if m == nil || m.isBitField {
		return false
	}
	if isNested {
		return o.has(o.dies[m.of], rest)
	}
	return o.kindOf(o.dies[m.of]) != ""
}

// find returns the member of a struct or union, and its offset. Those of nameless members are the
// struct's own.
func (o *object) find(d *die, name string) (*die, int64) {
	d = o.strip(d)
	if d == nil || d.tag != dwarf.TagStructType && d.tag != dwarf.TagUnionType {
		return nil, 0
	}
	for _, m := range d.children {
		if m.tag != dwarf.TagMember {
			continue
		}
		if m.name == name {
			return m, m.offset
		}
		if m.name == "" {
			if inner, offset := o.find(o.dies[m.of], name); inner != nil {
				return inner, m.offset + offset
			}
		}
	}
	return nil, 0
}
