package main

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// die is a type or a member in an object file's DWARF.
type die struct {
	tag        dwarf.Tag
	name       string
	size       int64        // bytes, -1 if it is not said
	of         dwarf.Offset // the type that it is of, or points to
	offset     int64        // of a member, bytes
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
	// added are the types that [object.add] has added, by the name that it gave them.
	added map[string]*die
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
	o := &object{dies: map[dwarf.Offset]*die{}, named: map[string]*die{}, added: map[string]*die{}, pointerSize: 8, byteOrder: "little"}
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

// types are the layouts of what is wanted, with those of the members on the way. What the file
// does not define is absent.
func (o *object) types(scope layout.Scope, wants []layout.Want) (map[string]layout.Type, error) {
	all := map[string]layout.Type{}
	for _, w := range wants {
		if d := o.named[w.Name]; d != nil {
			if err := o.add(all, w.Name, d); err != nil {
				return nil, fmt.Errorf("%s: %w", w.Name, err)
			}
		}
	}
	return keep(all, scope, wants), nil
}

// add adds a type, and those of its members, unless it is there.
func (o *object) add(types map[string]layout.Type, name string, d *die) error {
	size, err := o.sizeOf(d)
	if err != nil {
		return err
	}
	d = o.strip(d)
	if known := o.added[name]; known == d {
		return nil
	} else if known != nil {
		return fmt.Errorf("two types are called %s", name)
	}
	o.added[name] = d
	types[name] = layout.Type{Size: int(size), Fields: map[string]layout.Member{}}
	return o.addMembers(types, name, d, 0)
}

// addMembers adds to a type the members of a struct or union that stands in it at an offset. Those
// of nameless members are the type's own. Bit fields are left out.
func (o *object) addMembers(types map[string]layout.Type, name string, d *die, offset int64) error {
	if d.tag != dwarf.TagStructType && d.tag != dwarf.TagUnionType {
		return nil
	}
	for _, m := range d.children {
		if m.tag != dwarf.TagMember || m.isBitField {
			continue
		}
		typ, at := o.dies[m.of], offset+m.offset
		kind := o.kindOf(typ)
		if m.name == "" && kind == layout.KindStruct {
			if err := o.addMembers(types, name, o.strip(typ), at); err != nil {
				return err
			}
		}
		if m.name == "" || kind == "" {
			continue
		}
		size, err := o.sizeOf(typ)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, m.name, err)
		}
		f := layout.Member{Field: layout.Field{Offset: int(at), Size: int(size), Kind: kind}}
		if kind == layout.KindStruct {
			f.Type = cmp.Or(o.nameOf(typ), name+"."+m.name)
			if err := o.add(types, f.Type, typ); err != nil {
				return err
			}
		}
		types[name].Fields[m.name] = f
	}
	return nil
}
