package inferior

import (
	"encoding/binary"
	"reflect"
	"unsafe"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// step copies one member into one Go field. All that reflection can find out
// is found out when a type is bound: a process can have a hundred thousand
// objects to decode.
type step struct {
	path   string // of the member
	field  layout.Field
	to     uintptr // offset of the Go field in its struct
	width  uintptr // of the Go field in bytes
	how    how
	signed bool // the member's sign goes into the wider Go field
}

// how a member becomes a Go value.
type how uint8

const (
	asInteger how = iota
	asBool
	asAddress
	asText
)

// newStep prepares the copying of a member that fits the Go field.
func newStep(t reflect.Type, m member, path string, f layout.Field) step {
	st := step{path: path, field: f, width: m.typ.Size()}
	for _, i := range m.index {
		field := t.Field(i)
		st.to += field.Offset
		t = field.Type
	}
	switch {
	case m.typ.Implements(typeEmbedded):
		st.how = asAddress
	case m.typ == typeText:
		st.how = asText
	case m.typ.Kind() == reflect.Bool:
		st.how = asBool
	default:
		st.signed = f.Kind == layout.KindSigned && m.typ.Kind() >= reflect.Int && m.typ.Kind() <= reflect.Int64
	}
	return st
}

// decode sets the fields of the Go struct that out points to from the bytes b of the C object at an address.
func decode(s *binding, order binary.ByteOrder, at Addr, b []byte, out unsafe.Pointer) {
	for i := range s.steps {
		st := &s.steps[i]
		// This is within the Go struct: st.to is the offset of one of its fields.
		to := unsafe.Add(out, st.to)
		from := b[st.field.Offset:][:st.field.Size]
		switch {
		case st.how == asAddress:
			*(*Addr)(to) = at + Addr(st.field.Offset)
		case st.how == asText && st.field.Kind == layout.KindArray && st.field.Size == 0: // behind the object
			*(*Text)(to) = Text{at: at + Addr(st.field.Offset)}
		case st.how == asText && st.field.Kind == layout.KindArray:
			*(*Text)(to) = Text{inline: from}
		case st.how == asText:
			*(*Text)(to) = Text{at: Addr(uintOf(order, from))}
		case st.how == asBool:
			*(*bool)(to) = uintOf(order, from) != 0
		default:
			v := uintOf(order, from)
			if st.signed {
				v = uint64(signExtend(v, len(from)))
			}
			put(to, st.width, v)
		}
	}
}

// put writes an integer of the Go field's width.
func put(to unsafe.Pointer, width uintptr, v uint64) {
	switch width {
	case 1:
		*(*uint8)(to) = uint8(v)
	case 2:
		*(*uint16)(to) = uint16(v)
	case 4:
		*(*uint32)(to) = uint32(v)
	default:
		*(*uint64)(to) = v
	}
}
